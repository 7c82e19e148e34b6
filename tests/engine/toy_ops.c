/* The ops of the engine's tests, but for chains and `rank`; see graph_build.h.
 *
 *   lines    source -> exprs: an Expr for each line that is no comment; may be parted at any
 *   names    source -> names: a Rule for each line "group/name text"
 *   upper    map over exprs (side input names, optional): upper case, `repeat` times; fails on
 *            elements that contain "bad"
 *   weigh    task: of exprs, those of at most `most` letters passed on, and their letters in all;
 *            by summaries
 *   first    map over exprs: the first letter of each
 *   glance   likewise, with a number drawn for it; says that it reads no more
 *   alone    map over exprs, parallel
 *   card     task, parallel: on one of the cards 0 and 2; waits until as many began as in a pair
 *   shout    map over exprs, several at once: with "!"; fails on "bad", "shy" only among several
 *   join     task: all of exprs in one Expr
 *   count    task, parallel: an Expr that is not a function of its input when ops_drift moves
 *   drifts   source -> exprs: likewise
 *   wait     task: until the run is cancelled */
#include "graph_build.h"

#include "base/buf.h"
#include "schemas/checkpoint.pb-c.h"
#include "schemas/expr.pb-c.h"
#include "schemas/rule.pb-c.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

atomic_int ops_ran, ops_together, ops_lines, ops_summarized, ops_asked, ops_prepared, ops_beside,
    ops_on_cards;
atomic_int ops_drift, ops_until_signal;
volatile int ops_signals;
static atomic_int now_running;

enum err_code toy_emit(struct op_ctx *ctx, const char *role, const char *text, struct err *e)
{
    Eqloom__Expr m = EQLOOM__EXPR__INIT;
    m.prefix = (char *)text;
    return op_emit(NULL, ctx, role, &m.base, e);
}

static enum err_code lines_run(struct op_ctx *ctx, void *state, struct err *e)
{
    enum err_code code;
    const struct op_file *files;
    size_t n = op_files(&files, ctx);
    for (size_t i = 0; i < n; i++) {
        const char *at = files[i].text.text, *end = at + files[i].text.len, *next;
        for (; at < end; at = next) {
            const char *newline = memchr(at, '\n', (size_t)(end - at));
            size_t len = (size_t)((newline ? newline : end) - at);
            next = at + len + 1;
            if (len && at[len - 1] == '\r')
                len--;
            atomic_fetch_add(&ops_lines, 1);
            if (len && *at == '!')
                return err_fail_at(e, &files[i].text, (size_t)(at - files[i].text.text),
                                   "a line begins with '!'");
            if (len && *at != '#' &&
                (code = toy_emit(ctx, "exprs", arena_strndup(op_arena(ctx), at, len), e)))
                return err_up(e, code);
        }
    }
    return OK;
}

static enum err_code names_run(struct op_ctx *ctx, void *state, struct err *e)
{
    enum err_code code;
    const struct op_file *files;
    size_t n = op_files(&files, ctx);
    atomic_fetch_add(&ops_ran, 1);
    for (size_t i = 0; i < n; i++)
        for (const char *at = files[i].text.text; *at; at += strcspn(at, "\n") + 1) {
            char group[64], name[64], text[64];
            if (sscanf(at, "%63[^/]/%63s %63[^\n]", group, name, text) != 3)
                return err_fail(e, ERR_INPUT, "bad line");
            Eqloom__Rule m = EQLOOM__RULE__INIT;
            m.group = group;
            m.name = name;
            m.lhs = text;
            if ((code = op_emit(NULL, ctx, "names", &m.base, e)))
                return err_up(e, code);
        }
    return OK;
}

static enum err_code upper_prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    enum err_code code;
    char *suffix = arena_strdup(op_arena(ctx), "");
    atomic_fetch_add(&ops_prepared, 1);
    for (uint64_t i = 0; i < op_count(ctx, "names"); i++) {
        Eqloom__Rule *m;
        if ((code = op_get(&m, ctx, "names", i, e)))
            return err_up(e, code);
        suffix = arena_printf(op_arena(ctx), "%s %s", suffix, m->lhs);
    }
    *state = suffix;
    return OK;
}

static enum err_code upper_run(struct op_ctx *ctx, void *state, struct err *e)
{
    Eqloom__Expr *m;
    atomic_fetch_add(&ops_ran, 1);
    atomic_fetch_add(&now_running, 1);
    if (op_int(ctx, "ms"))
        usleep((useconds_t)op_int(ctx, "ms") * 1000);
    enum err_code code = op_get(&m, ctx, "exprs", 0, e);
    atomic_fetch_sub(&now_running, 1);
    if (code)
        return code;
    char *text = arena_strdup(op_arena(ctx), m->prefix);
    if (strstr(text, "bad"))
        return e ? err_fail(e, ERR_FAILED, "it is bad") : (abort(), ERR_FAILED); /* ops read it */
    for (char *c = text; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    if (atomic_load(&ops_until_signal) && atomic_fetch_sub(&ops_until_signal, 1) == 1)
        __atomic_store_n(&ops_signals, 1, __ATOMIC_RELAXED);
    struct rng rng = op_rng(ctx);
    for (int64_t i = 0; i < op_int(ctx, "repeat"); i++)
        if ((code = toy_emit(ctx, "exprs",
                             arena_printf(op_arena(ctx), "%s%s %" PRIu64, text, (char *)state,
                                          rng_below(&rng, 1000)),
                             e)))
            return err_up(e, code);
    return OK;
}

/* ---- weigh ---- */

static enum err_code weigh_summarize(struct span *out, struct arena *a, struct op_ctx *ctx,
                                     const ProtobufCMessage *element, struct err *e)
{
    uint64_t *letters = arena_new(a, uint64_t);
    atomic_fetch_add(&ops_summarized, 1);
    *letters = strlen(((const Eqloom__Expr *)element)->prefix);
    *out = span_of(letters, sizeof *letters);
    return OK;
}

static enum err_code weigh_run(struct op_ctx *ctx, void *state, struct err *e)
{
    enum err_code code;
    uint64_t sum = 0;
    atomic_fetch_add(&ops_ran, 1);
    for (uint64_t i = 0; i < op_count(ctx, "exprs"); i++) {
        struct span bytes;
        uint64_t letters;
        if ((code = op_summary(&bytes, ctx, "exprs", i, e)))
            return err_up(e, code);
        memcpy(&letters, bytes.data, sizeof letters);
        sum += letters;
        if (letters <= (uint64_t)op_int(ctx, "most") &&
            (code = op_pass(ctx, "short", "exprs", i, e)))
            return err_up(e, code);
    }
    return toy_emit(ctx, "expr", arena_printf(op_arena(ctx), "%" PRIu64, sum), e);
}

static enum err_code first_run(struct op_ctx *ctx, void *state, struct err *e)
{
    enum err_code code;
    Eqloom__Expr *m;
    atomic_fetch_add(&ops_ran, 1);
    if ((code = op_get(&m, ctx, "exprs", 0, e)))
        return err_up(e, code);
    return toy_emit(ctx, "exprs", arena_strndup(op_arena(ctx), m->prefix, 1), e);
}

static enum err_code glance_run(struct op_ctx *ctx, void *state, struct err *e)
{
    Eqloom__Expr *m;
    enum err_code code = op_get(&m, ctx, "exprs", 0, e);
    if (code)
        return code;
    const char *letter = arena_strndup(op_arena(ctx), m->prefix, 1);
    if (op_recall(ctx, span_str(letter), "the first letter is the same"))
        return OK;
    struct rng rng = op_rng_of(ctx, span_str(letter));
    atomic_fetch_add(&ops_ran, 1);
    return toy_emit(ctx, "exprs",
                    arena_printf(op_arena(ctx), "%s%" PRIu64, letter, rng_below(&rng, 1000)), e);
}

static enum err_code alone_run(struct op_ctx *ctx, void *state, struct err *e)
{
    int beside = atomic_fetch_add(&now_running, 1);
    usleep(500);
    if (beside > atomic_load(&ops_beside))
        atomic_store(&ops_beside, beside);
    enum err_code code = first_run(ctx, state, e);
    atomic_fetch_sub(&now_running, 1);
    return code;
}

static uint32_t card_cards(struct op_ctx *ctx)
{
    return 1u << 0 | 1u << 2;
}

/* Of each two that begin both are at work at a time, on different cards and without the pool. */
static enum err_code card_run(struct op_ctx *ctx, void *state, struct err *e)
{
    static atomic_uint taken;
    unsigned card = 1u << op_card(ctx);
    int n = atomic_fetch_add(&ops_on_cards, 1) + 1;
    if (op_pool(ctx) || !(card & card_cards(ctx)) || atomic_fetch_or(&taken, card) & card)
        return err_fail(e, ERR_FAILED, "card %d was not free", op_card(ctx));
    for (int ms = 0; ms < 60000 && atomic_load(&ops_on_cards) < n + n % 2; ms++)
        usleep(1000);
    bool alone = atomic_load(&ops_on_cards) < n + n % 2;
    atomic_fetch_and(&taken, ~card);
    return alone ? err_fail(e, ERR_FAILED, "nobody used the other card")
                 : toy_emit(ctx, "expr", "done", e);
}

static enum err_code shout_together(void **shares, struct op_ctx *ctx, void *state,
                                    const ProtobufCMessage *const *elements, size_t n,
                                    struct err *e)
{
    atomic_fetch_add(&ops_together, 1);
    for (size_t i = 0; i < n; i++) {
        const char *text = ((const Eqloom__Expr *)elements[i])->prefix;
        if (!strcmp(text, "bad") || (n > 1 && !strcmp(text, "shy")))
            return err_fail(e, ERR_FAILED, "it is %s", text);
        shares[i] = arena_printf(op_arena(ctx), "%s!", text);
    }
    return OK;
}

static enum err_code shout_run(struct op_ctx *ctx, void *state, struct err *e)
{
    atomic_fetch_add(&ops_ran, 1);
    return toy_emit(ctx, "exprs", op_share(ctx), e);
}

static enum err_code join_run(struct op_ctx *ctx, void *state, struct err *e)
{
    enum err_code code;
    struct buf b = {0};
    atomic_fetch_add(&ops_ran, 1);
    buf_puts(&b, op_string(ctx, "prefix"));
    for (uint64_t i = 0; i < op_count(ctx, "exprs"); i++) {
        Eqloom__Expr *m;
        if ((code = op_get(&m, ctx, "exprs", i, e))) {
            buf_free(&b);
            return err_up(e, code);
        }
        buf_printf(&b, "%s,", m->prefix);
    }
    code = toy_emit(ctx, "expr", b.data, e);
    buf_free(&b);
    return code;
}

static enum err_code count_run(struct op_ctx *ctx, void *state, struct err *e)
{
    return toy_emit(ctx, "expr", arena_printf(op_arena(ctx), "%d", atomic_fetch_add(&ops_drift, 0)),
                    e);
}

static enum err_code drifts_run(struct op_ctx *ctx, void *state, struct err *e)
{
    return toy_emit(ctx, "exprs", arena_printf(op_arena(ctx), "%d", atomic_load(&ops_drift)), e);
}

static enum err_code wait_run(struct op_ctx *ctx, void *state, struct err *e)
{
    atomic_fetch_add(&ops_ran, 1);
    while (!op_cancelled(ctx))
        usleep(1000);
    return err_fail(e, ERR_CANCELLED, "cancelled");
}

#define COLLECTION(role_, kind_)                                                                   \
    {                                                                                              \
        .role = role_, .kind = kind_, .cardinality = OP_COLLECTION                                 \
    }
#define ONE(role_, kind_)                                                                          \
    {                                                                                              \
        .role = role_, .kind = kind_, .cardinality = OP_ONE                                        \
    }

static const struct op_port exprs_port[] = {COLLECTION("exprs", KIND_EXPR), {0}};
static const struct op_port names_port[] = {COLLECTION("names", KIND_RULE), {0}};
static const struct op_port expr_port[] = {ONE("expr", KIND_EXPR), {0}};
static const struct op_port weighed[] = {
    COLLECTION("short", KIND_EXPR), ONE("expr", KIND_EXPR), {0}};
static const struct op_port upper_inputs[] = {
    COLLECTION("exprs", KIND_EXPR), {"names", KIND_RULE, OP_COLLECTION, .optional = true}, {0}};
static const struct op_param upper_params[] = {
    {"repeat", OP_INT, "1"}, {"ms", OP_INT, "0"}, {"seed", OP_INT, "0"}, {0}};
static const struct op_param join_params[] = {{"prefix", OP_STRING, ""}, {0}};
static const struct op_param glance_params[] = {{"seed", OP_INT, "0"}, {0}};
static const struct op_param weigh_params[] = {{"most", OP_INT, "3"}, {0}};

/* An op NAME that runs NAME_run. */
#define TOY(name_, version_, node_, inputs_, outputs_, ...)                                        \
    static const struct op toy_##name_ = {.name = #name_,                                          \
                                          .version = version_,                                     \
                                          .node = node_,                                           \
                                          .inputs = inputs_,                                       \
                                          .outputs = outputs_,                                     \
                                          .run = name_##_run,                                      \
                                          __VA_ARGS__}
TOY(alone, 1, OP_MAP, exprs_port, exprs_port, .parallel = true);
TOY(card, 1, OP_TASK, exprs_port, expr_port, .params = join_params, .parallel = true,
    .cards = card_cards);
TOY(count, 1, OP_TASK, exprs_port, expr_port, .parallel = true);
TOY(drifts, 1, OP_SOURCE, NULL, exprs_port);
TOY(first, 1, OP_MAP, exprs_port, exprs_port);
TOY(glance, 1, OP_MAP, exprs_port, exprs_port, .params = glance_params);
TOY(join, 1, OP_TASK, exprs_port, expr_port, .params = join_params);
TOY(lines, 1, OP_SOURCE, NULL, exprs_port);
TOY(names, 1, OP_SOURCE, NULL, names_port);
TOY(shout, 1, OP_MAP, exprs_port, exprs_port, .together = shout_together);
TOY(upper, 3, OP_MAP, upper_inputs, exprs_port, .params = upper_params, .prepare = upper_prepare);
TOY(wait, 1, OP_TASK, exprs_port, expr_port);
TOY(weigh, 1, OP_TASK, exprs_port, weighed, .params = weigh_params, .summarize = weigh_summarize);

const struct op *const op_table[] = {&toy_alone, &toy_card,   &toy_count, &toy_drifts, &toy_first,
                                     &toy_fold,  &toy_glance, &toy_join,  &toy_lines,  &toy_names,
                                     &toy_rank,  &toy_shout,  &toy_spell, &toy_upper,  &toy_wait,
                                     &toy_weigh, NULL};

const struct source_text op_builtins[] = {{"builtin:one.txt", "a\nb\n", 4}, {0}};

char *op_infix(struct arena *a, const char *prefix)
{
    return arena_strdup(a, prefix);
}

char *op_latex(struct arena *a, const char *prefix)
{
    return arena_strdup(a, prefix);
}

const struct op *op_find(const char *name)
{
    for (size_t i = 0; op_table[i]; i++)
        if (strcmp(op_table[i]->name, name) == 0)
            return op_table[i];
    return NULL;
}
