/* `eqloom search EXPR`: the nearest expressions of an indexed corpus, and whether each is equal. */
#include "base/os.h"
#include "engine/tool.h"
#include "ops/search/choose_record.h"
#include "ops/search/corpus_index.h"
#include "ops/search/queries.h"
#include "ops/search/text_model.h"
#include "ops/search/verdict.h"

#include <jansson.h>
#include <string.h>

struct search {
    const struct tool_args *args;
    uint32_t k, per_cluster;
    struct tool_record record;
    struct pool *pool;
    struct corpus_index index;
    struct text_model *model;
    struct judge *judge;
    const struct language *lang;
    double load_ms;
};

/* One answer; all in the arena of its question. */
struct answer {
    struct expr question;
    struct neighbour *neighbours;
    struct finding *findings;
    size_t n;
    double ms;
};

static double ms_since(uint64_t start_ns)
{
    return (double)(os_monotonic_ns() - start_ns) * 1e-6;
}

/* ---- loading ---- */

/* The language of the corpus is that of its first cluster. */
static enum err_code find_language(struct search *s, struct err *e)
{
    struct arena work = {0};
    ProtobufCMessage *m;
    s->lang = &lang_calculus;
    enum err_code code = OK;
    if (!digest_is_zero(&s->index.source[0]) &&
        !tool_get(&m, s->args, &s->index.source[0], KIND_CLUSTER, &work, NULL)) {
        const Eqloom__Cluster *c = (const Eqloom__Cluster *)m;
        s->lang = lang_by_name(c->seed ? c->seed->language : "");
        if (!s->lang)
            code = err_fail(e, ERR_UNSUPPORTED, "the corpus is in an unknown language");
    }
    arena_free(&work);
    return code;
}

static enum err_code load(struct search *s, struct err *e)
{
    static const struct choice choice = {
        "index", KIND_INDEX, "index", "an index",
        "'eqloom run jobs/quickstart.yaml' makes one; in a job of yours the op 'index' does"};
    uint64_t start = os_monotonic_ns();
    struct digest checkpoint;
    ProtobufCMessage *m;
    enum err_code code;
    if ((code = err_up(e, choose_record(&s->record, s->args, &choice, e))) ||
        (code = err_up(e, tool_get(&m, s->args, &s->record.id, KIND_INDEX, s->args->arena, e))))
        return code;
    const Eqloom__Index *index = (const Eqloom__Index *)m;
    if (index->checkpoint_id.len != DIGEST_SIZE)
        return err_fail(e, ERR_CORRUPT, "the index does not name its model");
    memcpy(checkpoint.bytes, index->checkpoint_id.data, DIGEST_SIZE);
    s->pool = pool_new(os_cpus());
    if ((code = err_up(e, text_model_load(&s->model, s->args, &checkpoint, e))) ||
        (code = err_up(e, corpus_index_load(&s->index, s->args, index, s->pool, e))) ||
        (code = err_up(e, find_language(s, e))))
        return code;
    if (text_model_dim(s->model) != s->index.v.dim)
        return err_fail(e, ERR_CORRUPT, "the vectors have %u dimensions, the model has %u",
                        s->index.v.dim, text_model_dim(s->model));
    s->load_ms = ms_since(start);
    return OK;
}

/* ---- answering ---- */

/* How rules made the member of a cluster that has this text, if they did. */
static bool is_by_rules(const Eqloom__Cluster *c, const char *prefix)
{
    if (!c || c->unsound)
        return false;
    for (size_t i = 0; i < c->n_members; i++)
        if (strcmp(c->members[i]->prefix, prefix) == 0)
            return c->members[i]->standing != EQLOOM__STANDING__STANDING_UNKNOWN;
    return false;
}

static enum err_code describe(struct finding *f, const struct search *s, const struct neighbour *x,
                              struct arena *a, struct err *e)
{
    char *prefix;
    ProtobufCMessage *m;
    enum err_code code = err_up(e, corpus_index_text(&prefix, &s->index, s->args, x->row, a, e));
    if (code || (code = err_up(e, expr_from_prefix(&f->x, a, s->lang, prefix, e))))
        return code;
    f->cluster = s->index.v.cluster[x->row];
    const struct digest *source = &s->index.source[f->cluster];
    if (!digest_is_zero(source) && !tool_get(&m, s->args, source, KIND_CLUSTER, a, NULL))
        f->source = (const Eqloom__Cluster *)m;
    f->by_rules = is_by_rules(f->source, prefix);
    return OK;
}

static enum err_code find(struct answer *out, const struct search *s, struct arena *a,
                          struct err *e)
{
    uint64_t start = os_monotonic_ns();
    char *prefix = expr_prefix(a, &out->question);
    float *vector;
    enum err_code code = err_up(e, text_model_embed(&vector, s->model, &prefix, 1, true, a, e));
    if (code)
        return code;
    out->neighbours = arena_array(a, struct neighbour, s->k);
    out->n =
        corpus_index_nearest(out->neighbours, s->k, s->per_cluster, &s->index, vector, s->pool, a);
    out->findings = arena_array(a, struct finding, out->n);
    for (size_t i = 0; i < out->n && !code; i++)
        code = err_up(e, describe(&out->findings[i], s, &out->neighbours[i], a, e));
    if (!code)
        code = err_up(e, judge_all(s->judge, out->findings, out->n, &out->question, a, e));
    out->ms = ms_since(start);
    return code;
}

/* ---- printing ---- */

static const char *seed_of(struct arena *a, const struct finding *f, const struct language *lang)
{
    struct expr seed;
    if (!f->source || !f->source->seed ||
        expr_from_prefix(&seed, a, lang, f->source->seed->prefix, NULL))
        return NULL;
    return expr_infix(a, &seed);
}

static void print_json(const struct search *s, const struct answer *x, struct arena *a)
{
    json_t *o = json_object(), *list = json_array();
    for (size_t i = 0; i < x->n; i++) {
        const struct finding *f = &x->findings[i];
        const struct digest *source = &s->index.source[f->cluster];
        char hex[DIGEST_HEX];
        json_t *n = json_object();
        json_object_set_new(n, "similarity", json_real((double)x->neighbours[i].similarity));
        json_object_set_new(n, "verdict", json_string(verdict_word(f->verdict)));
        json_object_set_new(n, "why", json_string(f->why));
        json_object_set_new(n, "expression", json_string(expr_infix(a, &f->x)));
        json_object_set_new(n, "prefix", json_string(expr_prefix(a, &f->x)));
        const char *seed = seed_of(a, f, s->lang);
        if (seed)
            json_object_set_new(n, "seed", json_string(seed));
        if (!digest_is_zero(source))
            json_object_set_new(n, "cluster", json_string(digest_hex(hex, source)));
        json_array_append_new(list, n);
    }
    json_object_set_new(o, "question", json_string(expr_infix(a, &x->question)));
    json_object_set_new(o, "neighbours", list);
    json_object_set_new(o, "ms", json_real(x->ms));
    queries_print_line(s->args->out,
                       json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(7)));
    json_decref(o);
}

static void print_words(const struct search *s, const struct answer *x, struct arena *a)
{
    FILE *out = s->args->out;
    int width = 10;
    for (size_t i = 0; i < x->n; i++) {
        int n = (int)strlen(expr_infix(a, &x->findings[i].x));
        width = n > width ? n : width;
    }
    fprintf(out, "%s\n", expr_infix(a, &x->question));
    for (size_t i = 0; i < x->n; i++) {
        const struct finding *f = &x->findings[i];
        const char *seed = seed_of(a, f, s->lang);
        fprintf(out, "  %.4f  %s%-9s%s  ", (double)x->neighbours[i].similarity,
                s->args->color ? verdict_color(f->verdict) : "", verdict_word(f->verdict),
                s->args->color ? "\033[0m" : "");
        if (seed)
            fprintf(out, "%-*s  of %s\n", width, expr_infix(a, &f->x), seed);
        else
            fprintf(out, "%s\n", expr_infix(a, &f->x));
    }
    fflush(out);
    fprintf(s->args->narration, "%zu of %u expressions, in %.1f ms\n", x->n, s->index.v.n, x->ms);
}

static enum err_code answer(void *arg, const struct expr *question, struct arena *a, struct err *e)
{
    const struct search *s = arg;
    struct answer x = {.question = *question};
    enum err_code code = err_up(e, find(&x, s, a, e));
    if (!code)
        (s->args->json ? print_json : print_words)(s, &x, a);
    return code;
}

static enum err_code run(int *exit_status, const struct tool_args *args, struct err *e)
{
    struct search s = {.args = args};
    struct queries q = {0};
    uint32_t max_nodes;
    enum err_code code;
    if ((code = err_up(e, queries_number(&s.k, args, "neighbours", 10, 1000, e))) ||
        (code = err_up(e, queries_number(&max_nodes, args, "max-nodes", 10000, 50000000, e))) ||
        (tool_value(args, "per-cluster") &&
         (code = err_up(e, queries_number(&s.per_cluster, args, "per-cluster", 1, 1000, e)))) ||
        (code = err_up(e, queries_open(&q, args, &lang_calculus, e))) ||
        (code = err_up(e, load(&s, e))))
        goto out;
    q.lang = s.lang;
    s.judge = judge_new(max_nodes);
    fprintf(args->narration, "%s: %u expressions in %u clusters, loaded in %.0f ms\n",
            s.record.name, s.index.v.n, s.index.v.n_clusters, s.load_ms);
    code = s.judge ? err_up(e, queries_answer(&q, answer, &s, e))
                   : err_fail(e, ERR_NOMEM, "no memory");
out:
    queries_close(&q);
    judge_free(s.judge);
    text_model_free(s.model);
    corpus_index_free(&s.index);
    pool_free(s.pool);
    return code;
}

static const struct tool_option options[] = {
    {"neighbours", "N", false, "how many; 10 if not given", 'k'},
    {"per-cluster", "N", false, "at most N neighbours of each cluster; 1 shows other clusters too"},
    {"index", "REF", false, "an index; else the tag 'index', else the only one in the store"},
    {"max-nodes", "N", false, "e-nodes of the search for a proof, at most (default 10000)"},
    QUERIES_SYNTAX,
    {0}};

const struct tool tool_search = {
    .name = "search",
    .arguments = "EXPR...",
    .summary = "Find the expressions of a corpus that are nearest to one, and say which are equal",
    .help =
        "Embeds the expression by the model of an index and compares it with every vector there: "
        "the neighbours are exact. Each is printed with the cosine, a verdict, and the seed of its "
        "cluster. The verdict is `proved` when certified rules lead from one to the other, "
        "`refuted` when values differ at a point, else `undecided`; 'eqloom explain A B' shows the "
        "steps or the point. An argument '-' reads expressions from standard input, one a line, "
        "and answers each as it comes.",
    .example = "eqloom search 'sin(x)^2'\n"
               "eqloom search -k 5 --per-cluster 1 'd(x, ln(cos(x)))'",
    .options = options,
    .run = run,
};
