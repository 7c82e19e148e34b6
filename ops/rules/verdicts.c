/* See verdicts.h. A refuted rule fails in `certify` unless the job allows unsound rules, and what
 * fails is not kept; so verdicts are looked up and kept as those of an op that allows them where
 * the rule is refuted, and of one with its default everywhere else: a job with either finds them.
 */
#include "ops/rules/verdicts.h"

#include "base/os.h"
#include "base/pool.h"
#include "engine/op.h"
#include "ops/expr/ball/ball.h"

#include <inttypes.h>
#include <string.h>

extern const struct op op_certify;

enum { BLOCK = 16, N_PARAMS = 3 };

#define VERDICTS_REF "check-rules/verdicts"

static const char *const allow_unsound[] = {"false", "true"};

/* Results by rule, so that they do not depend on which thread made them. */
struct checking {
    const Eqloom__Rule *messages;
    const uint32_t *open; /* the rules to check */
    size_t n_open;
    const struct rule_check_options *options;
    const struct tool_value (*params)[N_PARAMS]; /* by allow_unsound */
    struct tool_result *results;                 /* by rule */
    struct arena *arenas;                        /* by worker; outputs live there */
    enum err_code *codes;                        /* by block */
    struct err *errors;
};

static void fill_params(struct tool_value (*out)[N_PARAMS], struct arena *a,
                        const struct rule_check_options *options)
{
    for (int u = 0; u < 2; u++) {
        out[u][0] = (struct tool_value){"points", arena_printf(a, "%" PRIu32, options->points)};
        out[u][1] = (struct tool_value){"seed", arena_printf(a, "%" PRIu64, options->seed)};
        out[u][2] = (struct tool_value){"allow_unsound", allow_unsound[u]};
    }
}

static struct tool_result question(const Eqloom__Rule *message, const struct tool_value *params)
{
    return (struct tool_result){
        .op = &op_certify, .params = params, .n_params = N_PARAMS, .input = &message->base};
}

static const Eqloom__Certificate *certificate_of(const struct tool_result *r)
{
    const Eqloom__Rule *rule = (const Eqloom__Rule *)r->output;
    return rule->certificate;
}

/* Without an answer the result stays unknown. */
static enum err_code recall(struct tool_result *out, const struct tool_args *args,
                            const struct tool_value (*params)[N_PARAMS],
                            const Eqloom__Rule *message, struct err *e)
{
    enum err_code code = OK;
    for (int u = 0; u < 2 && !code && !out->known; u++) {
        *out = question(message, params[u]);
        code = tool_recall(out, args, args->arena, e);
        out->known = out->known && certificate_of(out);
    }
    return err_up(e, code);
}

static enum err_code check_one(struct checking *c, uint32_t i, struct arena *a, struct err *e)
{
    Eqloom__Certificate *certificate = arena_new(a, Eqloom__Certificate);
    Eqloom__Rule *output = arena_memdup(a, &c->messages[i], sizeof *output);
    uint64_t start = os_monotonic_ns();
    enum err_code code = rule_check_message(certificate, a, output, c->options, e);
    if (code)
        return err_up(e, code);
    certificate->unsound = certificate->verdict == EQLOOM__VERDICT__REFUTED;
    output->certificate = certificate;
    c->results[i] = question(&c->messages[i], c->params[certificate->unsound]);
    c->results[i].output = &output->base;
    c->results[i].cost_ns = os_monotonic_ns() - start;
    return OK;
}

static void check_block(void *arg, size_t block, unsigned worker)
{
    struct checking *c = arg;
    size_t end = (block + 1) * BLOCK < c->n_open ? (block + 1) * BLOCK : c->n_open;
    for (size_t k = block * BLOCK; k < end && !c->codes[block]; k++)
        c->codes[block] = check_one(c, c->open[k], &c->arenas[worker], &c->errors[block]);
    ball_thread_cleanup();
}

static enum err_code check_open(struct checking *c, struct pool *pool, struct arena *a,
                                struct err *e)
{
    size_t n_blocks = (c->n_open + BLOCK - 1) / BLOCK;
    c->codes = arena_array(a, enum err_code, n_blocks);
    c->errors = arena_array(a, struct err, n_blocks);
    pool_for(pool, n_blocks, check_block, c);
    for (size_t b = 0; b < n_blocks; b++)
        if (c->codes[b]) {
            *e = c->errors[b];
            return err_up(e, c->codes[b]);
        }
    return OK;
}

/* What a verdict holds outlives the workers' arenas. */
static const Eqloom__Certificate *copy_certificate(struct arena *a, const Eqloom__Certificate *from)
{
    Eqloom__Certificate *c = arena_memdup(a, from, sizeof *from);
    c->witness = arena_strdup(a, from->witness);
    c->guard = arena_strdup(a, from->guard);
    c->remark = arena_strdup(a, from->remark);
    return c;
}

enum err_code verdicts_find(struct verdicts *out, const struct tool_args *args,
                            const Eqloom__Rule *messages, size_t n,
                            const struct rule_check_options *options, bool fresh, struct err *e)
{
    struct arena *a = args->arena;
    struct tool_value params[2][N_PARAMS];
    uint32_t *open = arena_array(a, uint32_t, n);
    struct checking c = {.messages = messages,
                         .open = open,
                         .options = options,
                         .params = params,
                         .results = arena_array(a, struct tool_result, n)};
    fill_params(params, a, options);
    for (uint32_t i = 0; i < n; i++) {
        if (!fresh && recall(&c.results[i], args, c.params, &messages[i], e))
            return e->code;
        if (!c.results[i].known)
            open[c.n_open++] = i;
    }
    struct pool *pool = pool_new(os_cpus());
    unsigned workers = pool_threads(pool);
    c.arenas = arena_array(a, struct arena, workers);
    enum err_code code = check_open(&c, pool, a, e);
    pool_free(pool);
    *out = (struct verdicts){.certificates = arena_array(a, const Eqloom__Certificate *, n),
                             .known = arena_array(a, bool, n),
                             .n_known = n - c.n_open};
    for (size_t i = 0; i < n && !code; i++) {
        out->certificates[i] = copy_certificate(a, certificate_of(&c.results[i]));
        out->known[i] = c.results[i].known;
    }
    struct err keeping = {0};
    if (!code && tool_keep(args, VERDICTS_REF, c.results, n, &keeping))
        out->not_kept = arena_strdup(a, keeping.message);
    for (unsigned w = 0; w < workers; w++)
        arena_free(&c.arenas[w]);
    return err_up(e, code);
}
