/* The op `import-vectors`: reads vectors that other programs computed, in one of two forms:
 *
 *   NAME.npy, NAME.npy.jsonl   a matrix of f32, and {"source": "c1", "text": "sin x"} for each row,
 *                              as `eqloom export` writes them
 *   NAME.jsonl                 {"source": "c1", "text": "sin x", "vector": [0.1, -2]}
 *
 * Consecutive lines with the same source form a batch; expressions with the same source are
 * equivalent. */
#include "base/io/text_file.h"
#include "base/io/text_lines.h"
#include "base/io/unpack.h"
#include "base/text/utf8.h"
#include "engine/op.h"

#include "embedding.pb-c.h"
#include "ops/eval/npy_read.h"
#include "ops/expr/own/operator_files.h"
#include "ops/expr/own/own.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const suffixes[] = {".npy", ".jsonl", NULL};

struct reader {
    struct op_ctx *ctx;
    const struct source_text *text, *line; /* the lines, and the one that is read */
    struct npy_matrix matrix;              /* without values: the lines contain the vectors */
    uint64_t row;
    Eqloom__EmbeddingBatch batch; /* being filled */
    float *values;
    size_t cap_values, cap_texts;
    struct digest source;
    const struct language *lang;
};

/* The language of the record, with only the operators that its texts (in prefix tokens) use. */
static char *language_used(struct reader *r)
{
    bool *used = arena_array(op_arena(r->ctx), bool, r->lang->n_ops);
    for (size_t i = 0; i < r->batch.n_text && r->lang->n_ops > X_DECLARED; i++)
        for (const char *at = r->batch.text[i]; *at; at += strspn(at, " ")) {
            size_t n = strcspn(at, " ");
            int op = lang_find_token(r->lang, at, n);
            if (op >= 0)
                used[op] = true;
            at += n;
        }
    return language_text(op_arena(r->ctx), r->lang, used);
}

static enum err_code emit(struct reader *r, struct err *e)
{
    Eqloom__EmbeddingBatch *b = &r->batch;
    if (!b->count)
        return OK;
    b->language = language_used(r);
    b->values = (ProtobufCBinaryData){(size_t)b->count * b->dim * 4, (uint8_t *)r->values};
    b->source_id = (ProtobufCBinaryData){DIGEST_SIZE, r->source.bytes};
    enum err_code code = err_up(e, op_emit(NULL, r->ctx, "embeddings", &b->base, e));
    b->count = 0;
    b->n_text = 0;
    return code;
}

static enum err_code put(struct reader *r, float *to, const json_t *vector, struct err *e)
{
    uint32_t dim = r->batch.dim;
    if (r->matrix.values)
        memcpy(to, r->matrix.values + r->row * dim, dim * sizeof *to);
    for (uint32_t d = 0; d < dim; d++) {
        if (!r->matrix.values)
            to[d] = (float)json_number_value(json_array_get(vector, d));
        if (!isfinite(to[d]) || (!r->matrix.values && !json_is_number(json_array_get(vector, d))))
            return err_fail_at(e, r->line, 0, "value %u of vector %llu is not a finite number",
                               d + 1, (unsigned long long)r->row + 1);
    }
    return OK;
}

static enum err_code read_line(struct reader *r, const json_t *line, struct err *e)
{
    Eqloom__EmbeddingBatch *b = &r->batch;
    enum err_code code = OK;
    const json_t *vector = json_object_get(line, "vector");
    const char *source = json_string_value(json_object_get(line, "source"));
    const char *text = json_string_value(json_object_get(line, "text"));
    if (!source || (!r->matrix.values && !json_array_size(vector)))
        return err_fail_at(e, r->line, 0, "expected {\"source\": \"c1\", \"text\": \"sin x\"%s}",
                           r->matrix.values ? "" : ", \"vector\": [0.1, -2]");
    if (r->matrix.values && r->row == r->matrix.rows)
        return err_fail_at(e, r->line, 0, "the matrix has only %llu rows",
                           (unsigned long long)r->matrix.rows);
    if (!b->dim)
        b->dim = (uint32_t)json_array_size(vector);
    if (!r->matrix.values && json_array_size(vector) != b->dim)
        return err_fail_at(e, r->line, 0, "a vector of %zu numbers among vectors of %u",
                           json_array_size(vector), b->dim);
    struct digest id = digest_of(&(struct span){(const uint8_t *)source, strlen(source)}, 1);
    if (!digest_equal(&id, &r->source) && (code = emit(r, e)))
        return err_up(e, code);
    r->source = id;
    struct arena *a = op_arena(r->ctx);
    r->values = arena_grow(a, r->values, b->count, &r->cap_values, b->dim * sizeof *r->values);
    b->text = arena_grow(a, b->text, b->n_text, &r->cap_texts, sizeof *b->text);
    b->text[b->n_text++] = arena_strdup(a, text ? text : "");
    code = err_up(e, put(r, r->values + (size_t)b->count * b->dim, vector, e));
    b->count++;
    r->row++;
    return code;
}

static enum err_code read_lines(struct reader *r, struct err *e)
{
    struct text_lines lines = text_lines_of(r->text);
    struct text_line line;
    enum err_code code;
    while (!(code = text_lines_next(&line, &lines, e))) {
        if (!line.text.len)
            continue;
        json_error_t why;
        json_t *value = json_loadb(line.text.text, line.text.len, JSON_REJECT_DUPLICATES, &why);
        r->line = &line.text;
        if (!value)
            code = err_fail_at(e, &line.text, (size_t)why.position, "not JSON: %s", why.text);
        else
            code = read_line(r, value, e);
        json_decref(value);
        if (code)
            return err_up(e, text_line_up(code, &line, e));
    }
    if (code == ERR_NOTFOUND)
        code = OK;
    if (!code && r->matrix.values && r->row != r->matrix.rows)
        code = err_fail(e, ERR_INPUT, "%s: %llu lines for %llu rows", r->text->name,
                        (unsigned long long)r->row, (unsigned long long)r->matrix.rows);
    return code ? code : err_up(e, emit(r, e));
}

/* NAME.npy.jsonl, perhaps compressed */
static const struct op_file *index_of(const struct op_file *files, size_t n, const char *npy)
{
    static const char ending[] = ".jsonl";
    size_t stem = strlen(npy), plain = stem + sizeof ending - 1;
    for (size_t i = 0; i < n; i++) {
        const char *name = files[i].text.name;
        if (unpack_name(name) == plain && !memcmp(name, npy, stem) &&
            !memcmp(name + stem, ending, sizeof ending - 1))
            return &files[i];
    }
    return NULL;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    const struct op_file *files;
    size_t n = op_files(&files, ctx);
    const struct language *lang;
    enum err_code code = err_up(e, lang_named(&lang, op_string(ctx, "language"), e));
    if (!code)
        code = err_up(e, operator_files(&lang, &files, &n, op_arena(ctx), e));
    if (code)
        return code;
    for (size_t i = 0; !code && i < n; i++) {
        const char *name = files[i].text.name;
        struct reader r = {.ctx = ctx, .lang = lang};
        const struct source_text *lines = &files[i].text;
        struct source_text text;
        eqloom__embedding_batch__init(&r.batch);
        if (text_ends_in(name, ".npy")) {
            const struct op_file *index = index_of(files, n, name);
            if (!index)
                return err_fail(e, ERR_INPUT,
                                "%s: the file %s.jsonl, which describes its rows, is missing", name,
                                name);
            lines = &index->text;
            code = err_up(e, npy_read(&r.matrix, op_arena(ctx), &files[i].text, e));
            r.batch.dim = r.matrix.dim;
        } else if (text_ends_in(arena_strndup(op_arena(ctx), name, unpack_name(name)),
                                ".npy.jsonl")) {
            continue; /* read together with its matrix */
        }
        if (!code)
            code = text_file_decode(&text, op_arena(ctx), lines, TEXT_FILE_MAX, e);
        if (!code)
            code = utf8_check(&text, e);
        r.text = &text;
        if (!code)
            code = read_lines(&r, e);
    }
    return err_up(e, code);
}

const struct op op_import_vectors = {
    .name = "import-vectors",
    .version = 5,
    .node = OP_SOURCE,
    .doc = "Reads vectors that another program computed: a .npy matrix (float32, by rows) with its "
           ".npy.jsonl, as `eqloom export` writes them, or a .jsonl with lines `{\"source\": "
           "\"c1\", \"text\": \"sin x\", \"vector\": [0.1, -2]}`, text in prefix tokens. "
           "Consecutive lines with the same source are equivalent.",
    .params = OP_PARAMS({"language", OP_ENUM, "calculus", "calculus|boolean|polynomial", 0, 0,
                         "The language of "
                         "the texts."}),
    .outputs = OP_PORTS({"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION, false,
                         "The vectors, one batch per source."}),
    .folder_suffixes = suffixes,
    .run = run,
};
