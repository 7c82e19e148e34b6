/* Assignments; see assignment.h. The best one is found by shortest augmenting paths (Jonker and
 * Volgenant 1987): rows are added to the matching one by one along the cheapest alternating path,
 * with dual variables u and v of rows and columns that keep all reduced costs nonnegative. */
#include "ops/eval/measure/assignment.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

void assignment_best(uint32_t *column, struct arena *a, const double *gain, uint32_t n)
{
    double *u = arena_array(a, double, n + 1), *v = arena_array(a, double, n + 1);
    double *distance = arena_array(a, double, n + 1); /* of each column from the row being added */
    uint32_t *from = arena_array(a, uint32_t, n + 1); /* previous column on the path */
    uint32_t *row_of = arena_array(a, uint32_t, n + 1); /* of each column; n: none */
    bool *done = arena_array(a, bool, n + 1);
    for (uint32_t j = 0; j <= n; j++)
        row_of[j] = n;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = n; /* a virtual column matched to the row being added */
        row_of[n] = i;
        for (uint32_t j = 0; j <= n; j++) {
            distance[j] = j < n ? INFINITY : 0;
            done[j] = false;
        }
        while (row_of[at] != n) {
            uint32_t row = row_of[at], next = n;
            done[at] = true;
            for (uint32_t j = 0; j < n; j++) {
                double d = distance[at] - gain[(size_t)row * n + j] - u[row] - v[j];
                if (done[j])
                    continue;
                if (d < distance[j]) {
                    distance[j] = d;
                    from[j] = at;
                }
                next = next == n || distance[j] < distance[next] ? j : next;
            }
            at = next;
        }
        for (uint32_t j = 0; j <= n; j++)
            if (done[j]) {
                u[row_of[j]] += distance[at] - distance[j];
                v[j] -= distance[at] - distance[j];
            }
        for (; at != n; at = from[at])
            row_of[at] = row_of[from[at]];
    }
    for (uint32_t j = 0; j < n; j++)
        column[row_of[j]] = j;
}

struct cell {
    double gain;
    uint32_t row, column;
};

static int compare_cells(const void *x, const void *y)
{
    const struct cell *a = x, *b = y;
    if (a->gain != b->gain)
        return a->gain > b->gain ? -1 : 1;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return (a->column > b->column) - (a->column < b->column);
}

void assignment_greedy(uint32_t *column, struct arena *a, const double *gain, uint32_t n)
{
    struct cell *cells = arena_array(a, struct cell, (size_t)n * n + 1);
    bool *used = arena_array(a, bool, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        column[i] = n;
        for (uint32_t j = 0; j < n; j++)
            cells[(size_t)i * n + j] = (struct cell){gain[(size_t)i * n + j], i, j};
    }
    qsort(cells, (size_t)n * n, sizeof *cells, compare_cells);
    for (size_t k = 0; k < (size_t)n * n; k++)
        if (column[cells[k].row] == n && !used[cells[k].column]) {
            column[cells[k].row] = cells[k].column;
            used[cells[k].column] = true;
        }
}

void clustering_measure(struct clustering_accuracy *out, struct arena *a, const struct vectors *v,
                        const uint32_t *label)
{
    uint32_t k = v->n_clusters;
    double *fraction = arena_array(a, double, (size_t)k *k);
    uint32_t *size = arena_array(a, uint32_t, k), *column = arena_array(a, uint32_t, k);
    for (uint32_t i = 0; i < v->n; i++)
        size[v->cluster[i]]++;
    for (uint32_t i = 0; i < v->n; i++)
        fraction[(size_t)v->cluster[i] * k + label[i]] += 1;
    for (uint32_t c = 0; c < k; c++)
        for (uint32_t l = 0; l < k && size[c]; l++)
            fraction[(size_t)c * k + l] /= size[c];
    *out = (struct clustering_accuracy){0};
    assignment_best(column, a, fraction, k);
    for (uint32_t c = 0; c < k; c++)
        out->best += fraction[(size_t)c * k + column[c]] / k;
    assignment_greedy(column, a, fraction, k);
    for (uint32_t c = 0; c < k; c++)
        out->greedy += fraction[(size_t)c * k + column[c]] / k;
}
