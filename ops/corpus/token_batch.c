/* Packs a cluster's members; see token_batch.h. */
#include "ops/corpus/token_batch.h"

#include "base/buf.h"

enum err_code token_batch_make(Eqloom__TokenBatch *out, struct arena *a, const struct encoder *c,
                               const Eqloom__Cluster *cluster, uint32_t max_members, struct err *e)
{
    size_t n = cluster->n_members < max_members ? cluster->n_members : max_members;
    struct buf tokens = {0};
    enum err_code code = OK;
    eqloom__token_batch__init(out);
    out->offset = arena_array(a, uint32_t, n + 1);
    out->cluster = arena_array(a, uint32_t, n + 1);
    out->text = arena_array(a, char *, n + 1);
    out->n_offset = n + 1;
    out->n_cluster = out->n_text = n;
    for (size_t i = 0; i < n && !code; i++) {
        uint32_t *ids;
        size_t n_ids;
        out->text[i] = cluster->members[i]->prefix;
        if ((code = err_up(e, encode_prefix(&ids, &n_ids, a, c, out->text[i], e))))
            break;
        buf_add(&tokens, ids, n_ids * sizeof *ids);
        out->offset[i + 1] = (uint32_t)(tokens.len / sizeof *ids);
    }
    out->n_tokens = tokens.len / sizeof *out->tokens;
    out->tokens = arena_memdup(a, tokens.data ? tokens.data : "", tokens.len);
    buf_free(&tokens);
    return code;
}
