/* The op `tokenize-equations`: converts displays of papers that are expressions to token batches,
 * for models trained on expressions. a = b is read as a - b; of several usual readings one is
 * chosen (docs/formats.md), and variables are renamed to names in the vocabulary, in the order of
 * their first occurrence. Other displays are refused with a reason. */
#include "ops/corpus/tokens/encoder_input.h"
#include "ops/expr/expr.h"
#include "ops/latex/katex/katex.h"
#include "ops/latex/read/latex.h"

#include "paper.pb-c.h"

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* KaTeX serves one thread at a time. */
struct state {
    void *encoder;
    pthread_mutex_t lock;
    struct latex_reader *reader;
};

static void release(void *state)
{
    struct state *s = state;
    op_encoder_release(s->encoder);
    latex_reader_free(s->reader);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static enum err_code prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    struct state *s = must_calloc(1, sizeof *s);
    enum err_code code = err_up(e, op_encoder_prepare(&s->encoder, ctx, e));
    if (code) {
        free(s);
        return code;
    }
    pthread_mutex_init(&s->lock, NULL);
    *state = s;
    return OK;
}

/* ---- reading equations ---- */

/* Counts the equals signs outside braces; *at is the first. */
static size_t count_equal_signs(size_t *at, const char *s)
{
    size_t n = 0, depth = 0;
    for (size_t i = 0; s[i]; i++) {
        depth += s[i] == '{';
        depth -= s[i] == '}' && depth;
        if (s[i] == '=' && !depth && !n++)
            *at = i;
        i += s[i] == '\\' && s[i + 1];
    }
    return n;
}

/* Returns the text of an expression without the punctuation that ends a sentence, preceded by the
 * macros that it needs as \def; NULL if it is a chain of equalities. */
static const char *expression_text(struct arena *a, const Eqloom__Equation *q)
{
    struct buf b = {0};
    size_t n = strlen(q->latex), at = 0, equal = count_equal_signs(&at, q->latex);
    while (n > at && (isspace((unsigned char)q->latex[n - 1]) || strchr(".,;", q->latex[n - 1])))
        n--;
    if (equal > 1)
        return NULL;
    for (size_t i = 0; i < q->n_macros; i++) {
        const Eqloom__Macro *m = q->macros[i];
        size_t arguments = strlen(m->spec);
        if (m->name[0] != '\\' || strspn(m->spec, "m") < arguments || m->delimiters[0] || m->let)
            continue; /* KaTeX will refuse the text */
        buf_printf(&b, "\\def%s", m->name);
        for (size_t k = 1; k <= arguments; k++)
            buf_printf(&b, "#%zu", k);
        buf_printf(&b, "{%s}", m->body);
    }
    if (equal)
        buf_printf(&b, "(%.*s)-(%.*s)", (int)at, q->latex, (int)(n - at - 1), q->latex + at + 1);
    else
        buf_printf(&b, "%.*s", (int)n, q->latex);
    return buf_text(&b, a);
}

/* Returns prefix tokens with variables renamed to names in the vocabulary; NULL if there are too
 * many. */
static char *with_known_names(struct arena *a, const struct expr *x)
{
    static const char *const known[] = {"x", "y", "z", "t", "u", "a", "b", "c", "n"};
    enum { KNOWN = sizeof known / sizeof *known };
    const char *seen[KNOWN];
    size_t n = 0;
    struct expr out = *x;
    struct expr_node *nodes = arena_memdup(a, x->nodes, x->nodes[0].size * sizeof *nodes);
    for (uint32_t i = 0; i < x->nodes[0].size; i++) {
        size_t k = 0;
        if (nodes[i].op != X_SYM || !strcmp(nodes[i].leaf, "pi") || !strcmp(nodes[i].leaf, "e"))
            continue;
        while (k < n && strcmp(seen[k], nodes[i].leaf))
            k++;
        if (k == KNOWN)
            return NULL;
        seen[k] = nodes[i].leaf;
        n += k == n;
        nodes[i].leaf = known[k];
    }
    out.nodes = nodes;
    return expr_prefix(a, &out);
}

struct answer {
    Eqloom__TokenBatch batch;
    const char *refused, *detail; /* refused: NULL if it was read */
};

static enum err_code read_equation(struct answer *out, struct state *s, struct arena *a,
                                   const Eqloom__Equation *q, struct err *e)
{
    struct err why = {0};
    struct buf notes = {0};
    struct expr x;
    const char *text = q->mathml[0] ? "" : expression_text(a, q);
    *out = (struct answer){.detail = ""};
    if (!text || !*text) {
        out->refused = text ? "no LaTeX" : "several signs of equality";
        return OK;
    }
    struct source_text source = {"equation", text, strlen(text)};
    pthread_mutex_lock(&s->lock);
    enum err_code code =
        latex_parse(&x, &s->reader, a, &lang_calculus, &source, 0, source.len, false, &notes, &why);
    pthread_mutex_unlock(&s->lock);
    buf_free(&notes);
    if (code && code != ERR_INPUT)
        return err_fail(e, code, "%s", why.message);
    char *prefix = code ? NULL : with_known_names(a, &x);
    if (prefix)
        code = token_batch_pack(&out->batch, a, s->encoder, &prefix, 1, &why);
    if (code) {
        out->refused = prefix ? "not in the vocabulary" : "not read as an expression";
        out->detail = arena_strdup(a, why.message);
    } else if (!prefix) {
        out->refused = "too many names";
    }
    return OK;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct state *s = state;
    struct answer answer;
    const Eqloom__Equation *q;
    enum err_code code;
    if ((code = err_up(e, op_get(&q, ctx, "equations", 0, e))))
        return code;
    if ((code = err_up(e, read_equation(&answer, s, op_arena(ctx), q, e))))
        return code;
    if (answer.refused) {
        Eqloom__MathML m = EQLOOM__MATH_ML__INIT;
        m.place = q->place;
        m.latex = q->latex;
        m.refused = (char *)answer.refused;
        m.detail = (char *)answer.detail;
        return err_up(e, op_emit(NULL, ctx, "refused", &m.base, e));
    }
    if ((code = op_pass(ctx, "read", "equations", 0, e)))
        return err_up(e, code);
    return err_up(e, op_encoder_emit(ctx, &answer.batch, "equations", e));
}

static const char *units(struct op_ctx *ctx)
{
    return katex_source.tree.digest;
}

const struct op op_tokenize_equations = {
    .name = "tokenize-equations",
    .version = 2,
    .node = OP_MAP,
    .doc = "Reads displays of papers as expressions of the calculus, where possible, for models "
           "trained on expressions. a = b is read as a - b; variables become x, y, z, t, u, a, b, "
           "c, n in the order of their first occurrence; where LaTeX has several usual readings, "
           "the one that `eqloom read` reports is used.",
    .inputs = OP_PORTS({"equations", KIND_EQUATION, OP_COLLECTION, false, "LaTeX with its macros."},
                       {"vocabulary", KIND_VOCABULARY, OP_ONE, false,
                        "The vocabulary of the model that will embed them."}),
    .outputs = OP_PORTS(
        {"batches", KIND_TOKEN_BATCH, OP_COLLECTION, false, "One for each equation that is read."},
        {"read", KIND_EQUATION, OP_COLLECTION, false,
         "The equations that are read, so that other models can embed the same ones."},
        {"refused", KIND_MATHML, OP_COLLECTION, false,
         "The other equations, each with the reason; equation-statistics counts them."}),
    .units = units,
    .prepare = prepare,
    .release = release,
    .run = run,
};
