/* Convolution and max pooling; see ref.h. */
#include "tests/ref/ref.h"

#include <math.h>
#include <string.h>

void ref_convolve(double *y, const double *x, const double *filters, const double *bias,
                  const struct gpu_convolution *c)
{
    size_t h = c->height - c->filter_height + 1, w = c->width - c->filter_width + 1;
    for (size_t n = 0; n < c->images; n++)
        for (size_t i = 0; i < h; i++)
            for (size_t j = 0; j < w; j++)
                for (size_t o = 0; o < c->out; o++) {
                    double sum = bias ? bias[o] : 0;
                    for (size_t k = 0; k < c->filter_height; k++)
                        for (size_t l = 0; l < c->filter_width; l++)
                            for (size_t m = 0; m < c->in; m++)
                                sum += x[((n * c->height + i + k) * c->width + j + l) * c->in + m] *
                                       filters[((o * c->filter_height + k) * c->filter_width + l) *
                                                   c->in +
                                               m];
                    y[((n * h + i) * w + j) * c->out + o] = c->relu ? fmax(sum, 0) : sum;
                }
}

/* Where place `at` of the window lies in x. */
static size_t place(const struct gpu_max_pool *p, size_t n, size_t i, size_t j, size_t c, size_t at)
{
    size_t row = i * p->window_height + at / p->window_width;
    size_t column = j * p->window_width + at % p->window_width;
    return ((n * p->height + row) * p->width + column) * p->channels + c;
}

void ref_max_pool(double *y, uint8_t *at, const double *x, const struct gpu_max_pool *p)
{
    for (size_t n = 0; n < p->images; n++)
        for (size_t i = 0; i < p->height / p->window_height; i++)
            for (size_t j = 0; j < p->width / p->window_width; j++)
                for (size_t c = 0; c < p->channels; c++, y++, at++) {
                    *at = 0;
                    for (uint8_t k = 1; k < p->window_height * p->window_width; k++)
                        if (x[place(p, n, i, j, c, k)] > x[place(p, n, i, j, c, *at)])
                            *at = k;
                    *y = x[place(p, n, i, j, c, *at)];
                }
}

void ref_max_pool_back(double *dx, const float *dy, const uint8_t *at, const struct gpu_max_pool *p)
{
    memset(dx, 0, p->images * p->height * p->width * p->channels * sizeof *dx);
    for (size_t n = 0; n < p->images; n++)
        for (size_t i = 0; i < p->height / p->window_height; i++)
            for (size_t j = 0; j < p->width / p->window_width; j++)
                for (size_t c = 0; c < p->channels; c++)
                    dx[place(p, n, i, j, c, *at++)] = (double)*dy++;
}
