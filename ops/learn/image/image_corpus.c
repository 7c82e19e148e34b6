#include "ops/learn/image/image_corpus.h"

#include "base/buf.h"
#include "base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void image_corpus_free(struct image_corpus *c)
{
    free(c->pixels);
    free(c->image);
    free(c->paper_mark);
    free(c->label);
    free(c->member);
    free(c->member_first);
    name_map_free(&c->names);
    *c = (struct image_corpus){0};
}

static uint64_t mark_of(const uint8_t *pixels, const uint32_t *label, size_t labels)
{
    uint64_t mark = labels;
    for (size_t i = 0; i < IMAGE_PIXELS; i += sizeof mark) {
        uint64_t word;
        memcpy(&word, pixels + i, sizeof word);
        mark = rng_mix(mark ^ word);
    }
    for (size_t i = 0; i < labels; i++)
        mark = rng_mix(mark ^ label[i]);
    return mark;
}

static uint32_t paper_of(struct image_corpus *c, const char *name)
{
    bool added;
    uint32_t paper = (uint32_t)*name_map_put(&c->names, name, c->papers, &added);
    if (!added)
        return paper;
    struct span text = span_of(name, strlen(name));
    struct digest digest = digest_of(&text, 1);
    c->paper_mark =
        vec_grow(c->paper_mark, &c->paper_mark_cap, c->papers + 1, sizeof *c->paper_mark);
    memcpy(&c->paper_mark[c->papers++], digest.bytes, sizeof *c->paper_mark);
    return paper;
}

enum err_code image_check(const Eqloom__Image *image, struct err *e)
{
    if (image->width != IMAGE_WIDTH || image->height != IMAGE_HEIGHT ||
        image->pixels.len != IMAGE_PIXELS)
        return err_fail(e, ERR_INPUT,
                        "a picture has %u x %u pixels, but the network reads %d x %d: see op crop",
                        image->width, image->height, IMAGE_WIDTH, IMAGE_HEIGHT);
    return OK;
}

enum err_code image_corpus_add(struct image_corpus *c, const Eqloom__Image *image,
                               const Eqloom__Labels *labels, struct err *e)
{
    size_t i = c->n, n = labels ? labels->n_labels : 0;
    enum err_code code = image_check(image, e);
    if (code)
        return err_up(e, code);
    c->pixels = vec_grow(c->pixels, &c->pixels_cap, (i + 1) * IMAGE_PIXELS, 1);
    c->image = vec_grow(c->image, &c->image_cap, i + 2, sizeof *c->image);
    c->label = vec_grow(c->label, &c->label_cap, c->labels_n + n + 1, sizeof *c->label);
    memcpy(c->pixels + i * IMAGE_PIXELS, image->pixels.data, IMAGE_PIXELS);
    for (size_t k = 0; k < n; k++)
        c->label[c->labels_n + k] = labels->labels[k];
    c->image[i].mark = mark_of(image->pixels.data, c->label + c->labels_n, n);
    c->image[i].paper = paper_of(c, image->place ? image->place->paper : "");
    c->image[i].label_first = c->labels_n;
    c->image[i + 1].label_first = c->labels_n += n;
    c->n++;
    return OK;
}

void image_corpus_close(struct image_corpus *c)
{
    c->member = must_calloc(c->n + 1, sizeof *c->member);
    c->member_first = must_calloc(c->papers + 2, sizeof *c->member_first);
    for (size_t i = 0; i < c->n; i++)
        c->member_first[c->image[i].paper + 1]++;
    for (size_t p = 0; p < c->papers; p++)
        c->member_first[p + 1] += c->member_first[p];
    for (size_t i = 0; i < c->n; i++) /* each paper's fill position advances */
        c->member[c->member_first[c->image[i].paper]++] = (uint32_t)i;
    for (size_t p = c->papers; p > 0; p--)
        c->member_first[p] = c->member_first[p - 1];
    c->member_first[0] = 0;
}

double *image_corpus_odds(struct arena *a, const struct image_corpus *c, size_t labels)
{
    double *odds = arena_array(a, double, labels + 1);
    for (size_t i = 0; i < c->labels_n; i++)
        odds[c->label[i]]++;
    for (size_t y = 0; y < labels; y++)
        odds[y] = log((odds[y] + 0.5) / ((double)c->n - odds[y] + 0.5));
    return odds;
}

/* Returns (labels): cumulative sums of frequency, at least 1, to the power 0.75. */
static double *sum_frequencies(const struct image_corpus *c, size_t labels)
{
    double *sum = must_calloc(labels + 1, sizeof *sum), total = 0;
    for (size_t i = 0; i < c->labels_n; i++)
        sum[c->label[i]]++;
    for (size_t y = 0; y < labels; y++)
        sum[y] = total += pow(fmax(sum[y], 1), 0.75);
    return sum;
}

/* ---- the sampler ---- */

static size_t of_paper(const struct image_corpus *c, uint32_t paper)
{
    return c->member_first[paper + 1] - c->member_first[paper];
}

static size_t labels_of(const struct image_corpus *c, size_t image)
{
    return c->image[image + 1].label_first - c->image[image].label_first;
}

static bool is_anchor(const struct image_sampler *x, size_t image)
{
    const struct image_corpus *c = x->corpus;
    size_t n = labels_of(c, image);
    return x->task == IMAGE_LABELS ? n > 0 && n < x->labels
                                   : of_paper(c, c->image[image].paper) > 1;
}

enum err_code image_sampler_init(struct image_sampler *x, const struct image_corpus *c,
                                 enum image_task task, enum image_negatives negatives,
                                 uint32_t labels, uint64_t seed, const char *role, struct err *e)
{
    *x = (struct image_sampler){c, task, negatives, labels, seed};
    if (negatives == IMAGE_NEGATIVES_FREQUENT)
        x->frequency = sum_frequencies(c, labels);
    for (size_t i = 0; i < c->n; i++)
        if (is_anchor(x, i))
            epoch_order_add(&x->anchors, (uint32_t)i);
    if (x->anchors.n == 0 && task == IMAGE_LABELS)
        return err_fail(e, ERR_INPUT, "%s: no image has some labels but not all", role);
    if (x->anchors.n == 0 || (task != IMAGE_LABELS && c->papers < 2))
        return err_fail(e, ERR_INPUT,
                        "%s: images of two papers are needed, and two of one; there are %zu "
                        "images of %zu papers",
                        role, c->n, c->papers);
    return OK;
}

void image_sampler_free(struct image_sampler *x)
{
    epoch_order_free(&x->anchors);
    free(x->frequency);
    *x = (struct image_sampler){0};
}

static uint64_t key_of(const void *sampler, uint64_t epoch, uint32_t image)
{
    const struct image_sampler *x = sampler;
    return rng_at(x->seed, epoch, x->corpus->image[image].mark);
}

static uint32_t turn(struct image_sampler *x, uint64_t k)
{
    struct epoch_order *o = &x->anchors;
    return epoch_order_item(o, k / o->n, k / o->n, k % o->n, key_of, x);
}

/* Draws another image of the anchor's paper. */
static uint32_t positive(const struct image_corpus *c, struct rng *r, uint32_t anchor)
{
    uint32_t paper = c->image[anchor].paper, first = c->member_first[paper];
    uint32_t at = first + (uint32_t)rng_below(r, of_paper(c, paper) - 1);
    return c->member[at] < anchor ? c->member[at] : c->member[at + 1];
}

/* Draws an image of another paper uniformly: members are ordered by paper. */
static uint32_t negative(const struct image_corpus *c, struct rng *r, uint32_t anchor)
{
    uint32_t paper = c->image[anchor].paper;
    size_t own = of_paper(c, paper), at = (size_t)rng_below(r, c->n - own);
    return c->member[at < c->member_first[paper] ? at : at + own];
}

/* Draws by frequency: the first label whose sum is above a random share of the total. */
static uint32_t draw_frequent(const struct image_sampler *x, struct rng *r)
{
    double at = rng_double(r) * x->frequency[x->labels - 1];
    uint32_t low = 0, high = x->labels - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (x->frequency[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static bool has_label(const uint32_t *own, size_t n, uint32_t label)
{
    for (size_t i = 0; i < n; i++)
        if (own[i] == label)
            return true;
    return false;
}

/* Draws one of the image's labels, or one that it does not have. */
static uint32_t draw_label(const struct image_sampler *x, struct rng *r, uint32_t image, bool right)
{
    const struct image_corpus *c = x->corpus;
    const uint32_t *own = c->label + c->image[image].label_first;
    size_t n = labels_of(c, image);
    if (right)
        return own[rng_below(r, n)];
    uint32_t label;
    if (x->negatives == IMAGE_NEGATIVES_FREQUENT) {
        do
            label = draw_frequent(x, r);
        while (has_label(own, n, label));
        return label;
    }
    label = (uint32_t)rng_below(r, x->labels - n);
    for (size_t i = 0; i < n && own[i] <= label; i++) /* ascending: skips its own labels */
        label++;
    return label;
}

struct image_example image_sampler_draw(struct image_sampler *x, uint64_t k)
{
    const struct image_corpus *c = x->corpus;
    uint32_t anchor = turn(x, k);
    struct rng r = rng_new(x->seed, k);
    struct image_example out = {.image = {anchor}};
    switch (x->task) {
    case IMAGE_LABELS:
        out.right = rng_below(&r, 2);
        out.label = draw_label(x, &r, anchor, out.right);
        break;
    case IMAGE_SIAMESE:
        out.right = x->negatives == IMAGE_NEGATIVES_ALL || rng_below(&r, 2);
        out.image[1] = out.right ? positive(c, &r, anchor) : negative(c, &r, anchor);
        break;
    case IMAGE_TRIPLES:
        out.image[1] = positive(c, &r, anchor);
        out.image[2] = x->negatives == IMAGE_NEGATIVES_ALL ? 0 : negative(c, &r, anchor);
        break;
    }
    return out;
}

struct image_batch image_sampler_batch(struct image_sampler *x, struct arena *a, size_t batch,
                                       uint64_t index)
{
    const struct image_corpus *c = x->corpus;
    size_t views = image_views(x->task, x->negatives == IMAGE_NEGATIVES_ALL);
    const uint8_t **pixels = arena_array(a, const uint8_t *, views *batch);
    struct image_truth *truth = arena_array(a, struct image_truth, batch);
    for (size_t i = 0; i < batch; i++) {
        struct image_example one = image_sampler_draw(x, index * batch + i);
        uint32_t anchor = one.image[0];
        for (size_t v = 0; v < views; v++)
            pixels[v * batch + i] = c->pixels + (size_t)one.image[v] * IMAGE_PIXELS;
        truth[i] =
            (struct image_truth){one.right, one.label, c->image[anchor].paper,
                                 c->label + c->image[anchor].label_first, labels_of(c, anchor)};
    }
    return (struct image_batch){batch, pixels, truth};
}
