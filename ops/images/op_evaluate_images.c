/* The op `evaluate-images`: embedded pictures of labels or papers -> the rows of The Search for
 * Equations' tables, and a page with queries and the pictures that are nearest to them. */
#include "base/io/picture.h"
#include "base/map.h"
#include "image.pb-c.h"
#include "ops/eval/evaluation.h"
#include "ops/eval/measure/retrieval.h"
#include "ops/eval/measure/triples.h"
#include "ops/eval/report/html_parts.h"
#include "ops/images/picture_page.h"
#include "ops/latex/study/equation_place.h"
#include "ops/latex/study/equation_vectors.h"
#include "ops/latex/study/nearest.h"

#include <string.h>

static bool cancelled(void *ctx)
{
    return op_cancelled(ctx);
}

/* Those without a label are of none: each is a class of its own. Returns how many labels. */
static uint32_t number_labels(struct equation_vectors *x)
{
    struct name_map labels = {0};
    uint32_t found = 0;
    x->v.n_clusters = 0;
    for (uint32_t i = 0; i < x->v.n; i++) {
        const char *label = x->place[i]->label;
        bool added = true;
        uint64_t *at = *label ? name_map_put(&labels, label, x->v.n_clusters, &added) : NULL;
        found += at && added;
        x->v.cluster[i] = at ? (uint32_t)*at : x->v.n_clusters;
        x->v.n_clusters += added;
    }
    name_map_free(&labels);
    return found;
}

static enum err_code measure(struct figures *f, struct op_ctx *ctx, struct equation_vectors *x,
                             bool by_label, struct err *e)
{
    struct retrieval r;
    struct triples t;
    uint32_t groups = x->n_papers, asked = x->v.n;
    if (by_label) {
        groups = number_labels(x);
        asked -= x->v.n_clusters - groups;
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
    figures_add(f, "accuracy", r.precision[0] * r.queries / (asked ? asked : 1));
    figures_add(f, "ranking_error", r.ranking_error);
    figures_add(f, "triple_hinge", t.hinge);
    figures_add(f, "siamese_loss", t.siamese);
    figures_add(f, by_label ? "categories" : "papers", groups);
    return OK;
}

/* ---- the page ---- */

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
        return err_fail(e, ERR_CORRUPT, "a picture has %zu pixels", image->pixels.len);
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

/* Of some queries at equal distances. */
static enum err_code find_all(Eqloom__Report *out, struct op_ctx *ctx,
                              const struct equation_vectors *x, struct err *e)
{
    struct arena *a = op_arena(ctx);
    uint32_t n = (uint32_t)op_int(ctx, "queries");
    struct hnsw *index = NULL;
    enum err_code code = OK;
    n = n < x->v.n ? n : x->v.n;
    if (x->v.n && x->v.n >= (uint64_t)op_int(ctx, "approximate_from")) {
        index = hnsw_new(x->v.x, x->v.n, x->v.stride, vector_dot, cancelled, ctx);
        if (!index)
            code = err_fail(e, op_cancelled(ctx) ? ERR_CANCELLED : ERR_NOMEM, "no index");
    }
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

static enum err_code write_page(struct op_ctx *ctx, const struct equation_vectors *x, bool by_label,
                                const Eqloom__Report *report, struct err *e)
{
    struct buf page = {0};
    picture_page_begin(&page, op_string(ctx, "label"));
    if (by_label)
        picture_page_dendrogram(&page, op_arena(ctx), &x->v, x->place);
    for (size_t i = 0; i < report->n_pictures; i++)
        html_pictures(&page, report->pictures[i]);
    picture_page_end(&page);
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
    enum err_code code = equation_vectors_load(&x, ctx, "images", "embeddings", e);
    if (!code && x.v.n)
        code = measure(&f, ctx, &x, by_label, e);
    else if (!code) /* nothing to evaluate is no error */
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
        "The rows of The Search for Equations' tables, over all triples of pictures, by labels or "
        "by papers: accuracy, how often the nearest other picture has the same label; "
        "ranking_error; triple_hinge and siamese_loss with a margin of 1, of vectors of length "
        "1. The page shows queries with their nearest pictures, and labelled pictures as a "
        "dendrogram by complete linkage.",
    .params =
        OP_PARAMS(EVALUATION_LABEL,
                  {"positives", OP_ENUM, "label", "label|paper", 0, 0,
                   "What pictures have in common that should be near each other."},
                  {"queries", OP_INT, "10", NULL, 0, 1000, "How many pictures the page asks for."},
                  {"approximate_from", OP_INT, "1000000", NULL, 1, 1e12,
                   "From so many pictures on, the page's answers come from an approximate index."}),
    .inputs = OP_PORTS(
        {"images", KIND_IMAGE, OP_COLLECTION, false, "Pictures with their places and labels."},
        {"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION, false,
         "One vector for each of them, in their order."}),
    .outputs = OP_PORTS(
        {"report", KIND_REPORT, OP_ONE, false,
         "accuracy, ranking_error, triple_hinge, siamese_loss by name; the pictures of the page."},
        {"page", KIND_FILE, OP_ONE, false,
         "Queries with the five nearest as pictures, and a dendrogram of labelled ones."}),
    .run = run,
    .summarize = equation_place_summarize,
};
