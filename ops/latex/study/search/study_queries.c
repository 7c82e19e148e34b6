#include "ops/latex/study/search/study_queries.h"

#include "base/buf.h"
#include "base/map.h"
#include "base/rng.h"
#include "ops/eval/evaluation.h"
#include "ops/latex/study/search/keywords.h"

#include <stdlib.h>

enum { WORD_MIN = 4 }; /* least characters of a title's word that is a keyword */

/* ---- words of sections ---- */

struct section_texts {
    const char **text;  /* by section: title and words, folded by keywords_fold */
    const char **title; /* "" if its paper is not in the input */
};

struct wanted {
    struct name_map papers;
    struct map64 sections; /* paper << 32 | its section -> number */
};

static struct wanted index_sections(const struct equation_vectors *x)
{
    struct wanted w = {0};
    for (uint32_t i = 0; i < x->v.n; i++) {
        name_map_put(&w.papers, x->place[i]->paper, x->paper[i], NULL);
        map64_put(&w.sections, (uint64_t)x->paper[i] << 32 | x->place[i]->section, x->section[i],
                  NULL);
    }
    return w;
}

static void take_paper(struct section_texts *out, struct arena *a, struct arena *work,
                       const struct wanted *w, const Eqloom__Paper *p)
{
    const uint64_t *paper = name_map_get(&w->papers, p->paper);
    for (size_t i = 0; paper && i < p->n_sections; i++) {
        const Eqloom__Section *s = p->sections[i];
        const uint64_t *number = map64_get(&w->sections, *paper << 32 | i);
        if (!number)
            continue;
        out->text[*number] = keywords_fold(a, arena_printf(work, "%s %s", s->title, s->text));
        out->title[*number] = arena_strdup(a, s->title);
    }
}

static enum err_code load_texts(struct section_texts *out, struct op_ctx *ctx,
                                const struct equation_vectors *x, struct err *e)
{
    struct arena *a = op_arena(ctx), work = {0};
    struct wanted w = index_sections(x);
    enum err_code code = OK;
    out->text = arena_array(a, const char *, x->n_sections + 1);
    out->title = arena_array(a, const char *, x->n_sections + 1);
    for (uint32_t s = 0; s < x->n_sections; s++)
        out->text[s] = out->title[s] = "";
    for (uint64_t i = 0, n = op_count(ctx, "papers"); i < n && !code; i++) {
        const Eqloom__Paper *m;
        arena_reset(&work);
        if (op_cancelled(ctx))
            code = err_fail(e, ERR_CANCELLED, "reading sections was interrupted");
        else if (!(code = op_get_in(&m, ctx, "papers", i, &work, e)))
            take_paper(out, a, &work, &w, m);
    }
    arena_free(&work);
    name_map_free(&w.papers);
    map64_free(&w.sections);
    return err_up(e, code);
}

/* ---- sections with a keyword: each keyword is searched once ---- */

struct keyword {
    const char *folded;
    bool *in; /* by section */
};

struct keyword_table {
    struct op_ctx *ctx;
    struct section_texts texts;
    uint32_t n_sections;
    struct name_map names;
    struct keyword *words;
    size_t n, cap, found;
};

static enum err_code table_begin(struct keyword_table *t, struct study_queries *out,
                                 const struct equation_vectors *corpus, struct op_ctx *ctx,
                                 struct err *e)
{
    *t = (struct keyword_table){.ctx = ctx, .n_sections = corpus->n_sections};
    enum err_code code = load_texts(&t->texts, ctx, corpus, e);
    *out = (struct study_queries){.title = t->texts.title};
    return err_up(e, code);
}

static void table_free(struct keyword_table *t)
{
    name_map_free(&t->names);
    free(t->words);
}

static size_t add_keyword(struct keyword_table *t, const char *folded)
{
    bool added;
    size_t at = *name_map_put(&t->names, folded, t->n, &added);
    if (added) {
        t->words = vec_grow(t->words, &t->cap, t->n + 1, sizeof *t->words);
        t->words[t->n++] = (struct keyword){folded, NULL};
    }
    return at;
}

static enum err_code find_word(void *arg, size_t item, struct arena *a, struct err *e)
{
    const struct keyword_table *t = arg;
    const struct keyword *w = &t->words[t->found + item];
    for (uint32_t i = 0; i < t->n_sections; i++)
        w->in[i] = keyword_in(t->texts.text[i], w->folded);
    return OK;
}

/* Searches the keywords that were added since the last call. */
static enum err_code find_words(struct keyword_table *t, struct err *e)
{
    for (size_t i = t->found; i < t->n; i++)
        t->words[i].in = arena_array(op_arena(t->ctx), bool, t->n_sections + 1);
    enum err_code code = evaluation_run(t->ctx, find_word, t, t->n - t->found, e);
    t->found = t->n;
    return err_up(e, code);
}

/* ---- given queries ---- */

static enum err_code check_keywords(const Eqloom__Place *q, struct op_ctx *ctx, struct err *e)
{
    if (q->n_keywords == 0) {
        enum err_code code =
            err_fail(e, ERR_INPUT, "query %u of '%s' has no keywords", q->number + 1, q->paper);
        err_hint(e, "a line is {\"latex\": ..., \"keywords\": [...]}");
        return code;
    }
    for (size_t k = 0; k < q->n_keywords; k++) {
        size_t n = keyword_characters(keywords_fold(op_arena(ctx), q->keywords[k]));
        if (n == 0 || n > KEYWORD_MAX)
            return err_fail(e, ERR_INPUT, "'%.80s' has %zu characters; keywords have 1 to %d",
                            q->keywords[k], n, KEYWORD_MAX);
    }
    return OK;
}

static void take(struct keyword_query *out, const struct keyword_table *t, const Eqloom__Place *q,
                 uint32_t row)
{
    struct arena *a = op_arena(t->ctx);
    bool *relevant = arena_array(a, bool, t->n_sections + 1);
    const char *joined = q->keywords[0];
    for (size_t k = 0; k < q->n_keywords; k++) {
        const bool *in = t->words[*name_map_get(&t->names, keywords_fold(a, q->keywords[k]))].in;
        joined = k ? arena_printf(a, "%s, %s", joined, q->keywords[k]) : joined;
        for (uint32_t i = 0; i < t->n_sections; i++)
            relevant[i] |= in[i];
    }
    *out = (struct keyword_query){q, joined, relevant, row, row};
}

enum err_code study_queries_take(struct study_queries *out, const struct equation_vectors *queries,
                                 const struct equation_vectors *corpus, struct op_ctx *ctx,
                                 struct err *e)
{
    struct keyword_table t;
    enum err_code code = table_begin(&t, out, corpus, ctx, e);
    out->n = queries->v.n;
    out->items = arena_array(op_arena(ctx), struct keyword_query, out->n + 1);
    for (size_t i = 0; i < out->n && !code; i++) {
        const Eqloom__Place *q = queries->place[i];
        code = check_keywords(q, ctx, e);
        for (size_t k = 0; k < q->n_keywords && !code; k++)
            add_keyword(&t, keywords_fold(op_arena(ctx), q->keywords[k]));
    }
    if (!code)
        code = find_words(&t, e);
    for (size_t i = 0; i < out->n && !code; i++)
        take(&out->items[i], &t, queries->place[i], (uint32_t)i);
    table_free(&t);
    return err_up(e, code);
}

/* ---- sources ---- */

/* Returns the folder of "author+thesis/main.tex"; "hep-th/9901001" is an arXiv id and has none. */
static const char *source_of(struct arena *a, const char *paper)
{
    const char *slash = strchr(paper, '/');
    bool id = slash && strlen(slash) == 8 && strspn(slash + 1, "0123456789") == 7;
    return slash && !id ? arena_strndup(a, paper, (size_t)(slash - paper)) : paper;
}

uint32_t *study_sources(const struct equation_vectors *x, struct op_ctx *ctx)
{
    struct name_map names = {0};
    struct arena work = {0};
    uint32_t *out = arena_array(op_arena(ctx), uint32_t, x->v.n + 1), n = 0;
    for (uint32_t i = 0; i < x->v.n; i++) {
        bool added;
        arena_reset(&work);
        out[i] = (uint32_t)*name_map_put(&names, source_of(&work, x->place[i]->paper), n, &added);
        n += added;
    }
    arena_free(&work);
    name_map_free(&names);
    return out;
}

/* ---- drawn queries ---- */

struct turn {
    uint64_t key;
    uint32_t row, source, round; /* round: within its source, from 0 */
};

static int by_source(const void *x, const void *y)
{
    const struct turn *a = x, *b = y;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    return a->key != b->key ? (a->key > b->key) - (a->key < b->key)
                            : (a->row > b->row) - (a->row < b->row);
}

static int by_round(const void *x, const void *y)
{
    const struct turn *a = x, *b = y;
    return a->round != b->round ? (a->round > b->round) - (a->round < b->round) : by_source(x, y);
}

static int by_row(const void *x, const void *y)
{
    const struct keyword_query *a = x, *b = y;
    return (a->row > b->row) - (a->row < b->row);
}

static uint64_t mark_of(const Eqloom__Place *p)
{
    uint64_t mark = p->number;
    for (const char *s = p->paper; *s; s++)
        mark = rng_mix(mark ^ (unsigned char)*s);
    return mark;
}

static struct turn *order(size_t *n, const struct study_draw *how, const struct equation_vectors *x,
                          const uint32_t *source, struct arena *a)
{
    struct turn *turns = arena_array(a, struct turn, x->v.n + 1);
    *n = 0;
    for (uint32_t i = 0; i < x->v.n; i++) {
        uint64_t mark = mark_of(x->place[i]);
        if ((rng_mix(mark) & 1) == how->half)
            turns[(*n)++] = (struct turn){rng_at(how->seed, 0, mark), i, source[i], 0};
    }
    qsort(turns, *n, sizeof *turns, by_source);
    for (size_t i = 1; i < *n; i++)
        turns[i].round = turns[i].source == turns[i - 1].source ? turns[i - 1].round + 1 : 0;
    qsort(turns, *n, sizeof *turns, by_round);
    return turns;
}

/* Returns the next word of a folded title, or NULL. */
static const char *next_word(const char **at, struct arena *a)
{
    for (;;) {
        const char *from = *at;
        while (*from && !((*from >= 'a' && *from <= 'z') || (*from & 0x80)))
            from++;
        size_t n = 0;
        while ((from[n] >= 'a' && from[n] <= 'z') || (from[n] & 0x80))
            n++;
        *at = from + n;
        if (n == 0)
            return NULL;
        const char *word = arena_strndup(a, from, n);
        size_t characters = keyword_characters(word);
        if (characters >= WORD_MIN && characters <= KEYWORD_MAX)
            return word;
    }
}

struct drawing {
    const struct study_draw *how;
    const struct equation_vectors *corpus;
    uint32_t *equations; /* by section: its number of equations */
    struct keyword_table words;
};

static bool is_keyword(const struct drawing *d, const bool *in)
{
    double n = 0, all = d->corpus->v.n;
    for (uint32_t i = 0; i < d->words.n_sections; i++)
        n += in[i] ? d->equations[i] : 0;
    return n >= d->how->least_relevant * all && n <= d->how->most_relevant * all;
}

/* Returns whether the title yields a keyword. */
static bool draw(struct keyword_query *out, const struct drawing *d, const struct turn *turn)
{
    struct arena *a = op_arena(d->words.ctx);
    const Eqloom__Place *place = d->corpus->place[turn->row];
    const char *at = keywords_fold(a, d->words.texts.title[d->corpus->section[turn->row]]);
    bool *relevant = arena_array(a, bool, d->words.n_sections + 1);
    const char *joined = NULL;
    for (const char *word; (word = next_word(&at, a));) {
        const bool *in = d->words.words[*name_map_get(&d->words.names, word)].in;
        if (!is_keyword(d, in))
            continue;
        joined = joined ? arena_printf(a, "%s, %s", joined, word) : word;
        for (uint32_t i = 0; i < d->words.n_sections; i++)
            relevant[i] |= in[i];
    }
    *out = (struct keyword_query){place, joined, relevant, turn->row, turn->source};
    return joined;
}

/* Examines as many candidates at a time as queries are still to be drawn, so that their words are
 * searched together. */
static enum err_code draw_all(struct study_queries *out, struct drawing *d,
                              const struct turn *turns, size_t n, struct err *e)
{
    struct arena *a = op_arena(d->words.ctx);
    for (size_t i = 0, upto; i < n && out->n < d->how->most; i = upto) {
        upto = n - i < d->how->most - out->n ? n : i + d->how->most - out->n;
        for (size_t k = i; k < upto; k++) {
            const char *title = d->words.texts.title[d->corpus->section[turns[k].row]];
            const char *at = keywords_fold(a, title);
            for (const char *word; (word = next_word(&at, a));)
                add_keyword(&d->words, word);
        }
        enum err_code code = find_words(&d->words, e);
        if (code)
            return err_up(e, code);
        for (size_t k = i; k < upto; k++)
            out->n += draw(&out->items[out->n], d, &turns[k]);
    }
    return OK;
}

enum err_code study_queries_draw(struct study_queries *out, const struct study_draw *how,
                                 const struct equation_vectors *corpus, const uint32_t *source,
                                 struct op_ctx *ctx, struct err *e)
{
    struct arena *a = op_arena(ctx);
    struct drawing d = {how, corpus, arena_array(a, uint32_t, corpus->n_sections + 1)};
    size_t n;
    enum err_code code = table_begin(&d.words, out, corpus, ctx, e);
    const struct turn *turns = order(&n, how, corpus, source, a);
    for (uint32_t i = 0; i < corpus->v.n; i++)
        d.equations[corpus->section[i]]++;
    out->items = arena_array(a, struct keyword_query, how->most + 1);
    if (!code)
        code = draw_all(out, &d, turns, n, e);
    if (!code && out->n)
        qsort(out->items, out->n, sizeof *out->items, by_row);
    table_free(&d.words);
    return err_up(e, code);
}
