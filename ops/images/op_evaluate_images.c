/* The op `evaluate-images`: embedded pictures with labels or papers -> the rows of the tables in
 * The Search for Equations, and a page with queries and their nearest pictures. */
#include "base/io/picture.h"
#include "image.pb-c.h"
#include "ops/eval/evaluation.h"
#include "ops/eval/measure/retrieval.h"
#include "ops/eval/measure/triples.h"
#include "ops/eval/report/html_parts.h"
#include "ops/latex/study/equation_place.h"
#include "ops/latex/study/equation_vectors.h"
#include "ops/latex/study/nearest.h"
#include "ops/latex/study/search/study_page.h"

#include <string.h>

static bool cancelled(void *ctx)
{
    return op_cancelled(ctx);
}

static enum err_code measure(struct figures *f, struct op_ctx *ctx, struct equation_vectors *x,
                             bool by_label, struct err *e)
{
    struct retrieval r;
    struct triples t;
    uint32_t groups = x->n_papers, answerable = x->v.n;
    if (by_label) {
        groups = equation_vectors_by_label(x);
        answerable -= x->v.n_clusters - groups;
    } else {
        x->v.cluster = x->paper;
        x->v.n_clusters = x->n_papers;
    }
    enum err_code code =
        retrieval_measure(&r, op_arena(ctx), &x->v, NULL, op_pool(ctx), cancelled, ctx, e);
    if (code)
        return err_up(e, code);
    triples_measure(&t, op_arena(ctx), &x->v, TRIPLES_ROOM, op_pool(ctx), cancelled, ctx);
    if (op_cancelled(ctx))
        return err_fail(e, ERR_CANCELLED, "cancelled");
    figures_add(f, "accuracy", r.precision[0] * r.queries / (answerable ? answerable : 1));
    figures_add(f, "ranking_error", r.ranking_error);
    figures_add(f, "triple_hinge", t.hinge);
    figures_add(f, "siamese_loss", t.siamese);
    figures_add(f, by_label ? "categories" : "papers", groups);
    return OK;
}

/* ---- queries and their nearest pictures ---- */

static enum err_code load_picture(Eqloom__Picture **out, struct op_ctx *ctx, uint64_t i,
                                  double similarity, struct err *e)
{
    const Eqloom__Image *image = NULL;
    struct span png;
    enum err_code code = op_get(&image, ctx, "images", i, e);
    if (code)
        return err_up(e, code);
    const Eqloom__Place *place = image->place;
    struct picture p = {image->width, image->height, image->pixels.data};
    if (image->pixels.len != (uint64_t)p.width * p.height)
        return err_fail(e, ERR_CORRUPT, "%zu pixels are not %u x %u", image->pixels.len,
                        image->width, image->height);
    if ((code = picture_write_png(&png, op_arena(ctx), &p, e)))
        return err_up(e, code);
    Eqloom__Picture *x = *out = arena_new(op_arena(ctx), Eqloom__Picture);
    eqloom__picture__init(x);
    x->png = (ProtobufCBinaryData){png.len, (uint8_t *)png.data};
    x->latex = image->latex;
    x->from = !place ? x->from : *place->label ? place->label : place->paper;
    x->similarity = similarity;
    return OK;
}

enum { SHOWN = 5 };

static enum err_code find_pictures(Eqloom__Pictures *out, struct op_ctx *ctx,
                                   const struct equation_vectors *x, const struct hnsw *index,
                                   uint32_t row, struct err *e)
{
    struct neighbour found[SHOWN + 1];
    size_t n =
        nearest_find(found, SHOWN + 1, &x->v, index, NULL, vectors_at(&x->v, row), op_arena(ctx));
    eqloom__pictures__init(out);
    out->pictures = arena_array(op_arena(ctx), Eqloom__Picture *, SHOWN + 2);
    enum err_code code = load_picture(&out->pictures[out->n_pictures++], ctx, row, 1, e);
    for (size_t i = 0; i < n && out->n_pictures <= SHOWN && !code; i++)
        if (found[i].row != row)
            code = load_picture(&out->pictures[out->n_pictures++], ctx, found[i].row,
                                (double)found[i].similarity, e);
    return err_up(e, code);
}

/* Takes queries at equal distances over the corpus. */
static enum err_code find_all(Eqloom__Report *out, struct op_ctx *ctx,
                              const struct equation_vectors *x, struct err *e)
{
    struct arena *a = op_arena(ctx);
    uint32_t n = (uint32_t)op_int(ctx, "queries");
    struct hnsw *index;
    enum err_code code = equation_vectors_index(&index, x, ctx, e);
    n = n < x->v.n ? n : x->v.n;
    out->pictures = arena_array(a, Eqloom__Pictures *, n + 1);
    for (uint32_t q = 0; q < n && !code; q++) {
        out->pictures[q] = arena_new(a, Eqloom__Pictures);
        code =
            find_pictures(out->pictures[q], ctx, x, index, (uint32_t)((uint64_t)q * x->v.n / n), e);
        out->n_pictures++;
    }
    hnsw_free(index);
    return err_up(e, code);
}

/* ---- the dendrogram of labelled pictures ---- */

enum { DENDROGRAM_MAX = 400, ROW = 14, WIDTH = 640, NONE = UINT32_MAX };

/* A leaf for each picture (the first n), then the merged clusters. */
struct subtree {
    uint32_t left, right; /* of a merge: its two parts */
    double distance;      /* 1 - the least cosine between the two parts */
    double x, y;
    uint32_t cluster; /* of all leaves below; NONE if they differ */
};

/* Agglomerative clustering with complete linkage: appends n - 1 merges to n vectors of length 1,
 * nearest first and ties by the lowest vectors. By the Lance-Williams update, the distance to a
 * merged cluster is the larger of the distances to its parts. Takes n^2 floats. */
static struct subtree *dendrogram(struct arena *a, const struct vectors *v)
{
    uint32_t n = v->n;
    float *d = arena_array(a, float, (size_t)n *n + 1); /* between live clusters */
    uint32_t *name = arena_array(a, uint32_t, n + 1);
    bool *gone = arena_array(a, bool, n + 1);
    struct subtree *trees = arena_array(a, struct subtree, 2 * (size_t)n + 1);
    for (uint32_t i = 0; i < n; i++) {
        name[i] = i;
        for (uint32_t j = 0; j < n; j++)
            d[(size_t)i * n + j] = 1 - vector_dot(vectors_at(v, i), vectors_at(v, j), v->stride);
    }
    for (uint32_t k = n; k + 1 < 2 * n; k++) {
        uint32_t x = n, y = n;
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = i + 1; j < n && !gone[i]; j++)
                if (!gone[j] && (x == n || d[(size_t)i * n + j] < d[(size_t)x * n + y])) {
                    x = i;
                    y = j;
                }
        trees[k] = (struct subtree){
            .left = name[x], .right = name[y], .distance = (double)d[(size_t)x * n + y]};
        name[x] = k;
        gone[y] = true;
        for (uint32_t i = 0; i < n; i++)
            if (d[(size_t)y * n + i] > d[(size_t)x * n + i])
                d[(size_t)x * n + i] = d[(size_t)i * n + x] = d[(size_t)y * n + i];
    }
    return trees;
}

/* Places leaves from top to bottom, so that no lines cross. */
static void place_leaves(struct subtree *trees, uint32_t root, uint32_t n, uint32_t *row)
{
    if (root < n) {
        trees[root].y = ROW * ((*row)++ + 0.5);
    } else {
        place_leaves(trees, trees[root].left, n, row);
        place_leaves(trees, trees[root].right, n, row);
    }
}

static void put_line(struct buf *out, uint32_t cluster, double x0, double y0, double x1, double y1)
{
    buf_puts(out, "<path fill=\"none\" stroke=\"");
    if (cluster == NONE)
        buf_puts(out, "#999");
    else
        buf_printf(out, "hsl(%u,%u%%,45%%)", cluster * 137 % 360, 60 + cluster % 3 * 15);
    buf_printf(out, "\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", x0, y0, y1, x1);
}

/* Subtrees with a single cluster have its colour. */
static void write_dendrogram(struct buf *out, struct arena *a, const struct vectors *v,
                             const Eqloom__Place *const *place)
{
    uint32_t n = v->n;
    if (n < 2 || n > DENDROGRAM_MAX) {
        buf_printf(out, "<p class=\"note\">A dendrogram is drawn for 2 to %d pictures.</p>\n",
                   DENDROGRAM_MAX);
        return;
    }
    struct subtree *trees = dendrogram(a, v);
    double widest = trees[2 * n - 2].distance > 0 ? trees[2 * n - 2].distance : 1;
    place_leaves(trees, 2 * n - 2, n, &(uint32_t){0});
    buf_printf(out,
               "<section><h2>Complete linkage</h2><p class=\"note\">By cosine; grey where labels "
               "mix.</p>\n<svg viewBox=\"0 0 %d %u\" role=\"img\" aria-label=\"Dendrogram\" "
               "font-size=\"11\">\n",
               WIDTH + 200, n * ROW);
    for (uint32_t i = 0; i < n; i++) {
        trees[i].x = WIDTH;
        trees[i].cluster = v->cluster[i];
        buf_printf(out, "<text x=\"%d\" y=\"%.1f\" fill=\"currentColor\">", WIDTH + 6,
                   trees[i].y + 4);
        html_text(out, place[i]->label);
        buf_puts(out, "</text>\n");
    }
    for (uint32_t k = n; k + 1 < 2 * n; k++) {
        struct subtree *both = &trees[k];
        const struct subtree *l = &trees[both->left], *r = &trees[both->right];
        both->x = WIDTH * (1 - both->distance / widest * 0.98);
        both->y = (l->y + r->y) / 2;
        both->cluster = l->cluster == r->cluster ? l->cluster : NONE;
        put_line(out, l->cluster, both->x, both->y, l->x, l->y);
        put_line(out, r->cluster, both->x, both->y, r->x, r->y);
    }
    buf_puts(out, "</svg></section>\n");
}

/* ---- the page ---- */

static enum err_code write_page(struct op_ctx *ctx, const struct equation_vectors *x, bool by_label,
                                const Eqloom__Report *report, struct err *e)
{
    struct buf page = {0};
    study_page_begin(
        &page, "Pictures of equations", op_string(ctx, "label"),
        "img{background:#fff;display:block}article{margin:1rem "
        "0;overflow-x:auto}td{text-align:left;white-space:normal}.note{overflow-wrap:anywhere}",
        true);
    if (by_label)
        write_dendrogram(&page, op_arena(ctx), &x->v, x->place);
    for (size_t i = 0; i < report->n_pictures; i++)
        html_pictures(&page, report->pictures[i]);
    buf_puts(&page, "</main></body></html>\n");
    enum err_code code = op_emit_file(ctx, "page", span_of(page.data, page.len), "text/html", e);
    buf_free(&page);
    return err_up(e, code);
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct equation_vectors x;
    struct figures f = evaluation_figures(ctx, "images");
    Eqloom__Report report = EQLOOM__REPORT__INIT;
    bool by_label = !strcmp(op_string(ctx, "positives"), "label");
    enum err_code code = equation_vectors_load(&x, ctx, "images", "embeddings", NULL, e);
    if (!code && x.v.n)
        code = measure(&f, ctx, &x, by_label, e);
    else if (!code) /* an empty input is not an error */
        figures_add(&f, by_label ? "categories" : "papers", 0);
    if (!code)
        code = find_all(&report, ctx, &x, e);
    if (!code)
        code = write_page(ctx, &x, by_label, &report, e);
    if (code)
        return err_up(e, code);
    figures_add(&f, "equations", x.v.n);
    figures_add(&f, "dimensions", x.v.dim);
    report.title = f.table->title;
    report.tables = &f.table;
    report.n_tables = 1;
    report.values = f.values;
    report.n_values = f.n;
    return err_up(e, op_emit(NULL, ctx, "report", &report.base, e));
}

const struct op op_evaluate_images = {
    .name = "evaluate-images",
    .version = 2,
    .node = OP_TASK,
    .numerics = true,
    .parallel = true,
    .doc =
        "Computes the rows of the tables in The Search for Equations, over all triples of "
        "pictures, by label or by paper: accuracy, how often the nearest other picture has the "
        "same label; ranking_error; triple_hinge and siamese_loss with a margin of 1, for vectors "
        "of length 1. The page shows queries with their nearest pictures, and labelled pictures as "
        "a dendrogram by complete linkage.",
    .params = OP_PARAMS(
        EVALUATION_LABEL,
        {"positives", OP_ENUM, "label", "label|paper", 0, 0,
         "What pictures share that should be near each other."},
        {"queries", OP_INT, "10", NULL, 0, 1000, "How many queries the page shows."},
        {"approximate_from", OP_INT, "1000000", NULL, 1, 1e12,
         "At this many pictures and more, the page's results come from an approximate index."}),
    .inputs = OP_PORTS(
        {"images", KIND_IMAGE, OP_COLLECTION, false, "Pictures with their places and labels."},
        {"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION, false,
         "One vector per picture, in the same order."}),
    .outputs = OP_PORTS(
        {"report", KIND_REPORT, OP_ONE, false,
         "accuracy, ranking_error, triple_hinge and siamese_loss by name; the page's pictures."},
        {"page", KIND_FILE, OP_ONE, false,
         "Queries with the five nearest pictures, and a dendrogram of labelled ones."}),
    .run = run,
    .summarize = equation_place_summarize,
};
