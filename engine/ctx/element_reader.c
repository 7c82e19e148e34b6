/* Windowed access to a collection; see element_reader.h. */
#include "engine/ctx/element_reader.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { WINDOW = 256 };

struct elements {
    pthread_mutex_t mutex;
    struct collection *reader;
    uint64_t count;
    uint64_t from, n; /* what the window holds */
    struct digest window[WINDOW];
};

enum err_code elements_open(struct elements **out, struct store *s, const struct digest *id,
                            struct err *e)
{
    struct collection *reader;
    enum err_code code = collection_open(&reader, s, id, e);
    if (code)
        return err_up(e, code);
    struct elements *el = calloc(1, sizeof *el);
    if (!el) {
        collection_close(reader);
        return err_fail(e, ERR_NOMEM, "no memory to read a collection");
    }
    pthread_mutex_init(&el->mutex, NULL);
    el->reader = reader;
    el->count = collection_count(reader);
    *out = el;
    return OK;
}

void elements_close(struct elements *el)
{
    if (!el)
        return;
    collection_close(el->reader);
    pthread_mutex_destroy(&el->mutex);
    free(el);
}

uint64_t elements_count(const struct elements *el)
{
    return el->count;
}

enum err_code elements_at(struct digest *id, struct elements *el, uint64_t i, struct err *e)
{
    assert(i < el->count);
    enum err_code code = OK;
    pthread_mutex_lock(&el->mutex);
    if (i < el->from || i >= el->from + el->n) {
        uint64_t from = i / WINDOW * WINDOW;
        uint64_t n = el->count - from < WINDOW ? el->count - from : WINDOW;
        el->n = 0;
        code = collection_ids(el->window, el->reader, from, n, e);
        if (!code) {
            el->from = from;
            el->n = n;
        }
    }
    if (!code)
        *id = el->window[i - el->from];
    pthread_mutex_unlock(&el->mutex);
    return err_up(e, code);
}
