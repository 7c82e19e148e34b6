/* See model.h.
 *
 *     "eqmodel" 01 | kind u16 | (length u32 | payload) ...
 *
 * Learning: the words of all samples' texts, by how often they occur, become the known words; then
 * each sample is coded once, and what that leaves behind is where every record starts from. What a
 * record itself teaches is forgotten after it, so records can be read in any order. */
#include "store/dense/model.h"

#include "schemas/canonical.h"
#include "store/dense/walk.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "eqmodel\1"

enum { HEAD = sizeof MAGIC - 1 + 2, IDLE = 16, KNOWN_WORDS = 2000 };

/* What codes one record at a time. */
struct instance {
    struct bits *bits;
    struct words words;
    struct arena arena; /* of one message */
};

struct dense_model {
    const struct kind_info *kind;
    size_t bytes;
    struct instance *original; /* never codes: others are copies */
    pthread_mutex_t lock;      /* of what follows */
    struct instance *idle[IDLE];
    size_t n_idle;
};

bool dense_serves(enum record_kind kind)
{
    return kind == KIND_CLUSTER || kind == KIND_TOKEN_BATCH || kind == KIND_EGRAPH ||
           kind == KIND_RULE || kind == KIND_EXPR;
}

bool dense_is_model(struct span content)
{
    return content.len >= HEAD && memcmp(content.data, MAGIC, sizeof MAGIC - 1) == 0;
}

static void put_le(struct buf *out, uint32_t value, int width)
{
    for (int i = 0; i < width; i++)
        buf_putc(out, (char)(uint8_t)(value >> (8 * i)));
}

static uint32_t get_le(const uint8_t *at, int width)
{
    uint32_t value = 0;
    for (int i = 0; i < width; i++)
        value |= (uint32_t)at[i] << (8 * i);
    return value;
}

void dense_content(struct buf *out, enum record_kind kind, const struct span *samples, size_t n)
{
    buf_add(out, MAGIC, sizeof MAGIC - 1);
    put_le(out, kind, 2);
    for (size_t i = 0; i < n; i++) {
        put_le(out, (uint32_t)samples[i].len, 4);
        buf_add(out, samples[i].data, samples[i].len);
    }
}

static void instance_free(struct instance *it)
{
    if (!it)
        return;
    bits_free(it->bits);
    words_free(&it->words);
    arena_free(&it->arena);
    free(it);
}

static struct instance *instance_copy(const struct instance *from)
{
    struct instance *it = calloc(1, sizeof *it);
    struct bits *bits = it ? bits_copy(from->bits) : NULL;
    if (!bits) {
        free(it);
        return NULL;
    }
    it->bits = bits;
    words_copy(&it->words, &from->words);
    return it;
}

static enum err_code no_memory(struct err *e)
{
    return err_fail(e, ERR_NOMEM, "out of memory for a model");
}

/* ---- learning ---- */

struct counted {
    const char *text;
    size_t n;
    uint64_t times;
};

struct counter {
    struct arena arena;
    struct name_map index; /* word -> place in list */
    struct counted *list;
    size_t n, cap;
};

static void count_words(struct counter *c, const char *text)
{
    for (bool more = *text != 0; more;) {
        size_t n = strcspn(text, " ");
        bool added;
        char *word = arena_strndup(&c->arena, text, n);
        uint64_t *at = name_map_put(&c->index, word, c->n, &added);
        if (added) {
            c->list = vec_grow(c->list, &c->cap, c->n + 1, sizeof *c->list);
            c->list[c->n++] = (struct counted){word, n, 0};
        }
        c->list[*at].times++;
        more = text[n] != 0;
        text += n + more;
    }
}

static void count_message(struct counter *c, const ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &type->fields[i];
        if (f->type != PROTOBUF_C_TYPE_STRING && f->type != PROTOBUF_C_TYPE_MESSAGE)
            continue;
        const char *member = (const char *)message + f->offset;
        size_t n = 1;
        if (f->label == PROTOBUF_C_LABEL_REPEATED) {
            n = *(const size_t *)((const char *)message + f->quantifier_offset);
            member = *(const char *const *)member;
        }
        for (size_t k = 0; k < n; k++) {
            const void *element = ((const void *const *)(const void *)member)[k];
            if (element && f->type == PROTOBUF_C_TYPE_STRING)
                count_words(c, element);
            else if (element)
                count_message(c, element);
        }
    }
}

static int by_times(const void *a, const void *b)
{
    const struct counted *x = a, *y = b;
    return x->times != y->times ? (x->times < y->times ? 1 : -1) : strcmp(x->text, y->text);
}

static void learn_words(struct instance *it, ProtobufCMessage *const *samples, size_t n)
{
    struct counter c = {0};
    for (size_t i = 0; i < n; i++)
        count_message(&c, samples[i]);
    if (c.n)
        qsort(c.list, c.n, sizeof *c.list, by_times);
    for (size_t i = 0; i < c.n && i < KNOWN_WORDS && c.list[i].times > 1; i++)
        words_add(&it->words, c.list[i].text, c.list[i].n);
    arena_free(&c.arena);
    name_map_free(&c.index);
    free(c.list);
}

/* False when the system has no memory. */
static bool code_message(struct instance *it, struct buf *out, ProtobufCMessage *message)
{
    struct walk w = {
        .bits = it->bits, .words = &it->words, .arena = &it->arena, .budget = SIZE_MAX};
    words_begin(&it->words);
    bits_write_begin(it->bits, out);
    bool whole = walk_message(&w, message->descriptor, message) != NULL;
    bits_write_end(it->bits);
    return whole;
}

static enum err_code read_samples(ProtobufCMessage ***out, size_t *n, struct arena *a,
                                  struct span content, const ProtobufCMessageDescriptor *type,
                                  struct err *e)
{
    size_t cap = 0;
    ProtobufCMessage **list = NULL;
    enum err_code code = OK;
    *n = 0;
    for (size_t at = HEAD; code == OK && at < content.len;) {
        size_t length = content.len - at < 4 ? SIZE_MAX : get_le(content.data + at, 4);
        if (length > content.len - at - 4) {
            code = err_fail(e, ERR_CORRUPT, "a model whose samples are cut off");
            break;
        }
        list = vec_grow(list, &cap, *n + 1, sizeof *list);
        code = canonical_unpack(&list[*n], a, type, span_of(content.data + at + 4, length), e);
        *n += code == OK;
        at += 4 + length;
    }
    *out = list;
    return err_up(e, code);
}

static enum err_code learn(struct dense_model *m, struct span content, struct err *e)
{
    struct arena a = {0};
    struct buf coded = {0};
    ProtobufCMessage **samples;
    size_t n;
    enum err_code code = read_samples(&samples, &n, &a, content, m->kind->descriptor, e);
    if (code == OK) {
        learn_words(m->original, samples, n);
        for (size_t i = 0; code == OK && i < n; i++) {
            buf_clear(&coded);
            if (!code_message(m->original, &coded, samples[i]))
                code = no_memory(e);
            arena_reset(&m->original->arena);
        }
        words_begin(&m->original->words);
        bits_remember(m->original->bits);
    }
    free(samples);
    buf_free(&coded);
    arena_free(&a);
    return err_up(e, code);
}

enum err_code dense_model_new(struct dense_model **out, struct span content, struct err *e)
{
    const struct kind_info *kind =
        dense_is_model(content)
            ? kind_info((enum record_kind)get_le(content.data + sizeof MAGIC - 1, 2))
            : NULL;
    if (!kind || !dense_serves(kind->kind))
        return err_fail(e, ERR_CORRUPT, "not a model");
    struct dense_model *m = calloc(1, sizeof *m);
    struct instance *original = m ? calloc(1, sizeof *original) : NULL;
    if (original)
        original->bits = bits_new();
    if (!original || !original->bits) {
        free(original);
        free(m);
        return no_memory(e);
    }
    m->kind = kind;
    m->bytes = content.len;
    m->original = original;
    words_init(&original->words);
    pthread_mutex_init(&m->lock, NULL);
    enum err_code code = learn(m, content, e);
    if (code == OK)
        *out = m;
    else
        dense_model_free(m);
    return err_up(e, code);
}

void dense_model_free(struct dense_model *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->n_idle; i++)
        instance_free(m->idle[i]);
    instance_free(m->original);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

enum record_kind dense_model_kind(const struct dense_model *m)
{
    return m->kind->kind;
}

size_t dense_model_bytes(const struct dense_model *m)
{
    return m->bytes;
}

/* ---- coding ---- */

static struct instance *take(struct dense_model *m)
{
    pthread_mutex_lock(&m->lock);
    struct instance *it = m->n_idle ? m->idle[--m->n_idle] : NULL;
    pthread_mutex_unlock(&m->lock);
    return it ? it : instance_copy(m->original);
}

static void give(struct dense_model *m, struct instance *it)
{
    bits_forget(it->bits);
    arena_reset(&it->arena);
    pthread_mutex_lock(&m->lock);
    if (m->n_idle < IDLE) {
        m->idle[m->n_idle++] = it;
        it = NULL;
    }
    pthread_mutex_unlock(&m->lock);
    instance_free(it);
}

enum err_code dense_write(struct buf *out, struct dense_model *m, struct span payload,
                          struct err *e)
{
    if (payload.len > DENSE_MAX_WRITTEN)
        return err_fail(e, ERR_LIMIT, "too long for a dense form");
    struct instance *it = take(m);
    if (!it)
        return no_memory(e);
    ProtobufCMessage *message;
    enum err_code code = canonical_unpack(&message, &it->arena, m->kind->descriptor, payload, e);
    if (code == OK && !code_message(it, out, message))
        code = no_memory(e);
    give(m, it);
    return err_up(e, code);
}

enum err_code dense_read(struct span *out, struct dense_model *m, struct span body, size_t length,
                         struct arena *a, struct err *e)
{
    if (length > DENSE_MAX_PAYLOAD)
        return err_fail(e, ERR_CORRUPT, "too long for a dense form");
    struct instance *it = take(m);
    if (!it)
        return no_memory(e);
    struct walk w = {.bits = it->bits, .words = &it->words, .arena = &it->arena, .budget = length};
    words_begin(&it->words);
    bits_read_begin(it->bits, body);
    ProtobufCMessage *message = walk_message(&w, m->kind->descriptor, NULL);
    enum err_code code = OK;
    if (!message || canonical_pack(out, a, message, NULL) != OK || out->len != length)
        code = err_fail(e, ERR_CORRUPT, "not what its model writes");
    give(m, it);
    return err_up(e, code);
}
