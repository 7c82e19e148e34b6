/* Rows for the first layer; see entry.h. */
#include "ops/learn/infer/entry.h"

#include <pthread.h>
#include <stdlib.h>

enum {
    MOST_ROWS = 1 << 13,
    MOST_BYTES = 1 << 25,
    AT_A_TIME = 512, /* rows, about: as many as a shard has */
};

struct entry_table {
    pthread_mutex_t mutex; /* of what follows */
    void *rows;
    bool made;
};

struct entry_table *entry_table_new(void)
{
    struct entry_table *t = calloc(1, sizeof *t);
    if (t)
        pthread_mutex_init(&t->mutex, NULL);
    return t;
}

void entry_table_free(struct entry_table *t, const struct loaded *m)
{
    if (!t)
        return;
    gpu_free(m->device, t->rows);
    pthread_mutex_destroy(&t->mutex);
    free(t);
}

static size_t row_bytes(const struct nn_config *c)
{
    return 3 * c->d_model * sizeof(float);
}

static bool worthwhile(const struct nn_config *c)
{
    size_t rows = (size_t)c->vocabulary * c->max_length;
    return c->layers && rows <= MOST_ROWS && rows * row_bytes(c) <= MOST_BYTES;
}

void entry_rows(uint32_t *row, const struct nn_sequences *s, const struct nn_config *c)
{
    for (size_t i = 0; i < s->n; i++)
        for (uint32_t t = s->offset[i]; t < s->offset[i + 1]; t++)
            row[t] = s->tokens[t] * c->max_length + (t - s->offset[i]);
}

/* Sequences of one token each, again and again, from token `first` on. */
static struct nn_sequences repeated(const struct nn_config *c, uint32_t first, size_t n,
                                    struct arena *a)
{
    uint32_t *tokens = arena_array(a, uint32_t, n * c->max_length);
    uint32_t *offset = arena_array(a, uint32_t, n + 1);
    for (size_t i = 0; i < n * c->max_length; i++)
        tokens[i] = first + (uint32_t)(i / c->max_length);
    for (size_t i = 0; i <= n; i++)
        offset[i] = (uint32_t)(i * c->max_length);
    return (struct nn_sequences){tokens, offset, n};
}

static enum err_code make_some(char *rows, struct loaded_memory *memory, const struct loaded *m,
                               struct gpu_queue *q, const struct nn_sequences *s, struct arena *a,
                               struct err *e)
{
    struct nn_tape tape;
    struct gpu_layout l = {0};
    nn_tape_layout(&tape, m->model, s, false, &l, a);
    enum err_code code = loaded_reserve(memory, m, l.used, e);
    if (code)
        return err_up(e, code);
    l = (struct gpu_layout){.base = memory->at};
    nn_tape_layout(&tape, m->model, s, false, &l, a);
    nn_tape_load(q, &tape, m->model, s, a);
    struct nn_weights w = loaded_weights(m);
    nn_encoder_entry(q, (float *)rows, m->model, &w, &tape);
    return err_up(e, gpu_finish(q, e));
}

static enum err_code make(struct entry_table *t, const struct loaded *m, struct gpu_queue *q,
                          struct arena *a, struct err *e)
{
    const struct nn_config *c = &m->model->config;
    size_t bytes = c->max_length * row_bytes(c), step = AT_A_TIME / c->max_length;
    struct loaded_memory memory = {0};
    enum err_code code = gpu_alloc(&t->rows, m->device, c->vocabulary * bytes, e);
    if (code)
        return err_up(e, code);
    step = step ? step : 1;
    for (uint32_t first = 0; first < c->vocabulary && !code; first += (uint32_t)step) {
        struct arena_mark mark = arena_mark(a);
        size_t n = c->vocabulary - first < step ? c->vocabulary - first : step;
        struct nn_sequences s = repeated(c, first, n, a);
        code = err_up(e, make_some((char *)t->rows + first * bytes, &memory, m, q, &s, a, e));
        arena_release(a, mark);
    }
    gpu_free(m->device, memory.at);
    if (code) {
        gpu_free(m->device, t->rows);
        t->rows = NULL;
    }
    return code;
}

enum err_code entry_table_get(const float **rows, struct entry_table *t, const struct loaded *m,
                              struct gpu_queue *q, struct arena *a, struct err *e)
{
    enum err_code code = OK;
    pthread_mutex_lock(&t->mutex);
    if (!t->made && worthwhile(&m->model->config))
        code = err_up(e, make(t, m, q, a, e));
    t->made = t->made || !code;
    *rows = t->rows;
    pthread_mutex_unlock(&t->mutex);
    return code;
}
