/* See question_draw.h. Clusters are not trusted: an answer must agree with the query at all points
 * (or in its normal form), and a near miss must be refuted; undecided expressions are not used. */
#include "ops/corpus/question_draw.h"

#include "ops/expr/ball/domain_record.h"
#include "ops/expr/edit_distance.h"
#include "ops/expr/equality/equality.h"
#include "ops/expr/near_miss.h"
#include "ops/expr/own/own.h"

#include <string.h>

/* Attempts before a query is abandoned: draws per near miss wanted, and members tried as
 * answers. */
enum { DRAWS = 20, ANSWERS = 30 };

struct drawer {
    struct arena *a;
    const struct question_options *options;
    struct rng *rng;
    const Eqloom__Cluster *cluster;
    const struct language *lang;
    struct expr *members;
    struct ball_options points;
    enum near_miss what;
};

static enum err_code begin(struct drawer *d, struct err *e)
{
    const Eqloom__Cluster *c = d->cluster;
    struct domains domains = domains_of(d->a, c->seed, NULL);
    d->points = (struct ball_options){
        .points = d->options->points, .domains = domains.all, .n_domains = domains.n};
    d->members = arena_array(d->a, struct expr, c->n_members);
    enum err_code code = language_read(&d->lang, d->a, c->seed ? c->seed->language : "", e);
    for (size_t i = 0; i < c->n_members && !code; i++)
        code = expr_from_prefix(&d->members[i], d->a, d->lang, c->members[i]->prefix, e);
    return err_up(e, code);
}

/* Initialises an exercise with room for n terms. */
static void exercise_init(Eqloom__Exercise *x, const struct drawer *d, size_t n)
{
    eqloom__exercise__init(x);
    x->language = d->cluster->seed ? d->cluster->seed->language : x->language;
    x->terms = arena_array(d->a, Eqloom__ExerciseTerm *, n + 1);
}

/* The number of members that are used. */
static size_t asked(const struct drawer *d)
{
    size_t n = d->cluster->n_members;
    return d->options->most < n ? d->options->most : n;
}

static uint32_t *shuffled(struct drawer *d)
{
    uint32_t *order = arena_array(d->a, uint32_t, d->cluster->n_members);
    for (uint32_t i = 0; i < d->cluster->n_members; i++)
        order[i] = i;
    rng_shuffle_u32(d->rng, order, d->cluster->n_members);
    return order;
}

/* ---- one question ---- */

static void add(Eqloom__Exercise *x, struct arena *a, char *prefix, uint32_t like,
                const char *witness)
{
    Eqloom__ExerciseTerm *t = arena_new(a, Eqloom__ExerciseTerm);
    eqloom__exercise_term__init(t);
    t->prefix = prefix;
    t->like = like;
    t->wrong = witness != NULL;
    t->reason = (char *)(witness ? witness : "");
    x->terms[x->n_terms++] = t;
}

/* Finds a member that is equal to the query and far from it. */
static enum err_code find_answer(const struct expr **out, struct drawer *d, struct equality_test *t,
                                 struct err *e)
{
    struct arena_mark mark = arena_mark(d->a);
    const uint32_t *order = shuffled(d);
    enum err_code code = OK;
    *out = NULL;
    for (size_t i = 0; i < d->cluster->n_members && i < ANSWERS && !*out && !code; i++) {
        const struct expr *y = &d->members[order[i]];
        uint32_t distance;
        code = err_up(e, edit_distance(&distance, d->a, &t->x, y, e));
        if (!code && distance >= d->options->distance &&
            equality_test_ask(NULL, d->a, t, y) == EQUALITY_AGREES)
            *out = y;
    }
    arena_release(d->a, mark);
    return code;
}

static bool is_there(const Eqloom__Exercise *x, const char *prefix)
{
    for (size_t i = 0; i < x->n_terms; i++)
        if (strcmp(x->terms[i]->prefix, prefix) == 0)
            return true;
    return false;
}

/* Returns false if it finds fewer than `wanted`. */
static bool add_near_misses(Eqloom__Exercise *x, struct drawer *d, struct equality_test *t,
                            const struct expr *from, uint32_t like, size_t wanted)
{
    for (size_t draws = wanted * DRAWS; draws && wanted; draws--) {
        struct arena_mark mark = arena_mark(d->a);
        struct expr y;
        const char *witness;
        if (!near_miss_draw(&y, d->a, from, d->what, d->rng))
            return false;
        char *prefix = expr_prefix(d->a, &y);
        if (is_there(x, prefix) || equality_test_ask(&witness, d->a, t, &y) != EQUALITY_REFUTED) {
            arena_release(d->a, mark);
            continue;
        }
        add(x, d->a, prefix, like, witness);
        wanted--;
    }
    return wanted == 0;
}

/* Sets *made to false if there is no question about this query. */
static enum err_code ask(Eqloom__Exercise *x, bool *made, struct drawer *d, uint32_t query,
                         struct err *e)
{
    const struct expr *answer;
    struct equality_test t;
    size_t n = d->options->near_misses, near_query = n - n / 2;
    exercise_init(x, d, n + 2);
    equality_test_begin(&t, &d->members[query], &d->points);
    enum err_code code = err_up(e, find_answer(&answer, d, &t, e));
    *made = false;
    if (!code && answer) {
        add(x, d->a, d->cluster->members[query]->prefix, 0, NULL);
        add(x, d->a, expr_prefix(d->a, answer), 0, NULL);
        *made = add_near_misses(x, d, &t, &t.x, 0, near_query) &&
                add_near_misses(x, d, &t, answer, 1, n / 2);
    }
    equality_test_end(&t);
    return code;
}

enum err_code questions_draw(Eqloom__Exercise **out, size_t *n, struct arena *a,
                             const Eqloom__Cluster *cluster, const struct question_options *options,
                             struct rng *rng, struct err *e)
{
    struct drawer d = {
        .a = a, .options = options, .rng = rng, .cluster = cluster, .what = NEAR_MISS_ANY};
    enum err_code code = err_up(e, begin(&d, e));
    *n = 0;
    if (code)
        return code;
    const uint32_t *queries = shuffled(&d);
    size_t most = asked(&d);
    *out = arena_array(a, Eqloom__Exercise, most + 1);
    for (size_t i = 0; i < cluster->n_members && *n < most && !code; i++) {
        struct arena_mark mark = arena_mark(a);
        bool made;
        code = err_up(e, ask(&(*out)[*n], &made, &d, queries[i], e));
        if (!code && made)
            ++*n;
        else
            arena_release(a, mark);
    }
    return code;
}

/* ---- near misses for training ---- */

enum err_code near_misses_draw(Eqloom__Exercise *out, struct arena *a,
                               const Eqloom__Cluster *cluster,
                               const struct question_options *options, struct rng *rng,
                               struct err *e)
{
    struct drawer d = {
        .a = a, .options = options, .rng = rng, .cluster = cluster, .what = NEAR_MISS_ARGUMENTS};
    size_t n = asked(&d);
    struct equality_test t;
    exercise_init(out, &d, 2 * n * options->near_misses);
    enum err_code code = err_up(e, begin(&d, e));
    if (code || !n)
        return code;
    const uint32_t *order = shuffled(&d);
    equality_test_begin(&t, &d.members[0], &d.points);
    for (size_t i = 0; i < n * options->near_misses; i++) {
        uint32_t member = order[i % n];
        size_t at = out->n_terms;
        add(out, a, cluster->members[member]->prefix, (uint32_t)at, NULL);
        if (!add_near_misses(out, &d, &t, &d.members[member], (uint32_t)at, 1))
            out->n_terms = at;
    }
    equality_test_end(&t);
    return OK;
}
