/* .npy files; see npy.h. The header always takes 128 bytes, so that it can be completed once the
 * number of rows is known. */
#include "engine/export/npy.h"

#include "engine/export/reflect.h"

#include <inttypes.h>
#include <string.h>

enum { HEADER = 128, PREAMBLE = 10 };

static void write_header(const struct npy *n)
{
    char header[HEADER + 1];
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = HEADER - PREAMBLE;
    header[9] = 0;
    int len =
        snprintf(header + PREAMBLE, sizeof header - PREAMBLE,
                 "{'descr': '<f4', 'fortran_order': False, 'shape': (%" PRIu64 ", %" PRIu32 "), }",
                 n->rows, n->dim);
    memset(header + PREAMBLE + len, ' ', (size_t)(HEADER - PREAMBLE - len));
    header[HEADER - 1] = '\n';
    fwrite(header, 1, HEADER, n->matrix);
}

void npy_begin(struct npy *out, FILE *matrix, FILE *index)
{
    *out = (struct npy){.matrix = matrix, .index = index};
    write_header(out);
}

enum err_code npy_add(struct npy *n, const Eqloom__EmbeddingBatch *batch, struct err *e)
{
    if (!n->rows)
        n->dim = batch->dim;
    if (batch->dim != n->dim && batch->count)
        return err_fail(e, ERR_CORRUPT,
                        "the collection has embeddings of %u and of %u "
                        "dimensions",
                        n->dim, batch->dim);
    if (batch->values.len != (uint64_t)batch->dim * batch->count * 4 ||
        (batch->n_text && batch->n_text != batch->count))
        return err_fail(e, ERR_CORRUPT, "an embedding batch is inconsistent");
    fwrite(batch->values.data, 1, batch->values.len, n->matrix);
    struct arena a = {0};
    char *source = reflect_hex(&a, batch->source_id.data, batch->source_id.len);
    for (uint32_t i = 0; i < batch->count; i++)
        reflect_line(n->index, "row:u batch:u source:s text:s", n->rows + i, n->batches, source,
                     batch->n_text ? batch->text[i] : "");
    arena_free(&a);
    n->rows += batch->count;
    n->batches++;
    return OK;
}

enum err_code npy_end(struct npy *n, struct err *e)
{
    if (fseeko(n->matrix, 0, SEEK_SET))
        return err_fail(e, ERR_IO, "cannot go back to the beginning of the matrix");
    write_header(n);
    return OK;
}
