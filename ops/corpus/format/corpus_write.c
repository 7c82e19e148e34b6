/* Writing corpora; see corpus_format.h. */
#include "base/rng.h"
#include "ops/corpus/format/corpus_format.h"
#include "ops/expr/own/own.h"
#include "ops/expr/syntax/lexical.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { FLUSH_BYTES = 1 << 20 };

/* The state of writing clusters. */
struct writer {
    struct buf *out;
    const struct corpus_write_options *options;
    struct arena a; /* for one term in words */
};

static enum err_code flush(struct writer *w, size_t above, struct err *e)
{
    const struct corpus_write_options *o = w->options;
    arena_reset(&w->a);
    return o->flush && w->out->len > above ? err_up(e, o->flush(o->arg, w->out, e)) : OK;
}

/* Writes prefix tokens, with fractions as divisions. */
static void write_term(struct writer *w, const char *prefix, const struct language *lang)
{
    struct buf *out = w->out;
    struct expr x;
    if (w->options->words &&
        expr_from_prefix(&x, &w->a, language_guess(&w->a, lang, prefix), prefix, NULL) == OK) {
        expr_write_words(out, &x);
        return;
    }
    for (const char *at = prefix; *at;) {
        size_t len = strcspn(at, " ");
        const char *slash = memchr(at, '/', len);
        if (slash && len > 1 && (is_digit(*at) || *at == '-')) {
            buf_puts(out, "/ ");
            buf_add(out, at, (size_t)(slash - at));
            buf_putc(out, ' ');
            buf_add(out, slash + 1, len - (size_t)(slash - at) - 1);
        } else
            buf_add(out, at, len);
        at += len;
        if (*at)
            buf_putc(out, *at++);
    }
}

static bool is_mine(const struct writer *w, size_t cluster)
{
    return !w->options->shards || cluster % w->options->shards == w->options->shard;
}

static const struct language *language_of(const Eqloom__Cluster *c)
{
    const struct language *lang = lang_by_name(c->seed->language);
    return lang ? lang : &lang_calculus; /* user-defined operators are recognised by their tokens */
}

/* `between`: an empty line between clusters. */
static enum err_code write_clusters(struct writer *w, bool between,
                                    Eqloom__Cluster *const *clusters, size_t n, struct err *e)
{
    enum err_code code = OK;
    bool first = true;
    for (size_t i = 0; i < n && !code; i++) {
        if (!is_mine(w, i))
            continue;
        if (between && !first)
            buf_putc(w->out, '\n');
        first = false;
        for (size_t k = 0; k < clusters[i]->n_members && !code; k++) {
            write_term(w, clusters[i]->members[k]->prefix, language_of(clusters[i]));
            buf_putc(w->out, '\n');
            code = flush(w, FLUSH_BYTES, e);
        }
    }
    return code;
}

/* Draws a member of another cluster. */
static const char *negative(struct rng *rng, Eqloom__Cluster *const *clusters, size_t n, size_t own)
{
    size_t other = (own + 1 + rng_below(rng, n - 1)) % n;
    const Eqloom__Cluster *c = clusters[other];
    return c->n_members ? c->members[rng_below(rng, c->n_members)]->prefix : c->seed->prefix;
}

/* A lazy Fisher-Yates shuffle of the numbers below `left`, which stores only moved numbers: the
 * pairs of a cluster may not fit in memory. */
struct shuffle {
    struct rng rng;
    uint64_t next, left;
    bool in_order;
    struct map64 moved; /* place -> number, if they differ */
};

static uint64_t number_at(const struct shuffle *s, uint64_t place)
{
    const uint64_t *moved = map64_get(&s->moved, place);
    return moved ? *moved : place;
}

static uint64_t shuffle_next(struct shuffle *s)
{
    uint64_t here = s->next++, there = here;
    if (!s->in_order)
        there += rng_below(&s->rng, s->left);
    s->left--;
    uint64_t number = number_at(s, there);
    if (there != here)
        *map64_put(&s->moved, there, 0, NULL) = number_at(s, here);
    return number;
}

/* Writes tab-separated columns or a JSON object: prefix tokens need no escapes in JSON. */
static void write_columns(struct writer *w, const char *const *terms, size_t n,
                          const struct language *lang)
{
    static const char *const names[2][3] = {{"input", "output"},
                                            {"anchor", "positive", "negative"}};
    bool json = w->options->json;
    for (size_t k = 0; k < n; k++) {
        if (json)
            buf_printf(w->out, "%s\"%s\": \"", k ? "\", " : "{", names[n == 3][k]);
        else if (k)
            buf_putc(w->out, '\t');
        write_term(w, terms[k], lang);
    }
    buf_puts(w->out, json ? "\"}\n" : "\n");
}

/* Writes ordered pairs of different members, without repetition. Each cluster's generator depends
 * on its seed, so adding a cluster does not change the pairs of others. */
static enum err_code write_pairs(struct writer *w, bool triplets, Eqloom__Cluster *const *clusters,
                                 size_t n, struct err *e)
{
    enum err_code code = OK;
    for (size_t i = 0; i < n && !code; i++) {
        const Eqloom__Cluster *c = clusters[i];
        uint64_t m = c->n_members, all = m * (m - (m > 0)), wanted = w->options->per_cluster;
        if (!is_mine(w, i) || all == 0 || (triplets && n < 2))
            continue;
        struct shuffle order = {.rng = rng_new(w->options->seed, rng_mix_text(0, c->seed->prefix)),
                                .left = all,
                                .in_order = !wanted || wanted >= all};
        for (uint64_t k = 0; k < all && (!wanted || k < wanted) && !code; k++) {
            uint64_t pair = shuffle_next(&order), first = pair / (m - 1), second = pair % (m - 1);
            second += second >= first;
            const char *terms[3] = {c->members[first]->prefix, c->members[second]->prefix};
            if (triplets)
                terms[2] = negative(&order.rng, clusters, n, i);
            write_columns(w, terms, triplets ? 3 : 2, language_of(c));
            code = flush(w, FLUSH_BYTES, e);
        }
        map64_free(&order.moved);
    }
    return code;
}

/* ---- semvec ---- */

/* The length of the first token of infix text; 0 at a blank. */
static size_t token_length(const char *at)
{
    size_t len = 0;
    while (isalnum((unsigned char)at[len]) || at[len] == '_')
        len++;
    return len ? len : *at == ' ' ? 0 : strncmp(at, "=>", 2) == 0 ? 2 : 1;
}

static json_t *tokens_json(struct arena *a, const char *prefix, const struct language *lang)
{
    json_t *term = json_object(), *tokens = json_array();
    struct expr x;
    const char *text = prefix;
    if (expr_from_prefix(&x, a, lang, prefix, NULL) == OK)
        text = expr_infix(a, &x);
    for (const char *at = text; *at;) {
        size_t len = token_length(at);
        if (len)
            json_array_append_new(tokens, json_stringn(at, len));
        at += len + (at[len] == ' ');
    }
    json_object_set_new(term, "Tokens", tokens);
    return term;
}

/* A class without its key. Its original is the first member: after a split of members the seed may
 * not be among them. */
static json_t *class_json(const Eqloom__Cluster *c)
{
    const struct language *lang = &lang_calculus;
    struct arena a = {0};
    language_read(&lang, &a, c->seed->language, NULL);
    json_t *noise = json_array(), *first = tokens_json(&a, c->members[0]->prefix, lang);
    for (size_t k = 1; k < c->n_members; k++)
        json_array_append_new(noise, tokens_json(&a, c->members[k]->prefix, lang));
    arena_free(&a);
    return json_pack("{s:o, s:o}", "Original", first, "Noise", noise);
}

/* Makes keys unique, since classes that were not merged may begin with the same expression. */
static void add_class(json_t *all, const char *name, json_t *class)
{
    struct buf key = {0};
    buf_puts(&key, name);
    for (int n = 2; json_object_get(all, key.data); n++) {
        buf_clear(&key);
        buf_printf(&key, "%s (%d)", name, n);
    }
    json_object_set_new(all, key.data, class);
    buf_free(&key);
}

static void write_semvec(struct buf *out, Eqloom__Cluster *const *clusters, size_t n)
{
    json_t *all = json_object();
    for (size_t i = 0; i < n; i++)
        if (clusters[i]->n_members)
            add_class(all, clusters[i]->members[0]->prefix, class_json(clusters[i]));
    char *text = json_dumps(all, JSON_COMPACT);
    buf_puts(out, text ? text : "");
    buf_putc(out, '\n');
    free(text);
    json_decref(all);
}

enum err_code corpus_write(struct buf *out, enum corpus_format format,
                           Eqloom__Cluster *const *clusters, size_t n,
                           const struct corpus_write_options *options, struct err *e)
{
    struct writer w = {.out = out, .options = options};
    enum err_code code = OK;
    switch (format) {
    case CORPUS_E_GEN: code = write_clusters(&w, true, clusters, n, e); break;
    case CORPUS_EXPRESSIONS: code = write_clusters(&w, false, clusters, n, e); break;
    case CORPUS_PAIRS: code = write_pairs(&w, false, clusters, n, e); break;
    case CORPUS_TRIPLETS: code = write_pairs(&w, true, clusters, n, e); break;
    case CORPUS_SEMVEC: write_semvec(out, clusters, n); break;
    case CORPUS_JSONL:
    case CORPUS_FORMATS: break;
    }
    if (!code)
        code = flush(&w, 0, e);
    arena_free(&w.a);
    return err_up(e, code);
}
