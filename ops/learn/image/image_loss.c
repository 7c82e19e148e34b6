/* See image_loss.h. All sums are in double: there are few vectors. */
#include "ops/learn/image/image_loss.h"

#include <math.h>

static const double EPSILON = 1e-5; /* added to lengths */

/* Vectors u (n, d), the original lengths, and d loss / d u. */
struct unit {
    size_t d;
    double *u, *length, *du;
};

static double length_of(const float *x, size_t d)
{
    double squares = 0;
    for (size_t c = 0; c < d; c++)
        squares += (double)x[c] * (double)x[c];
    return sqrt(squares);
}

void image_unit(float *x, size_t d)
{
    double length = length_of(x, d);
    for (size_t c = 0; c < d; c++)
        x[c] = (float)((double)x[c] / (length + EPSILON));
}

/* If as_they_are, u = x. */
static struct unit normalize(const float *x, size_t n, size_t d, bool as_they_are, struct arena *a)
{
    struct unit v = {d, arena_array(a, double, n *d), arena_array(a, double, n),
                     arena_array(a, double, n *d)};
    for (size_t i = 0; i < n; i++) {
        v.length[i] = length_of(x + i * d, d);
        for (size_t c = 0; c < d; c++)
            v.u[i * d + c] = (double)x[i * d + c] / (as_they_are ? 1 : v.length[i] + EPSILON);
    }
    return v;
}

/* With r = |x|, u = x / (r + eps): dx = (du - u (x . du) / r) / (r + eps). */
static void normalize_back(float *x, const struct unit *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double *u = v->u + i * v->d, *du = v->du + i * v->d;
        double r = v->length[i], along = 0;
        for (size_t c = 0; c < v->d; c++)
            along += r > 0 ? (double)x[i * v->d + c] * du[c] / r : 0;
        for (size_t c = 0; c < v->d; c++)
            x[i * v->d + c] = (float)((du[c] - u[c] * along) / (r + EPSILON));
    }
}

static double product(const struct unit *v, size_t i, size_t j)
{
    double sum = 0;
    for (size_t c = 0; c < v->d; c++)
        sum += v->u[i * v->d + c] * v->u[j * v->d + c];
    return sum;
}

/* Adds to du of i and j; g is the derivative of the loss by their product. */
static void product_back(struct unit *v, size_t i, size_t j, double g)
{
    for (size_t c = 0; c < v->d; c++) {
        v->du[i * v->d + c] += g * v->u[j * v->d + c];
        v->du[j * v->d + c] += g * v->u[i * v->d + c];
    }
}

static double in_order(double difference)
{
    return difference > 0 ? 1 : difference == 0 ? 0.5 : 0;
}

/* Returns the hinge of z and its derivative. */
static double hinge(double *slope, double z, bool linear)
{
    double h = z > 0 ? z : 0;
    *slope = linear ? z > 0 : 2 * h;
    return linear ? h : h * h;
}

static void pair(struct image_score *s, struct unit *v, const struct image_loss *how, size_t i,
                 size_t j, bool right, double weight)
{
    double y = right ? 1 : -1, g, p = product(v, i, j);
    s->loss += weight * hinge(&g, how->margin - y * p, how->linear);
    s->accuracy += weight * in_order(y * p);
    product_back(v, i, j, -y * g * weight);
}

static void triple(struct image_score *s, struct unit *v, const struct image_loss *how,
                   size_t anchor, size_t positive, size_t negative, double weight)
{
    double near = product(v, anchor, positive), far = product(v, anchor, negative), g;
    double swapped = how->swap ? product(v, positive, negative) : far;
    s->accuracy += weight * in_order(near - far);
    s->loss += weight * hinge(&g, how->margin - near + fmax(far, swapped), how->linear);
    product_back(v, anchor, positive, -g * weight);
    product_back(v, swapped > far ? positive : anchor, negative, g * weight);
}

/* z: added to the product. */
static void label(struct image_score *s, struct unit *v, size_t i, const float *w, float *gradient,
                  double z, bool right, double weight)
{
    double sign = right ? 1 : -1;
    for (size_t c = 0; c < v->d; c++)
        z += v->u[i * v->d + c] * (double)w[c];
    /* log(1 + exp(-sign z)), without overflow */
    s->loss += weight * (fmax(0, -sign * z) + log1p(exp(-fabs(z))));
    s->accuracy += weight * in_order(sign * z);
    double g = -sign / (1 + exp(sign * z)) * weight;
    for (size_t c = 0; c < v->d; c++) {
        v->du[i * v->d + c] += g * (double)w[c];
        if (gradient)
            gradient[c] += (float)(g * v->u[i * v->d + c]);
    }
}

static void one_negative(struct image_score *s, struct unit *v, const struct image_loss *how,
                         size_t i, const float *labels, float *gradient)
{
    const struct image_truth *t = &how->truth[i];
    size_t at = t->label * v->d;
    double weight = 1 / (double)how->batch;
    switch (how->task) {
    case IMAGE_LABELS:
        label(s, v, i, labels + at, gradient ? gradient + at : NULL, 0, t->right, weight);
        break;
    case IMAGE_SIAMESE: pair(s, v, how, i, how->batch + i, t->right, weight); break;
    case IMAGE_TRIPLES: triple(s, v, how, i, how->batch + i, 2 * how->batch + i, weight); break;
    }
}

static void all_labels(struct image_score *s, struct unit *v, const struct image_loss *how,
                       size_t i, const float *labels, float *gradient)
{
    const struct image_truth *t = &how->truth[i];
    double weight = 1 / (double)how->batch / (double)how->labels;
    for (size_t y = 0, own = 0; y < how->labels; y++) {
        bool right = own < t->n_own && t->own[own] == y;
        own += right;
        label(s, v, i, labels + y * v->d, gradient ? gradient + y * v->d : NULL, how->odds[y],
              right, weight);
    }
}

/* The negatives are the anchors and positives of other papers. */
static void all_images(struct image_score *s, struct unit *v, const struct image_loss *how,
                       size_t i)
{
    size_t n = how->batch, others = 0;
    double whole = 1 / (double)n;
    for (size_t k = 0; k < n; k++)
        others += 2 * (how->truth[k].paper != how->truth[i].paper);
    if (how->task == IMAGE_SIAMESE)
        pair(s, v, how, i, n + i, true, whole / 2);
    for (size_t k = 0; k < 2 * n; k++) {
        if (how->truth[k % n].paper == how->truth[i].paper)
            continue;
        if (how->task == IMAGE_SIAMESE)
            pair(s, v, how, i, k, false, whole / 2 / (double)others);
        else
            triple(s, v, how, i, n + i, k, whole / (double)others);
    }
}

struct image_score image_loss(float *x, size_t d, const struct image_loss *how, const float *labels,
                              float *gradient, bool differentiate, struct arena *a)
{
    size_t n = image_views(how->task, how->all_negatives) * how->batch;
    bool as_they_are = how->task == IMAGE_LABELS && how->all_negatives;
    struct unit v = normalize(x, n, d, as_they_are, a);
    struct image_score s = {0};
    float *to = differentiate ? gradient : NULL;
    for (size_t i = 0; i < how->batch; i++)
        if (!how->all_negatives)
            one_negative(&s, &v, how, i, labels, to);
        else if (how->task == IMAGE_LABELS)
            all_labels(&s, &v, how, i, labels, to);
        else
            all_images(&s, &v, how, i);
    if (differentiate && !as_they_are)
        normalize_back(x, &v, n);
    for (size_t i = 0; i < n * d && differentiate && as_they_are; i++)
        x[i] = (float)v.du[i];
    return s;
}
