/* Assignments; see assignment.h. The best one by shortest augmenting paths (Jonker and Volgenant
 * 1987): row after row is added to the matching along the cheapest alternating path, with dual
 * variables that keep all reduced costs nonnegative. */
#include "ops/eval/measure/assignment.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

struct matching {
    uint32_t n;
    const double *gain;
    double *u, *v;    /* duals of rows and columns */
    uint32_t *row_of; /* of each column; n: none */
    double *distance; /* of each column from the row being added */
    uint32_t *from;   /* row before it on the path */
    bool *done;
};

static void augment(struct matching *m, uint32_t start)
{
    uint32_t n = m->n, row = start, column = n;
    double at = 0; /* distance of the column last reached */
    for (uint32_t j = 0; j < n; j++) {
        m->distance[j] = INFINITY;
        m->done[j] = false;
    }
    for (;;) {
        for (uint32_t j = 0; j < n; j++) {
            double d = at - m->gain[(size_t)row * n + j] - m->u[row] - m->v[j];
            if (!m->done[j] && d < m->distance[j]) {
                m->distance[j] = d;
                m->from[j] = row;
            }
        }
        column = n;
        for (uint32_t j = 0; j < n; j++)
            if (!m->done[j] && (column == n || m->distance[j] < m->distance[column]))
                column = j;
        at = m->distance[column];
        if (m->row_of[column] == n)
            break;
        m->done[column] = true;
        row = m->row_of[column];
    }
    m->u[start] += at;
    for (uint32_t j = 0; j < n; j++)
        if (m->done[j]) {
            m->v[j] -= at - m->distance[j];
            m->u[m->row_of[j]] += at - m->distance[j];
        }
    /* Shift the matching along the path back to the start; from[] leads from column to row, and a
     * row's old column is the one that it was reached through. */
    for (;;) {
        uint32_t r = m->from[column], next = n;
        for (uint32_t j = 0; j < n && r != start; j++)
            if (m->row_of[j] == r) {
                next = j;
                break;
            }
        m->row_of[column] = r;
        if (r == start)
            return;
        column = next;
    }
}

void assignment_best(uint32_t *column, struct arena *a, const double *gain, uint32_t n)
{
    struct matching m = {.n = n,
                         .gain = gain,
                         .u = arena_array(a, double, n + 1),
                         .v = arena_array(a, double, n + 1),
                         .row_of = arena_array(a, uint32_t, n + 1),
                         .distance = arena_array(a, double, n + 1),
                         .from = arena_array(a, uint32_t, n + 1),
                         .done = arena_array(a, bool, n + 1)};
    for (uint32_t j = 0; j < n; j++)
        m.row_of[j] = n;
    for (uint32_t i = 0; i < n; i++)
        augment(&m, i);
    for (uint32_t j = 0; j < n; j++)
        column[m.row_of[j]] = j;
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
