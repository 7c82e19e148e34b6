/* The op `plot-classes`: embeddings of two models -> a page with their planes of principal
 * components, expressions coloured by the kind of their functions (Gangwar and Kani's Figure 3),
 * and how far the four kinds are apart. */
#include "base/text/html.h"
#include "engine/op.h"
#include "ops/eval/evaluation.h"
#include "ops/eval/report/principal.h"
#include "ops/expr/expr.h"

#include <math.h>
#include <string.h>

enum { SIDES = 2, KINDS = 4, WIDTH = 520, HEIGHT = 400, RIM = 12 };

static const struct {
    const char *name, *colour;
} kinds[KINDS] = {{"polynomial", "#2b62c9"},
                  {"trigonometric", "#c2410c"},
                  {"hyperbolic", "#15803d"},
                  {"logarithmic, exponential", "#9333ea"}};

/* KINDS: of none alone. Arithmetic goes with all; inverse functions are of their functions' kind.
 */
static unsigned kind_of(const struct expr *x)
{
    bool has[KINDS] = {false};
    for (uint32_t i = 0; i < x->n; i++) {
        const struct expr_node *node = &x->nodes[i];
        const char *exponent =
            node->op == X_POW ? node[1 + node[1].size].leaf : NULL; /* of polynomials an integer */
        bool power = exponent && strspn(exponent, "0123456789") == strlen(exponent);
        if (node->op >= X_SINH && node->op <= X_ACOTH)
            has[2] = true;
        else if (node->op >= X_SIN && node->op < X_SINH)
            has[1] = true;
        else if (node->op == X_LN ||
                 (node->op == X_POW && node[1].leaf && !strcmp(node[1].leaf, "e")))
            has[3] = true;
        else if (node->op == X_SQRT || node->op == X_ABS || node->op == X_D ||
                 node->op >= X_DECLARED || (node->op == X_POW && !power))
            return KINDS;
    }
    unsigned n = has[1] + has[2] + has[3];
    return n > 1 ? KINDS : has[1] ? 1 : has[2] ? 2 : has[3] ? 3 : 0;
}

struct panel {
    struct vectors v;
    const struct language *lang;
    struct plane plane;
    unsigned *kind;
};

static enum err_code load(struct panel *p, struct op_ctx *ctx, const char *role, struct err *e)
{
    struct arena *a = op_arena(ctx);
    size_t n = op_count(ctx, role);
    Eqloom__EmbeddingBatch **batches = arena_array(a, Eqloom__EmbeddingBatch *, n + 1);
    enum err_code code = evaluation_get_texts(batches, &p->lang, n, ctx, role, e);
    if (!code)
        code = vectors_load(&p->v, a, batches, n, 0, e);
    if (code)
        return err_up(e, code);
    struct vectors all = p->v;
    p->kind = arena_array(a, unsigned, all.n);
    p->v.n = 0;
    for (uint32_t i = 0; i < all.n; i++) {
        struct expr x;
        unsigned kind = expr_from_prefix(&x, a, p->lang, all.text[i], NULL) ? KINDS : kind_of(&x);
        if (kind == KINDS)
            continue;
        uint32_t to = p->v.n++;
        memmove(vectors_at(&all, to), vectors_at(&all, i), all.stride * sizeof *all.x);
        p->v.text[to] = all.text[i];
        p->kind[to] = kind;
    }
    if (p->v.n < 3)
        return err_fail(e, ERR_INPUT, "'%s' has %u expressions of one kind of functions", role,
                        p->v.n);
    p->plane = principal_plane(a, &p->v);
    return OK;
}

/* ---- how far the kinds are apart ---- */

/* The share of vectors whose nearest mean is that of their kind; in the plane if `plane`. Each kind
 * counts the same. */
static double nearest_mean(struct arena *a, const struct panel *p, bool plane)
{
    uint32_t d = plane ? 2 : p->v.dim;
    double *mean = arena_array(a, double, (size_t)KINDS *d), right[KINDS] = {0}, n[KINDS] = {0};
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < p->v.n; i++) {
            double at[2] = {p->plane.x[i], p->plane.y[i]}, best = INFINITY;
            unsigned nearest = 0;
            if (!pass)
                n[p->kind[i]]++;
            for (unsigned k = 0; k < KINDS; k++) {
                double far = 0;
                for (uint32_t j = 0; j < d; j++) {
                    double x = plane ? at[j] : (double)vectors_at(&p->v, i)[j];
                    if (!pass && k == p->kind[i])
                        mean[k * d + j] += x;
                    if (pass)
                        far += (x - mean[k * d + j] / n[k]) * (x - mean[k * d + j] / n[k]);
                }
                if (pass && n[k] > 0 && far < best) {
                    best = far;
                    nearest = k;
                }
            }
            right[p->kind[i]] += pass && nearest == p->kind[i];
        }
    double sum = 0, present = 0;
    for (unsigned k = 0; k < KINDS; k++)
        if (n[k] > 0) {
            sum += right[k] / n[k];
            present++;
        }
    return sum / present;
}

/* ---- the page ---- */

static void write_panel(struct buf *out, struct arena *a, const struct panel *p, const char *name)
{
    float low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (uint32_t i = 0; i < p->v.n; i++) {
        low[0] = fminf(low[0], p->plane.x[i]);
        high[0] = fmaxf(high[0], p->plane.x[i]);
        low[1] = fminf(low[1], p->plane.y[i]);
        high[1] = fmaxf(high[1], p->plane.y[i]);
    }
    double wide = (WIDTH - 2 * RIM) / fmax((double)(high[0] - low[0]), 1e-12);
    double tall = (HEIGHT - 2 * RIM) / fmax((double)(high[1] - low[1]), 1e-12);
    buf_puts(out, "<figure><figcaption><b>");
    html_text(out, name);
    buf_printf(
        out,
        "</b>: %.1f and %.1f per cent of the variance</figcaption><svg viewBox=\"0 0 %d %d\">\n",
        100 * p->plane.share[0], 100 * p->plane.share[1], WIDTH, HEIGHT);
    for (uint32_t i = 0; i < p->v.n; i++) {
        buf_printf(out, "<circle class=\"k%u\" r=\"2\" cx=\"%.1f\" cy=\"%.1f\"><title>", p->kind[i],
                   RIM + wide * (double)(p->plane.x[i] - low[0]),
                   HEIGHT - RIM - tall * (double)(p->plane.y[i] - low[1]));
        html_text(out, expr_infix_of(a, p->lang, p->v.text[i]));
        buf_puts(out, "</title></circle>\n");
    }
    buf_puts(out, "</svg></figure>\n");
}

/* Kinds are shown and hidden without a script. */
static void write_page(struct buf *out, struct op_ctx *ctx, const struct panel panels[SIDES])
{
    buf_puts(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Principal "
        "components</title><meta name=\"viewport\" content=\"width=device-width\"><style>\n"
        ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:1120px;"
        "margin:24px auto;padding:0 16px}main{display:flex;flex-wrap:wrap;gap:24px}"
        "figure{margin:0;flex:1 1 460px}svg{width:100%;border:1px solid #8886}"
        "circle{fill-opacity:.7}label{margin-right:18px;white-space:nowrap}\n");
    for (unsigned k = 0; k < KINDS; k++)
        buf_printf(out,
                   ".k%u{fill:%s;background:%s}#show%u:not(:checked)~main .k%u{display:none}\n", k,
                   kinds[k].colour, kinds[k].colour, k, k);
    buf_puts(
        out,
        "i{display:inline-block;width:.7em;height:.7em;border-radius:50%;margin:0 .35em}"
        "</style></head><body><h1>Expressions by kind of functions</h1>\n<p id=\"job\"></p>\n");
    for (unsigned k = 0; k < KINDS; k++)
        buf_printf(out,
                   "<input type=\"checkbox\" id=\"show%u\" checked><label for=\"show%u\"><i "
                   "class=\"k%u\"></i>%s</label>\n",
                   k, k, k, kinds[k].name);
    buf_puts(out, "<main>\n");
    for (int s = 0; s < SIDES; s++)
        write_panel(out, op_arena(ctx), &panels[s], op_string(ctx, s ? "other_name" : "name"));
    buf_printf(
        out,
        "</main><p>The two principal components of the vectors of %u expressions. Point at a dot "
        "to read it.</p></body></html>\n",
        panels[0].v.n);
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    static const char *const names[SIDES][4] = {
        {"nearest_mean", "plane", "share_1", "share_2"},
        {"other_nearest_mean", "other_plane", "other_share_1", "other_share_2"}};
    struct panel panels[SIDES] = {0};
    struct figures f = evaluation_figures(ctx, "classes");
    struct buf page = {0};
    enum err_code code = load(&panels[0], ctx, "embeddings", e);
    if (!code)
        code = load(&panels[1], ctx, "other", e);
    if (!code && panels[0].v.n != panels[1].v.n)
        code = err_fail(e, ERR_INPUT, "the two models have other expressions");
    if (code)
        return err_up(e, code);
    for (int s = 0; s < SIDES; s++) {
        figures_add(&f, names[s][0], nearest_mean(op_arena(ctx), &panels[s], false));
        figures_add(&f, names[s][1], nearest_mean(op_arena(ctx), &panels[s], true));
        figures_add(&f, names[s][2], panels[s].plane.share[0]);
        figures_add(&f, names[s][3], panels[s].plane.share[1]);
    }
    figures_add(&f, "expressions", panels[0].v.n);
    write_page(&page, ctx, panels);
    code = op_emit_file(ctx, "html", span_of(page.data, page.len), "text/html; charset=utf-8", e);
    buf_free(&page);
    return err_up(e, code ? code : evaluation_emit(ctx, &f, NULL, e));
}

const struct op op_plot_classes = {
    .name = "plot-classes",
    .version = 1,
    .node = OP_TASK,
    .numerics = true,
    .doc =
        "A picture of expressions of four kinds (polynomials, and with trigonometric, hyperbolic, "
        "or "
        "logarithmic and exponential functions alone) by the principal components of their "
        "vectors, "
        "those of two models side by side. nearest_mean: the share of vectors whose nearest of the "
        "four means is that of their kind, each kind counting the same; plane: the same in the "
        "picture.",
    .params =
        OP_PARAMS(EVALUATION_LABEL,
                  {"name", OP_STRING, "one model", NULL, 0, 0, "Of the model, above its panel."},
                  {"other_name", OP_STRING, "the other", NULL, 0, 0, "Of the other model."}),
    .inputs = OP_PORTS({"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION, false, "Of one model."},
                       {"other", KIND_EMBEDDING_BATCH, OP_COLLECTION, false,
                        "Of another, of the same expressions."}),
    .outputs = OP_PORTS({"report", KIND_REPORT, OP_ONE, false,
                         "nearest_mean, plane, share, other_nearest_mean, ... by name."},
                        {"html", KIND_FILE, OP_ONE, false, "The page."}),
    .run = run,
};
