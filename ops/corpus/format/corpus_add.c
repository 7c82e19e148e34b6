/* Collecting clusters that are read; see corpus_format.h. */
#include "ops/corpus/format/corpus_format.h"
#include "ops/expr/own/own.h"

#include <stdlib.h>
#include <string.h>

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Whether p and q, as nodes, are what a reduced fraction is written with. */
static bool is_fraction(const struct expr *x, uint32_t i)
{
    const struct expr_node *n = x->nodes + i;
    if (n->op != X_DIV || n[1].op != X_NUM || n[2].op != X_NUM || strchr(n[1].leaf, '/') ||
        strchr(n[2].leaf, '/') || strlen(n[1].leaf) > 18 || strlen(n[2].leaf) > 18)
        return false;
    long long p = strtoll(n[1].leaf, NULL, 10), q = strtoll(n[2].leaf, NULL, 10);
    return p != 0 && q > 1 && gcd((uint64_t)llabs(p), (uint64_t)q) == 1;
}

/* Corpora write 3/2 as `/ 3 2`; it is read as the number again, and has three tokens either way. */
char *corpus_prefix(struct arena *a, const struct expr *x)
{
    const struct expr_node *nodes = x->nodes;
    struct buf out = {0};
    for (uint32_t i = 0; i < x->n; i++) {
        if (i)
            buf_putc(&out, ' ');
        if (is_fraction(x, i)) {
            buf_printf(&out, "%s/%s", nodes[i + 1].leaf, nodes[i + 2].leaf);
            i += 2;
        } else if (nodes[i].leaf)
            buf_puts(&out, nodes[i].leaf);
        else
            buf_puts(&out, lang_token(x->lang, nodes[i].op));
    }
    return buf_text(&out, a);
}

enum err_code corpus_skip(struct corpus *c, enum err_code code, struct err *e)
{
    if (!code || !c->malformed || code != ERR_INPUT)
        return code;
    buf_printf(c->malformed, "%s:%d:%d: %s\n", e->input_file, e->line, e->column, e->message);
    err_clear(e);
    return OK;
}

void corpus_add(struct corpus *c, const struct expr *exprs, size_t n)
{
    struct name_map seen = {0};
    Eqloom__Cluster *cluster = arena_new(c->a, Eqloom__Cluster);
    eqloom__cluster__init(cluster);
    cluster->members = arena_array(c->a, Eqloom__Member *, n);
    for (size_t i = 0; i < n; i++) {
        char *prefix = corpus_prefix(c->a, &exprs[i]);
        bool added;
        name_map_put(&seen, prefix, 0, &added);
        if (!added)
            continue;
        Eqloom__Member *m = cluster->members[cluster->n_members++] =
            arena_new(c->a, Eqloom__Member);
        eqloom__member__init(m);
        m->prefix = prefix;
        m->tokens = expr_tokens(&exprs[i]);
    }
    name_map_free(&seen);
    cluster->seed = arena_new(c->a, Eqloom__Expr);
    eqloom__expr__init(cluster->seed);
    cluster->seed->prefix = cluster->members[0]->prefix;
    cluster->seed->language = language_text_of(c->a, exprs, n);
    c->clusters = arena_grow(c->a, c->clusters, c->n, &c->cap, sizeof *c->clusters);
    c->clusters[c->n++] = cluster;
}

enum err_code corpus_parse(struct expr *out, struct corpus *c, const struct source_text *source,
                           size_t at, size_t len, bool infix, struct err *e)
{
    if (latex_is(source->text + at, len))
        return err_up(e,
                      latex_parse(out, &c->latex, c->a, c->lang, source, at, len, false, NULL, e));
    return err_up(e,
                  (infix      ? expr_parse_infix
                   : c->words ? expr_parse_words
                              : expr_parse_prefix)(out, c->a, c->lang, source, at, len, false, e));
}
