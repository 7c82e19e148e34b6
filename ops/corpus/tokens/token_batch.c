/* Packs expressions; see token_batch.h. */
#include "ops/corpus/tokens/token_batch.h"

#include "base/buf.h"

#include <string.h>

enum err_code token_batch_pack(Eqloom__TokenBatch *out, struct arena *a, const struct encoder *c,
                               char *const *texts, size_t n, struct err *e)
{
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
        out->text[i] = texts[i];
        out->cluster[i] = (uint32_t)i;
        if ((code = err_up(e, encode_prefix(&ids, &n_ids, a, c, texts[i], e))))
            break;
        buf_add(&tokens, ids, n_ids * sizeof *ids);
        out->offset[i + 1] = (uint32_t)(tokens.len / sizeof *ids);
    }
    out->n_tokens = tokens.len / sizeof *out->tokens;
    out->tokens = arena_memdup(a, tokens.data ? tokens.data : "", tokens.len);
    buf_free(&tokens);
    return code;
}

enum err_code token_batch_make(Eqloom__TokenBatch *out, struct arena *a, const struct encoder *c,
                               const Eqloom__Cluster *cluster, uint32_t max_members, struct err *e)
{
    size_t n = cluster->n_members < max_members ? cluster->n_members : max_members;
    char **texts = arena_array(a, char *, n + 1);
    for (size_t i = 0; i < n; i++)
        texts[i] = cluster->members[i]->prefix;
    enum err_code code = err_up(e, token_batch_pack(out, a, c, texts, n, e));
    if (!code)
        memset(out->cluster, 0, n * sizeof *out->cluster);
    return code;
}
