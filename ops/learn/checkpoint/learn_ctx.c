/* See learn_ctx.h. */
#include "ops/learn/checkpoint/learn_ctx.h"

#include "base/rng.h"
#include "embedding.pb-c.h"

#include <stdio.h>
#include <string.h>

static enum err_code put(struct digest *id, void *arg, struct span data, struct err *e)
{
    return err_up(e, op_emit_chunk(id, arg, data, e));
}

static enum err_code get(struct span *out, void *arg, const uint8_t id[32], struct arena *a,
                         struct err *e)
{
    return err_up(e, op_get_chunk(out, arg, id, a, e));
}

struct chunk_io learn_chunks(struct op_ctx *ctx)
{
    return (struct chunk_io){ctx, put, get};
}

bool learn_next(void *out, struct learn_elements *x, enum err_code *code, struct err *e)
{
    bool more = !*code && x->next < op_count(x->ctx, x->role);
    arena_reset(&x->arena);
    if (more && op_cancelled(x->ctx))
        *code = err_fail(e, ERR_CANCELLED, "cancelled");
    else if (more)
        *code = err_up(e, op_get_in(out, x->ctx, x->role, x->next++, &x->arena, e));
    if (more && !*code)
        return true;
    arena_free(&x->arena);
    return false;
}

unsigned learn_choice(const struct op_ctx *ctx, const char *param, const char *names)
{
    const char *value = op_string(ctx, param);
    size_t n = strlen(value);
    for (unsigned i = 0;; i++) {
        if (strncmp(names, value, n) == 0 && (names[n] == '|' || !names[n]))
            return i;
        names += strcspn(names, "|") + 1; /* the engine has checked that the value is among them */
    }
}

uint64_t learn_seed(const struct op_ctx *ctx, unsigned stream)
{
    return rng_at((uint64_t)op_int(ctx, "seed"), stream, 0);
}

enum err_code learn_check_device(struct op_ctx *ctx, struct err *e)
{
    bool cpu;
    struct gpu_card card;
    return err_up(e, gpu_find(&cpu, &card, op_string(ctx, "device"), e));
}

uint32_t learn_cards(struct op_ctx *ctx)
{
    int index[GPU_CARDS];
    size_t n = 0;
    uint32_t cards = 0;
    if (gpu_find_all(index, &n, op_string(ctx, "device"), NULL))
        return 0; /* the op's check reports it */
    for (size_t i = 0; i < n && index[i] >= 0 && index[i] < 32; i++)
        cards |= 1u << index[i];
    return cards;
}

enum err_code learn_open_device(struct gpu_device **out, struct op_ctx *ctx, struct err *e)
{
    char name[16];
    snprintf(name, sizeof name, "cuda:%d", op_card(ctx));
    return err_up(
        e, gpu_open(out, op_card(ctx) < 0 ? op_string(ctx, "device") : name, op_pool(ctx), e));
}

/* If there is no such device, the op's check fails, before or when it runs. */
static enum gpu_precision find(bool *is_card, struct gpu_card *card, const struct op_ctx *ctx)
{
    const char *text = op_string(ctx, "precision");
    bool cpu = true, bf16 = strcmp(text, "bf16") == 0;
    *is_card = !gpu_find(&cpu, card, op_string(ctx, "device"), NULL) && !cpu;
    if (strcmp(text, "f32") == 0 || !(*is_card ? card->bf16 : bf16 && gpu_cpu_bf16()))
        return GPU_F32;
    return bf16 ? GPU_BF16 : GPU_TF32;
}

enum gpu_precision learn_precision(const struct op_ctx *ctx)
{
    bool is_card;
    struct gpu_card card;
    return find(&is_card, &card, ctx);
}

const char *learn_units_of(bool *is_card, struct op_ctx *ctx)
{
    static const char *const names[] = {"f32", "tf32", "bf16"};
    struct gpu_card card;
    enum gpu_precision p = find(is_card, &card, ctx);
    if (*is_card)
        return arena_printf(op_arena(ctx), "%s, %s", card.class_name, names[p]);
    return p == GPU_BF16 ? gpu_cpu_bf16() : NULL;
}

const char *learn_units(struct op_ctx *ctx)
{
    bool is_card;
    return learn_units_of(&is_card, ctx);
}

const char *learn_card_units(struct op_ctx *ctx)
{
    bool is_card;
    const char *units = learn_units_of(&is_card, ctx);
    return is_card ? units : NULL;
}

enum err_code learn_emit_vectors(struct op_ctx *ctx, const float *vectors, size_t count, size_t dim,
                                 const Eqloom__TokenBatch *of, struct err *e)
{
    Eqloom__EmbeddingBatch out = EQLOOM__EMBEDDING_BATCH__INIT;
    out.dim = (uint32_t)dim;
    out.count = (uint32_t)count;
    out.values = (ProtobufCBinaryData){count * dim * sizeof *vectors, (uint8_t *)vectors};
    if (of) {
        out.text = of->text;
        out.n_text = of->n_text;
        out.source_id = of->source_id;
        out.class_key = of->class_key;
        out.language = of->language;
    }
    return err_up(e, op_emit(NULL, ctx, "embeddings", &out.base, e));
}

struct digest learn_vocabulary(const Eqloom__Checkpoint *c)
{
    struct digest id = {0};
    if (c->vocabulary_id.len == DIGEST_SIZE)
        memcpy(id.bytes, c->vocabulary_id.data, DIGEST_SIZE);
    return id;
}

bool learn_vocabulary_differs(const ProtobufCBinaryData *named, struct digest vocabulary)
{
    return named->len && !digest_is_zero(&vocabulary) &&
           !span_equal(span_of(named->data, named->len), span_of(vocabulary.bytes, DIGEST_SIZE));
}
