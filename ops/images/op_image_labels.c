/* The op `image-labels`: pictures -> labels for training: the symbols of their LaTeX, or keywords
 * of their papers' abstracts by RAKE. */
#include "base/map.h"
#include "engine/op.h"
#include "image.pb-c.h"
#include "ops/images/rake.h"
#include "ops/images/symbols.h"
#include "schemas/canonical.h"
#include "token.pb-c.h"

#include <stdlib.h>
#include <string.h>

struct names {
    const char **names;
    size_t n;
};

struct candidate {
    const char *name;
    uint64_t count;
};

struct labels {
    struct arena *a;
    bool keywords;
    uint64_t n;
    Eqloom__Place **place;
    struct names *of; /* (n): of each picture */
    struct name_map papers;
    struct names *by_paper;
};

/* An image without its pixels. */
static enum err_code summarize(struct span *out, struct arena *a, struct op_ctx *ctx,
                               const ProtobufCMessage *element, struct err *e)
{
    Eqloom__Image image = *(const Eqloom__Image *)element;
    image.pixels = (ProtobufCBinaryData){0};
    return err_up(e, canonical_pack(out, a, &image.base, e));
}

static enum err_code load_papers(struct labels *x, struct op_ctx *ctx, struct err *e)
{
    uint64_t n = op_count(ctx, "papers");
    enum err_code code = OK;
    x->by_paper = arena_array(x->a, struct names, n + 1);
    for (uint64_t i = 0; i < n && !code; i++) {
        const Eqloom__Paper *p = NULL;
        struct rake_keyword *found;
        bool added;
        if ((code = op_get_in(&p, ctx, "papers", i, x->a, e)))
            break;
        size_t k = rake_keywords(&found, x->a, p->abstract[0] ? p->abstract : p->title);
        struct names *names = &x->by_paper[i];
        names->names = arena_array(x->a, const char *, k + 1);
        while (names->n < k) {
            names->names[names->n] = found[names->n].text;
            names->n++;
        }
        name_map_put(&x->papers, p->paper, i, &added);
    }
    return err_up(e, code);
}

static enum err_code load_images(struct labels *x, struct op_ctx *ctx, struct err *e)
{
    static Eqloom__Place nowhere = EQLOOM__PLACE__INIT;
    x->n = op_count(ctx, "images");
    x->of = arena_array(x->a, struct names, x->n + 1);
    x->place = arena_array(x->a, Eqloom__Place *, x->n + 1);
    for (uint64_t i = 0; i < x->n; i++) {
        struct span s;
        const Eqloom__Image *image = NULL;
        enum err_code code = op_summary(&s, ctx, "images", i, e);
        if (!code)
            code = canonical_unpack(&image, x->a, &eqloom__image__descriptor, s, e);
        if (code)
            return err_up(e, code);
        x->place[i] = image->place ? image->place : &nowhere;
        const uint64_t *paper = name_map_get(&x->papers, x->place[i]->paper);
        if (x->keywords && paper)
            x->of[i] = x->by_paper[*paper];
        else if (!x->keywords)
            x->of[i].n = latex_symbols(&x->of[i].names, x->a, image->latex);
    }
    return OK;
}

static int compare_candidates(const void *x, const void *y)
{
    const struct candidate *p = x, *q = y;
    return p->count != q->count ? (p->count < q->count ? 1 : -1) : strcmp(p->name, q->name);
}

/* What most pictures have, in at least `least` of them. */
static void choose(Eqloom__Vocabulary *v, const struct labels *x, size_t most, uint64_t least)
{
    struct name_map index = {0};
    size_t n = 0, all = 0;
    for (uint64_t i = 0; i < x->n; i++)
        all += x->of[i].n;
    struct candidate *found = arena_array(x->a, struct candidate, all + 1);
    for (uint64_t i = 0; i < x->n; i++)
        for (size_t k = 0; k < x->of[i].n; k++) {
            bool added;
            uint64_t at = *name_map_put(&index, x->of[i].names[k], n, &added);
            n += added;
            found[at].name = x->of[i].names[k];
            found[at].count++;
        }
    name_map_free(&index);
    qsort(found, n, sizeof *found, compare_candidates);
    v->tokens = arena_array(x->a, char *, n + 1);
    while (v->n_tokens < n && v->n_tokens < most && found[v->n_tokens].count >= least) {
        v->tokens[v->n_tokens] = (char *)found[v->n_tokens].name;
        v->n_tokens++;
    }
}

static int compare_numbers(const void *x, const void *y)
{
    uint32_t p = *(const uint32_t *)x, q = *(const uint32_t *)y;
    return (p > q) - (p < q);
}

static enum err_code emit_labels(struct op_ctx *ctx, const struct labels *x,
                                 const Eqloom__Vocabulary *v, struct err *e)
{
    struct name_map index = {0};
    struct digest id;
    enum err_code code = op_emit(&id, ctx, "vocabulary", &v->base, e);
    for (size_t i = 0; i < v->n_tokens; i++)
        name_map_put(&index, v->tokens[i], i, &(bool){false});
    for (uint64_t i = 0; i < x->n && !code; i++) {
        Eqloom__Labels labels = EQLOOM__LABELS__INIT;
        labels.place = x->place[i];
        labels.vocabulary_id = (ProtobufCBinaryData){DIGEST_SIZE, id.bytes};
        labels.labels = arena_array(x->a, uint32_t, x->of[i].n + 1);
        for (size_t k = 0; k < x->of[i].n; k++) {
            const uint64_t *at = name_map_get(&index, x->of[i].names[k]);
            if (at)
                labels.labels[labels.n_labels++] = (uint32_t)*at;
        }
        qsort(labels.labels, labels.n_labels, sizeof *labels.labels, compare_numbers);
        code = op_emit(NULL, ctx, "labels", &labels.base, e);
    }
    name_map_free(&index);
    return err_up(e, code);
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct labels x = {.a = op_arena(ctx),
                       .keywords = !strcmp(op_string(ctx, "labels"), "keywords")};
    Eqloom__Vocabulary chosen = EQLOOM__VOCABULARY__INIT, *v = &chosen;
    Eqloom__Vocabulary *given;
    enum err_code code = OK;
    v->encoding = x.keywords ? "abstract-keywords" : "latex-symbols";
    if (x.keywords && !op_count(ctx, "papers"))
        code = err_fail(e, ERR_INPUT, "keywords come from abstracts: give 'papers'");
    if (!code && x.keywords)
        code = load_papers(&x, ctx, e);
    if (!code)
        code = load_images(&x, ctx, e);
    if (!code && op_count(ctx, "vocabulary")) {
        code = op_get(&given, ctx, "vocabulary", 0, e);
        v = code ? v : given;
        if (!code && strcmp(v->encoding, chosen.encoding))
            code = err_fail(e, ERR_INPUT, "the vocabulary is of %s, not of %s", v->encoding,
                            chosen.encoding);
    } else if (!code) {
        choose(v, &x, (size_t)op_int(ctx, "most"), (uint64_t)op_int(ctx, "least"));
    }
    if (!code)
        code = emit_labels(ctx, &x, v, e);
    name_map_free(&x.papers);
    return err_up(e, code);
}

const struct op op_image_labels = {
    .name = "image-labels",
    .version = 1,
    .node = OP_TASK,
    .doc = "Labels of pictures, for training. Symbols: the letters, numbers, signs and commands of "
           "the LaTeX, but for those that arrange or name. Keywords: the best third of what RAKE "
           "finds in the abstract (Rose et al. 2010).",
    .params = OP_PARAMS(
        {"labels", OP_ENUM, "symbols", "symbols|keywords", 0, 0,
         "The symbols of a picture's LaTeX, or keywords of its paper's abstract."},
        {"most", OP_INT, "1500", NULL, 1, 1e6, "How many labels, those of most pictures."},
        {"least", OP_INT, "2", NULL, 1, 1e9, "A label has so many pictures, or is none."}),
    .inputs =
        OP_PORTS({"images", KIND_IMAGE, OP_COLLECTION, false, "Pictures with LaTeX, or of papers."},
                 {"papers", KIND_PAPER, OP_COLLECTION, true,
                  "Their abstracts, for keywords; the title of one without."},
                 {"vocabulary", KIND_VOCABULARY, OP_ONE, true,
                  "Labels that were chosen before; else they are chosen."}),
    .outputs = OP_PORTS(
        {"labels", KIND_LABELS, OP_COLLECTION, false, "One for each picture, in their order."},
        {"vocabulary", KIND_VOCABULARY, OP_ONE, false,
         "The labels, those of most pictures first."}),
    .run = run,
    .summarize = summarize,
};
