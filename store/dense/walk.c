/* See walk.h. Fields are coded in the order of their numbers, but for texts, which come first: what
 * else a message holds often follows from them. Every field is coded, absent ones as their default,
 * so that the order needs no room; repeated ones as their count, then their elements. */
#include "store/dense/walk.h"

#include "store/dense/graph.h"

#include "egraph.pb-c.h"

#include <string.h>

enum { MIXER_NUMBER = 8, MIXER_ARRAY = 10 };

uint64_t walk_field(const char *name)
{
    uint64_t h = 1;
    for (; *name; name++)
        h = bits_hash(h, (uint8_t)*name);
    return h;
}

bool walk_afford(struct walk *w, uint64_t n, size_t size)
{
    if (n > w->budget / size)
        w->bad = true;
    else
        w->budget -= n * size;
    return !w->bad;
}

uint32_t walk_number(struct walk *w, uint64_t field, uint64_t c1, uint64_t c2, uint64_t c3,
                     uint32_t value)
{
    uint64_t h[4] = {field, bits_hash(field + 1, c1), bits_hash(field + 2, c2),
                     bits_hash(field + 3, c3)};
    return bits_number(w->bits, h, 4, MIXER_ARRAY, value);
}

/* ---- scalars ---- */

static size_t scalar_size(ProtobufCType type)
{
    switch (type) {
    case PROTOBUF_C_TYPE_BOOL: return sizeof(protobuf_c_boolean);
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_ENUM: return 4;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE: return 8;
    case PROTOBUF_C_TYPE_STRING: return sizeof(char *);
    case PROTOBUF_C_TYPE_BYTES: return sizeof(ProtobufCBinaryData);
    case PROTOBUF_C_TYPE_MESSAGE: return sizeof(ProtobufCMessage *);
    }
    return 0;
}

static bool is_scalar(ProtobufCType type)
{
    return type != PROTOBUF_C_TYPE_STRING && type != PROTOBUF_C_TYPE_BYTES &&
           type != PROTOBUF_C_TYPE_MESSAGE;
}

static uint64_t load(const void *from, size_t size)
{
    uint32_t half;
    uint64_t whole;
    if (size == 8) {
        memcpy(&whole, from, 8);
        return whole;
    }
    memcpy(&half, from, 4);
    return half;
}

static void store(void *to, uint64_t value, size_t size)
{
    uint32_t half = (uint32_t)value;
    memcpy(to, size == 8 ? (const void *)&value : &half, size);
}

static uint64_t code_scalar(struct walk *w, const uint64_t h[], unsigned n, unsigned mixer,
                            size_t size, uint64_t value)
{
    uint64_t upper[BITS_CONTEXTS], out = 0;
    if (size == 8) {
        memcpy(upper, h, n * sizeof *h);
        bits_narrow(upper, n, 1);
        out = (uint64_t)bits_number(w->bits, upper, n, mixer, (uint32_t)(value >> 32)) << 32;
    }
    return out | bits_number(w->bits, h, n, mixer, (uint32_t)value);
}

static void code_single(struct walk *w, uint64_t field, void *member, const void *sibling,
                        size_t size)
{
    uint64_t before = sibling ? load(sibling, size) : 0;
    uint64_t h[3] = {field, bits_hash(field + 1, before), bits_hash(field + 2, w->last_words)};
    store(member, code_scalar(w, h, 3, MIXER_NUMBER, size, load(member, size)), size);
}

/* ---- lists of numbers ---- */

/* Lists that ascend are coded by their steps. */
static bool ascends(const char *name)
{
    return strcmp(name, "offset") == 0;
}

static void code_array(struct walk *w, const ProtobufCFieldDescriptor *f, uint64_t field,
                       char *array, size_t n, size_t size)
{
    uint64_t one = 0, two = 0, three = 0, last = 0;
    bool steps = ascends(f->name);
    for (size_t i = 0; i < n && !w->bad; i++) {
        uint64_t value = load(array + i * size, size) - (steps ? last : 0);
        uint64_t h[5] = {
            field, bits_hash(field + 1, one), bits_hash(field + 2, bits_hash(one, two)),
            bits_hash(field + 3, bits_hash(bits_hash(one, two), three)), bits_hash(field + 4, i)};
        value = code_scalar(w, h, 5, MIXER_ARRAY, size, size == 4 ? (uint32_t)value : value);
        three = two, two = one, one = value;
        last = steps ? last + value : value;
        store(array + i * size, last, size);
        w->bad = w->bad || bits_overrun(w->bits);
    }
}

/* ---- texts and bytes ---- */

void walk_text(struct walk *w, uint64_t field, const uint64_t *hints, char **member)
{
    uint32_t count;
    size_t limit = bits_reading(w->bits) ? w->budget : SIZE_MAX;
    char *text = words_code(&count, w->words, w->bits, w->arena, field, hints, *member, limit);
    if (!text || !walk_afford(w, *text != 0, 1 + strlen(text))) {
        w->bad = true;
        text = (char *)"";
    }
    w->last_words = count;
    if (bits_reading(w->bits))
        *member = text;
}

/* Mostly ids, which nothing predicts. */
static void code_bytes(struct walk *w, uint64_t field, ProtobufCBinaryData *member)
{
    uint32_t n = walk_number(w, field, 0, 0, 0, (uint32_t)member->len);
    if (!walk_afford(w, n, 1))
        return;
    if (bits_reading(w->bits))
        *member = (ProtobufCBinaryData){n, arena_zalloc(w->arena, n + 1)};
    for (uint32_t i = 0; i < n && !w->bad; i++) {
        member->data[i] = (uint8_t)bits_plain(w->bits, 8, member->data[i]);
        w->bad = bits_overrun(w->bits);
    }
}

/* ---- messages ---- */

static void code_message(struct walk *w, const ProtobufCMessageDescriptor *type,
                         ProtobufCMessage *message, const ProtobufCMessage *sibling, uint64_t path);

static void code_child(struct walk *w, const ProtobufCFieldDescriptor *f, uint64_t field,
                       ProtobufCMessage **member, const ProtobufCMessage *sibling)
{
    const ProtobufCMessageDescriptor *type = f->descriptor;
    if (bits_reading(w->bits)) {
        *member = arena_zalloc(w->arena, type->sizeof_message);
        protobuf_c_message_init(type, *member);
    }
    code_message(w, type, *member, sibling, field);
}

static void code_element(struct walk *w, const ProtobufCFieldDescriptor *f, uint64_t field,
                         char *member, const char *before)
{
    if (f->type == PROTOBUF_C_TYPE_STRING)
        walk_text(w, field, NULL, (char **)member);
    else if (f->type == PROTOBUF_C_TYPE_BYTES)
        code_bytes(w, field, (ProtobufCBinaryData *)member);
    else
        code_child(w, f, field, (ProtobufCMessage **)member,
                   before ? *(ProtobufCMessage *const *)before : NULL);
}

static void code_repeated(struct walk *w, const ProtobufCFieldDescriptor *f, uint64_t field,
                          size_t *count, char **list)
{
    size_t size = scalar_size(f->type);
    size_t n = walk_number(w, field + 1, w->last_words, 0, 0, (uint32_t)*count);
    /* As little as an element takes in canonical form; a string pays for its length itself. */
    if (!walk_afford(w, n, f->type == PROTOBUF_C_TYPE_MESSAGE ? 2 : 1))
        return;
    if (bits_reading(w->bits) && n) {
        *list = arena_try_alloc(w->arena, n, size);
        if (!*list) {
            w->bad = true;
            return;
        }
        memset(*list, 0, n * size);
        *count = n;
    }
    if (is_scalar(f->type)) {
        code_array(w, f, field, *list, n, size);
        return;
    }
    for (size_t i = 0; i < n && !w->bad; i++)
        code_element(w, f, field, *list + i * size, i ? *list + (i - 1) * size : NULL);
}

static void code_field(struct walk *w, const ProtobufCFieldDescriptor *f, ProtobufCMessage *message,
                       const ProtobufCMessage *sibling, uint64_t path)
{
    uint64_t field = bits_hash(path, f->id) << 4;
    char *member = (char *)message + f->offset;
    if (f->label == PROTOBUF_C_LABEL_REPEATED) {
        code_repeated(w, f, field, (size_t *)((char *)message + f->quantifier_offset),
                      (char **)member);
    } else if (is_scalar(f->type)) {
        code_single(w, field, member, sibling ? (const char *)sibling + f->offset : NULL,
                    scalar_size(f->type));
    } else if (f->type != PROTOBUF_C_TYPE_MESSAGE ||
               walk_number(w, field + 1, 0, 0, 0, *(ProtobufCMessage **)member != NULL)) {
        code_element(w, f, field, member, sibling ? (const char *)sibling + f->offset : NULL);
    }
}

static void code_message(struct walk *w, const ProtobufCMessageDescriptor *type,
                         ProtobufCMessage *message, const ProtobufCMessage *sibling, uint64_t path)
{
    bool graph = type == &eqloom__egraph__descriptor && graph_code(w, message);
    for (int texts = 1; texts >= 0; texts--)
        for (unsigned i = 0; i < type->n_fields && !w->bad; i++)
            if ((type->fields[i].type == PROTOBUF_C_TYPE_STRING) == texts &&
                !(graph && graph_has_field(&type->fields[i])))
                code_field(w, &type->fields[i], message, sibling, path);
    w->bad = w->bad || bits_overrun(w->bits);
}

ProtobufCMessage *walk_message(struct walk *w, const ProtobufCMessageDescriptor *type,
                               ProtobufCMessage *message)
{
    if (bits_reading(w->bits)) {
        message = arena_zalloc(w->arena, type->sizeof_message);
        protobuf_c_message_init(type, message);
    }
    code_message(w, type, message, NULL, 0);
    return w->bad ? NULL : message;
}
