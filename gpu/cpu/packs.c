/* Packed weights; see packs.h. A list: a model has some dozens, a product is long beside a search
 * through them. */
#include "gpu/cpu/packs.h"

#include "gpu/cpu/cpu.h"

#include <pthread.h>
#include <stdlib.h>

struct pack {
    struct pack *next;
    struct amx_operand operand;
    uint32_t *words;
    pthread_mutex_t mutex; /* of what follows */
    bool ready;
};

struct cpu_packs {
    pthread_mutex_t mutex; /* of the list; packs stay where they are */
    struct pack *first;
};

struct cpu_packs *packs_new(void)
{
    struct cpu_packs *p = calloc(1, sizeof *p);
    if (p)
        pthread_mutex_init(&p->mutex, NULL);
    return p;
}

void packs_free(struct cpu_packs *p)
{
    if (!p)
        return;
    for (struct pack *k = p->first, *next; k; k = next) {
        next = k->next;
        pthread_mutex_destroy(&k->mutex);
        free(k->words);
        free(k);
    }
    pthread_mutex_destroy(&p->mutex);
    free(p);
}

void packs_forget(struct cpu_packs *p)
{
    for (struct pack *k = p->first; k; k = k->next)
        k->ready = false;
}

static bool same(const struct amx_operand *a, const struct amx_operand *b)
{
    return a->at == b->at && a->ld == b->ld && a->free == b->free && a->k == b->k &&
           a->k_major == b->k_major && a->left == b->left && a->precision == b->precision;
}

static struct pack *find(struct cpu_packs *p, const struct amx_operand *o)
{
    for (struct pack *k = p->first; k; k = k->next)
        if (same(&k->operand, o))
            return k;
    return NULL;
}

static struct pack *add(struct cpu_packs *p, const struct amx_operand *o)
{
    struct pack *k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    k->operand = *o;
    k->words = cpu_alloc(amx_words(o) * sizeof *k->words);
    if (!k->words) {
        free(k);
        return NULL;
    }
    pthread_mutex_init(&k->mutex, NULL);
    k->next = p->first;
    p->first = k;
    return k;
}

const uint32_t *packs_get(struct cpu_packs *p, const struct amx_operand *o, amx_packer *pack)
{
    pthread_mutex_lock(&p->mutex);
    struct pack *k = find(p, o);
    if (!k)
        k = add(p, o);
    pthread_mutex_unlock(&p->mutex);
    if (!k)
        return NULL;
    pthread_mutex_lock(&k->mutex);
    if (!k->ready)
        pack(k->words, o);
    k->ready = true;
    pthread_mutex_unlock(&k->mutex);
    return k->words;
}
