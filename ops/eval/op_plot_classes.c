/* The op `plot-classes`: a page with pictures of the embeddings of two models, with expressions
 * coloured by class, and measures of how well the classes are separated. Classes are kinds of
 * functions by principal components (Gangwar and Kani's Figure 3) or clusters by t-SNE (E-Gen's
 * Figure 3); a query may be marked together with its nearest expressions (E-Gen's Figure 4). */
#include "base/text/html.h"
#include "engine/op.h"
#include "ops/eval/evaluation.h"
#include "ops/eval/report/plane.h"
#include "ops/expr/expr.h"

#include <math.h>
#include <string.h>

enum { SIDES = 2, KINDS = 4, WIDTH = 520, HEIGHT = 400, RIM = 12, LABEL = 160 };

struct class
{
    const char *name, *colour;
};

static const struct class kinds[KINDS] = {{"polynomial", "#2b62c9"},
                                          {"trigonometric", "#c2410c"},
                                          {"hyperbolic", "#15803d"},
                                          {"logarithmic, exponential", "#9333ea"}};

/* Returns KINDS if the expression is not of a single kind. Arithmetic is allowed in all kinds;
 * inverse functions have the kind of their functions. */
static unsigned kind_of(const struct expr *x)
{
    bool has[KINDS] = {false};
    for (uint32_t i = 0; i < x->n; i++) {
        const struct expr_node *node = &x->nodes[i];
        const char *exponent =
            node->op == X_POW ? node[1 + node[1].size].leaf : NULL; /* in polynomials an integer */
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

enum { NEAR_MOST = 100 };

struct panel {
    struct vectors v;
    const struct language *lang;
    struct plane plane;
    unsigned *class;
    uint32_t query; /* v.n: none */
    struct neighbour near[NEAR_MOST];
    size_t n_near;
};

struct picture {
    struct panel panels[SIDES];
    const struct class *classes;
    unsigned n_classes;
    bool by_kind, tsne;
};

/* ---- reading ---- */

/* Keeps the expressions of a single kind. */
static enum err_code keep_kinds(struct panel *p, struct arena *a, const char *role, struct err *e)
{
    struct vectors all = p->v;
    p->v.n = 0;
    for (uint32_t i = 0; i < all.n; i++) {
        struct expr x;
        unsigned kind = expr_from_prefix(&x, a, p->lang, all.text[i], NULL) ? KINDS : kind_of(&x);
        if (kind == KINDS)
            continue;
        uint32_t to = p->v.n++;
        memmove(vectors_at(&all, to), vectors_at(&all, i), all.stride * sizeof *all.x);
        p->v.text[to] = all.text[i];
        p->class[to] = kind;
    }
    if (p->v.n < 3)
        return err_fail(e, ERR_INPUT,
                        "'%s' has only %u expressions with a single kind of "
                        "functions",
                        role, p->v.n);
    return OK;
}

/* Finds the nearest expressions of the query by cosine. */
static enum err_code find_query(struct panel *p, struct op_ctx *ctx, const char *role,
                                struct err *e)
{
    const char *text = op_string(ctx, "query");
    struct source_text source = {"query", text, strlen(text)};
    size_t most = (size_t)op_int(ctx, "nearest");
    struct arena *a = op_arena(ctx);
    struct expr x;
    p->query = p->v.n;
    if (!*text)
        return OK;
    enum err_code code =
        err_up(e, expr_parse_infix(&x, a, p->lang, &source, 0, source.len, false, e));
    if (code)
        return code;
    const char *query = expr_prefix(a, &x);
    for (uint32_t i = 0; i < p->v.n && p->query == p->v.n; i++)
        if (strcmp(p->v.text[i], query) == 0)
            p->query = i;
    if (p->query == p->v.n)
        return err_fail(e, ERR_INPUT, "'%s' does not contain the query, %.60s", role, text);
    for (uint32_t i = 0; i < p->v.n; i++)
        if (i != p->query) {
            float cosine =
                vector_dot(vectors_at(&p->v, p->query), vectors_at(&p->v, i), p->v.stride);
            p->n_near = neighbours_insert(p->near, p->n_near, most, (struct neighbour){cosine, i});
        }
    return OK;
}

static enum err_code load(struct picture *pic, int side, struct op_ctx *ctx, const char *role,
                          struct err *e)
{
    struct panel *p = &pic->panels[side];
    struct arena *a = op_arena(ctx);
    size_t n = op_count(ctx, role);
    Eqloom__EmbeddingBatch **batches = arena_array(a, Eqloom__EmbeddingBatch *, n + 1);
    enum err_code code = evaluation_get_texts(batches, &p->lang, n, ctx, role, e);
    if (!code)
        code = vectors_load(&p->v, a, batches, n, 0, e);
    if (code)
        return err_up(e, code);
    p->class = arena_array(a, unsigned, p->v.n);
    if (pic->by_kind && (code = err_up(e, keep_kinds(p, a, role, e))))
        return code;
    for (uint32_t i = 0; i < p->v.n && !pic->by_kind; i++)
        p->class[i] = p->v.cluster[i];
    if (pic->tsne || *op_string(ctx, "query")) /* both use cosines */
        vectors_normalize(&p->v);
    if ((code = err_up(e, find_query(p, ctx, role, e))))
        return code;
    if (pic->tsne) {
        struct tsne_options options = {op_real(ctx, "perplexity"),
                                       (uint32_t)op_int(ctx, "iterations"),
                                       (uint64_t)op_int(ctx, "seed")};
        p->plane = tsne_plane(a, &p->v, &options, op_pool(ctx));
    } else {
        p->plane = principal_plane(a, &p->v);
    }
    return OK;
}

/* A cluster is named after its first expression, which is the seed. */
static void name_classes(struct picture *pic, struct arena *a)
{
    const struct panel *p = &pic->panels[0];
    struct class *clusters = arena_array(a, struct class, p->v.n_clusters);
    pic->n_classes = pic->by_kind ? KINDS : p->v.n_clusters;
    pic->classes = pic->by_kind ? kinds : clusters;
    for (uint32_t i = 0; i < p->v.n && !pic->by_kind; i++) {
        struct class *c = &clusters[p->class[i]];
        if (!c->name)
            *c = (struct class){expr_infix_of(a, p->lang, p->v.text[i]),
                                arena_printf(a, "hsl(%u 65%% %u%%)",
                                             p->class[i] * 360 / pic->n_classes,
                                             p->class[i] % 2 ? 38 : 52)};
    }
}

/* ---- how far the classes are apart ---- */

/* The share of vectors whose nearest class mean is that of their own class, averaged over classes.
 * If `plane`, distances are those in the picture. */
static double nearest_mean(struct arena *a, const struct panel *p, unsigned n_classes, bool plane)
{
    uint32_t d = plane ? 2 : p->v.dim;
    double *mean = arena_array(a, double, (size_t)n_classes *d);
    double *right = arena_array(a, double, n_classes), *n = arena_array(a, double, n_classes);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < p->v.n; i++) {
            double at[2] = {p->plane.x[i], p->plane.y[i]}, best = INFINITY;
            unsigned nearest = 0;
            if (!pass)
                n[p->class[i]]++;
            for (unsigned k = 0; k < n_classes; k++) {
                double far = 0;
                for (uint32_t j = 0; j < d; j++) {
                    double x = plane ? at[j] : (double)vectors_at(&p->v, i)[j];
                    if (!pass && k == p->class[i])
                        mean[k * d + j] += x;
                    if (pass)
                        far += (x - mean[k * d + j] / n[k]) * (x - mean[k * d + j] / n[k]);
                }
                if (pass && n[k] > 0 && far < best) {
                    best = far;
                    nearest = k;
                }
            }
            right[p->class[i]] += pass && nearest == p->class[i];
        }
    double sum = 0, present = 0;
    for (unsigned k = 0; k < n_classes; k++)
        if (n[k] > 0) {
            sum += right[k] / n[k];
            present++;
        }
    return sum / present;
}

/* ---- the page ---- */

struct point {
    double x, y;
};

/* The positions of the vectors in the picture, whose y axis points down. */
static struct point *place(struct arena *a, const struct panel *p)
{
    struct point *at = arena_array(a, struct point, p->v.n);
    float low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (uint32_t i = 0; i < p->v.n; i++) {
        low[0] = fminf(low[0], p->plane.x[i]);
        high[0] = fmaxf(high[0], p->plane.x[i]);
        low[1] = fminf(low[1], p->plane.y[i]);
        high[1] = fmaxf(high[1], p->plane.y[i]);
    }
    double wide = (WIDTH - 2 * RIM) / fmax((double)(high[0] - low[0]), 1e-12);
    double tall = (HEIGHT - 2 * RIM) / fmax((double)(high[1] - low[1]), 1e-12);
    for (uint32_t i = 0; i < p->v.n; i++)
        at[i] = (struct point){RIM + wide * ((double)p->plane.x[i] - (double)low[0]),
                               HEIGHT - RIM - tall * ((double)p->plane.y[i] - (double)low[1])};
    return at;
}

/* Draws lines from the query to its nearest expressions, which get rings. */
static void write_query(struct buf *out, const struct panel *p, const struct point *at)
{
    double x = at[p->query].x, y = at[p->query].y;
    for (size_t k = 0; k < p->n_near; k++)
        buf_printf(out,
                   "<path class=\"q\" d=\"M%.1f %.1fL%.1f %.1fm-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 "
                   "0\"/>\n",
                   x, y, at[p->near[k].row].x, at[p->near[k].row].y);
    bool right = x > WIDTH - LABEL; /* near the right edge, where the label is put on the left */
    buf_printf(out,
               "<path class=\"q\" d=\"M%.1f %.1fm-7-7h14v14h-14z\"/><text text-anchor=\"%s\" "
               "x=\"%.1f\" y=\"%.1f\">",
               x, y, right ? "end" : "start", right ? x - 10 : x + 10, fmax(y - 8, RIM + 4));
}

static void write_near(struct buf *out, struct arena *a, const struct panel *p)
{
    buf_puts(out, "<ol>");
    for (size_t k = 0; k < p->n_near; k++) {
        buf_puts(out, "<li>");
        html_text(out, expr_infix_of(a, p->lang, p->v.text[p->near[k].row]));
        buf_printf(out, " (%.3f)</li>\n", (double)p->near[k].similarity);
    }
    buf_puts(out, "</ol>");
}

/* The wheel zooms at the pointer, a double click resets the view. Dots keep their size. */
static const char zoom[] =
    "<script>document.querySelectorAll('svg').forEach(s=>{const whole=s.getAttribute('viewBox');"
    "const show=b=>{s.setAttribute('viewBox',b);s.style.setProperty('--part',b.split(' ')[2]/"
    "whole.split(' ')[2])};s.ondblclick=()=>show(whole);s.addEventListener('wheel',e=>{"
    "e.preventDefault();const r=s.getBoundingClientRect(),k=e.deltaY<0?.8:1.25,"
    "[x,y,w,h]=s.getAttribute('viewBox').split(' ').map(Number),"
    "p=x+w*(e.clientX-r.left)/r.width,q=y+h*(e.clientY-r.top)/r.height;"
    "show([p-(p-x)*k,q-(q-y)*k,w*k,h*k].join(' '))},{passive:false})})</script>";

static void write_panel(struct buf *out, struct arena *a, const struct picture *pic, int side,
                        const char *name)
{
    const struct panel *p = &pic->panels[side];
    const struct point *at = place(a, p);
    buf_puts(out, "<figure><figcaption><b>");
    html_text(out, name);
    buf_puts(out, "</b>");
    if (!pic->tsne)
        buf_printf(out, ": %.1f and %.1f per cent of the variance", 100 * p->plane.share[0],
                   100 * p->plane.share[1]);
    buf_printf(out, "</figcaption><svg viewBox=\"0 0 %d %d\">\n", WIDTH, HEIGHT);
    for (uint32_t i = 0; i < p->v.n; i++) {
        buf_printf(out, "<circle class=\"k%u\" r=\"2\" cx=\"%.1f\" cy=\"%.1f\"><title>",
                   p->class[i], at[i].x, at[i].y);
        html_text(out, expr_infix_of(a, p->lang, p->v.text[i]));
        buf_puts(out, "</title></circle>\n");
    }
    if (p->query < p->v.n) {
        write_query(out, p, at);
        html_text(out, expr_infix_of(a, p->lang, p->v.text[p->query]));
        buf_puts(out, "</text>\n");
    }
    buf_puts(out, "</svg>");
    if (p->query < p->v.n)
        write_near(out, a, p);
    buf_puts(out, "</figure>\n");
}

/* Checkboxes show and hide classes by CSS alone. */
static void write_page(struct buf *out, struct op_ctx *ctx, const struct picture *pic)
{
    buf_puts(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Embedded "
        "expressions</title><meta name=\"viewport\" content=\"width=device-width\"><style>\n"
        ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:1120px;"
        "margin:24px auto;padding:0 16px}main{display:flex;flex-wrap:wrap;gap:24px}"
        "figure{margin:0;flex:1 1 460px}svg{width:100%;border:1px solid #8886}"
        "circle{fill-opacity:.7;r:calc(2px*var(--part,1))}.q{fill:none;stroke:currentColor;stroke-"
        "opacity:.7}"
        "text{font-size:13px;fill:currentColor}span{margin-right:18px;white-space:nowrap}\n");
    for (unsigned k = 0; k < pic->n_classes; k++)
        buf_printf(
            out,
            ".k%u{fill:%s;background:%s}body:has(#show%u:not(:checked)) main .k%u{display:none}\n",
            k, pic->classes[k].colour, pic->classes[k].colour, k, k);
    buf_printf(out,
               "i{display:inline-block;width:.7em;height:.7em;border-radius:50%%;margin:0 .35em}"
               "</style></head><body><h1>Expressions by %s</h1>\n<p id=\"job\"></p>\n",
               pic->by_kind ? "kind of functions" : "cluster");
    for (unsigned k = 0; k < pic->n_classes; k++) {
        buf_printf(out,
                   "<span><input type=\"checkbox\" id=\"show%u\" checked><label for=\"show%u\"><i "
                   "class=\"k%u\"></i>",
                   k, k, k);
        html_text(out, pic->classes[k].name);
        buf_puts(out, "</label></span>\n");
    }
    buf_puts(out, "<main>\n");
    for (int s = 0; s < SIDES; s++)
        write_panel(out, op_arena(ctx), pic, s, op_string(ctx, s ? "other_name" : "name"));
    buf_printf(out, "</main><p>%s of the vectors of %u expressions. Point at a dot to read it.",
               pic->tsne ? "T-SNE" : "The two principal components", pic->panels[0].v.n);
    if (pic->panels[0].query < pic->panels[0].v.n)
        buf_puts(out, " The square is the query; lines lead to its nearest expressions by cosine.");
    buf_puts(out, " The wheel zooms, a double click resets the view.</p>");
    buf_puts(out, zoom);
    buf_puts(out, "</body></html>\n");
}

static Eqloom__Table *table_of_near(struct op_ctx *ctx, const struct picture *pic)
{
    struct arena *a = op_arena(ctx);
    char **columns = arena_array(a, char *, 2 * SIDES);
    const struct panel *p = pic->panels;
    if (p->query == p->v.n)
        return NULL;
    for (int s = 0; s < SIDES; s++) {
        columns[2 * s] = (char *)op_string(ctx, s ? "other_name" : "name");
        columns[2 * s + 1] = "cosine";
    }
    const char *query = expr_infix_of(a, p->lang, p->v.text[p->query]);
    Eqloom__Table *t =
        table_of(a, arena_printf(a, "Nearest to %s", query), columns, 2 * SIDES, p->n_near);
    for (size_t k = 0; k < p->n_near; k++) {
        char **cell = table_row(a, t);
        for (int s = 0; s < SIDES; s++) {
            const struct neighbour *x = &pic->panels[s].near[k];
            *cell++ = expr_infix_of(a, p->lang, pic->panels[s].v.text[x->row]);
            *cell++ = arena_printf(a, "%.3f", (double)x->similarity);
        }
    }
    return t;
}

static bool same_expressions(const struct picture *pic)
{
    const struct vectors *x = &pic->panels[0].v, *y = &pic->panels[1].v;
    bool same = x->n == y->n;
    for (uint32_t i = 0; i < x->n && same; i++)
        same = strcmp(x->text[i], y->text[i]) == 0;
    return same;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx);
    struct picture *pic = arena_new(a, struct picture);
    struct figures f = evaluation_figures(ctx, "classes");
    struct buf page = {0};
    pic->by_kind = strcmp(op_string(ctx, "by"), "kind") == 0;
    pic->tsne = strcmp(op_string(ctx, "picture"), "t-sne") == 0;
    enum err_code code = load(pic, 0, ctx, "embeddings", e);
    if (!code)
        code = load(pic, 1, ctx, "other", e);
    if (!code && !same_expressions(pic))
        code = err_fail(e, ERR_INPUT,
                        "the embeddings of the two models have different "
                        "expressions");
    if (code)
        return err_up(e, code);
    name_classes(pic, a);
    for (int s = 0; s < SIDES; s++) {
        const struct panel *p = &pic->panels[s];
        const char *of = s ? "other_" : "";
        figures_add(&f, arena_printf(a, "%snearest_mean", of),
                    nearest_mean(a, p, pic->n_classes, false));
        figures_add(&f, arena_printf(a, "%splane", of), nearest_mean(a, p, pic->n_classes, true));
        for (int i = 0; i < 2 && !pic->tsne; i++)
            figures_add(&f, arena_printf(a, "%sshare_%d", of, i + 1), p->plane.share[i]);
    }
    figures_add(&f, "expressions", pic->panels[0].v.n);
    write_page(&page, ctx, pic);
    code = op_emit_file(ctx, "html", span_of(page.data, page.len), "text/html; charset=utf-8", e);
    buf_free(&page);
    return err_up(e, code ? code : evaluation_emit(ctx, &f, table_of_near(ctx, pic), e));
}

const struct op op_plot_classes = {
    .name = "plot-classes",
    .version = 6,
    .node = OP_TASK,
    .numerics = true,
    .parallel = true,
    .doc =
        "Draws the embeddings of expressions by two models side by side, coloured by class. "
        "Classes are four kinds of functions (polynomials, and expressions with trigonometric, "
        "hyperbolic, or logarithmic and exponential functions only), by principal components, as "
        "in SemEmb; or clusters by t-SNE, as in E-Gen. nearest_mean: the share of vectors whose "
        "nearest class mean is that of their own class, averaged over classes; plane: the same in "
        "the picture.",
    .params = OP_PARAMS(
        EVALUATION_LABEL,
        {"name", OP_STRING, "one model", NULL, 0, 0,
         "The name of the model, shown above its "
         "panel."},
        {"other_name", OP_STRING, "the other", NULL, 0, 0, "The name of the other model."},
        {"by", OP_ENUM, "kind", "kind|cluster", 0, 0,
         "The classes: kinds of functions, without expressions of several kinds; or clusters, each "
         "named after its first expression."},
        {"picture", OP_ENUM, "components", "components|t-sne", 0, 0,
         "How vectors are projected to "
         "points."},
        {"perplexity", OP_REAL, "30", NULL, 1, 1000, "Perplexity of t-SNE."},
        {"iterations", OP_INT, "500", NULL, 1, 100000, "Of t-SNE."},
        {"seed", OP_INT, "0", NULL, 0, 0, "Of t-SNE."},
        {"query", OP_STRING, "", NULL, 0, 0,
         "One of the expressions, which is marked together with its nearest ones by cosine."},
        {"nearest", OP_INT, "4", NULL, 1, NEAR_MOST,
         "The number of nearest expressions of the "
         "query."}),
    .inputs = OP_PORTS({"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION, false,
                        "Embeddings by "
                        "one model."},
                       {"other", KIND_EMBEDDING_BATCH, OP_COLLECTION, false,
                        "Embeddings of the same expressions by another model."}),
    .outputs = OP_PORTS({"report", KIND_REPORT, OP_ONE, false,
                         "nearest_mean, plane, share, other_nearest_mean, ... by name."},
                        {"html", KIND_FILE, OP_ONE, false, "The page."}),
    .run = run,
};
