/* The canonical wire form (docs/format.md, section 1): of the many byte strings that protobuf
 * accepts for a message, the one that we hash and store.
 *
 * The checker walks the bytes along the message's descriptor and rejects any other form, so that
 * unpacking and packing again always yields the same bytes. Packing is done by protobuf-c and then
 * checked: whatever is packed can be unpacked. */
#include "schemas/canonical.h"

#include "base/text/utf8.h"

#include <assert.h>
#include <string.h>

enum { MAX_DEPTH = 32 };

struct walk {
    const uint8_t *start; /* of the whole payload, for offsets in messages */
    enum err_code code;   /* ERR_CORRUPT when reading, ERR_INPUT when packing */
    struct err *e;
};

struct cursor {
    const uint8_t *at, *end;
};

static enum err_code refuse(const struct walk *w, const ProtobufCMessageDescriptor *type,
                            const ProtobufCFieldDescriptor *field, const uint8_t *at,
                            const char *what)
{
    return err_fail(w->e, w->code, "not canonical: %s%s%s: %s (byte %zu)", type->name,
                    field ? "." : "", field ? field->name : "", what, (size_t)(at - w->start));
}

/* Returns NULL, or a description of the fault. */
static inline const char *read_varint(uint64_t *out, struct cursor *c)
{
    if (c->at < c->end && *c->at < 0x80) { /* the common case */
        *out = *c->at++;
        return NULL;
    }
    uint64_t value = 0;
    for (unsigned shift = 0; c->at < c->end; shift += 7) {
        uint8_t byte = *c->at++;
        if (shift == 63 && byte > 1)
            return "a varint of more than 64 bits";
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            if (byte == 0 && shift > 0)
                return "a varint longer than needed";
            *out = value;
            return NULL;
        }
    }
    return "a varint that is cut off";
}

/* Returns the length of the prefix that is ASCII without NUL; checks 8 bytes at a time, since most
 * stored bytes are text. */
static size_t plain_prefix(const uint8_t *s, size_t n)
{
    const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    size_t i = 0, last = n < 8 ? 0 : n - 8; /* start of the last word; it may overlap */
    for (uint64_t word; i + sizeof word <= n; i = i < last && i + 8 > last ? last : i + 8) {
        memcpy(&word, s + i, sizeof word);
        /* A top bit is set, or was borrowed from a zero byte. */
        if ((word | (word - ones)) & tops)
            break;
    }
    while (i < n && s[i] - 1u < 0x7f)
        i++;
    return i;
}

/* Encoding of each type. For varints: the maximum value, and whether a negative one is
 * sign-extended to 64 bits; for floating point: the sign bit. */
static const struct {
    ProtobufCWireType wire;
    uint64_t most;
    bool extended;
    uint64_t sign;
} types[] = {
    [PROTOBUF_C_TYPE_INT32] = {PROTOBUF_C_WIRE_TYPE_VARINT, INT32_MAX, true},
    [PROTOBUF_C_TYPE_ENUM] = {PROTOBUF_C_WIRE_TYPE_VARINT, INT32_MAX, true},
    [PROTOBUF_C_TYPE_UINT32] = {PROTOBUF_C_WIRE_TYPE_VARINT, UINT32_MAX},
    [PROTOBUF_C_TYPE_SINT32] = {PROTOBUF_C_WIRE_TYPE_VARINT, UINT32_MAX},
    [PROTOBUF_C_TYPE_INT64] = {PROTOBUF_C_WIRE_TYPE_VARINT, UINT64_MAX},
    [PROTOBUF_C_TYPE_SINT64] = {PROTOBUF_C_WIRE_TYPE_VARINT, UINT64_MAX},
    [PROTOBUF_C_TYPE_UINT64] = {PROTOBUF_C_WIRE_TYPE_VARINT, UINT64_MAX},
    [PROTOBUF_C_TYPE_BOOL] = {PROTOBUF_C_WIRE_TYPE_VARINT, 1},
    [PROTOBUF_C_TYPE_SFIXED32] = {PROTOBUF_C_WIRE_TYPE_32BIT},
    [PROTOBUF_C_TYPE_FIXED32] = {PROTOBUF_C_WIRE_TYPE_32BIT},
    [PROTOBUF_C_TYPE_FLOAT] = {PROTOBUF_C_WIRE_TYPE_32BIT, .sign = (uint64_t)1 << 31},
    [PROTOBUF_C_TYPE_SFIXED64] = {PROTOBUF_C_WIRE_TYPE_64BIT},
    [PROTOBUF_C_TYPE_FIXED64] = {PROTOBUF_C_WIRE_TYPE_64BIT},
    [PROTOBUF_C_TYPE_DOUBLE] = {PROTOBUF_C_WIRE_TYPE_64BIT, .sign = (uint64_t)1 << 63},
    [PROTOBUF_C_TYPE_STRING] = {PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED},
    [PROTOBUF_C_TYPE_BYTES] = {PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED},
    [PROTOBUF_C_TYPE_MESSAGE] = {PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED},
};

/* Reads one scalar; *zero is set if it is the default, which for floating point is zero of either
 * sign. Returns NULL, or a description of the fault. */
static const char *read_scalar(bool *zero, struct cursor *c, ProtobufCType type)
{
    uint64_t value = 0;
    if (types[type].wire == PROTOBUF_C_WIRE_TYPE_VARINT) {
        const char *wrong = read_varint(&value, c);
        *zero = value == 0;
        if (!wrong && value > types[type].most &&
            !(types[type].extended && value >= (uint64_t)INT32_MIN))
            wrong = "a value out of range";
        return wrong;
    }
    size_t width = types[type].wire == PROTOBUF_C_WIRE_TYPE_32BIT ? 4 : 8;
    if ((size_t)(c->end - c->at) < width)
        return "a number that is cut off";
    value = get_le(c->at, (int)width);
    c->at += width;
    *zero = (value & ~types[type].sign) == 0;
    return NULL;
}

static const char *read_length(struct cursor *body, struct cursor *c)
{
    uint64_t n;
    const char *wrong = read_varint(&n, c);
    if (wrong)
        return wrong;
    if (n > (uint64_t)(c->end - c->at))
        return "a length that goes past the end";
    *body = (struct cursor){c->at, c->at + n};
    c->at += n;
    return NULL;
}

static const char *check_packed(struct cursor *c, ProtobufCType type)
{
    struct cursor body;
    bool zero;
    const char *wrong = read_length(&body, c);
    if (!wrong && body.at == body.end)
        wrong = "an empty list written out";
    while (!wrong && body.at < body.end)
        wrong = read_scalar(&zero, &body, type);
    return wrong;
}

/* Returns the message's field of this number, searching from *next, because numbers ascend. */
static const ProtobufCFieldDescriptor *find_field(const ProtobufCMessageDescriptor *type,
                                                  uint64_t number, unsigned *next)
{
    while (*next < type->n_fields && type->fields[*next].id < number)
        ++*next;
    return *next < type->n_fields && type->fields[*next].id == number ? &type->fields[*next] : NULL;
}

static enum err_code check_message(const struct walk *w, const ProtobufCMessageDescriptor *type,
                                   struct cursor c, int depth)
{
    uint64_t previous = 0;
    unsigned next = 0;
    while (c.at < c.end) {
        const uint8_t *at = c.at;
        uint64_t tag;
        const char *wrong = read_varint(&tag, &c);
        if (wrong)
            return refuse(w, type, NULL, at, wrong);
        uint64_t number = tag >> 3;
        if (number < previous)
            return refuse(w, type, NULL, at, "fields out of order");
        const ProtobufCFieldDescriptor *f = find_field(type, number, &next);
        if (!f)
            return refuse(w, type, NULL, at, "an unknown field");
        bool repeated = f->label == PROTOBUF_C_LABEL_REPEATED;
        ProtobufCWireType wire = types[f->type].wire;
        bool packed = repeated && wire != PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED;
        if (number == previous && (!repeated || packed))
            return refuse(w, type, f, at, "a field given twice");
        if ((tag & 7) != (packed ? PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED : wire))
            return refuse(w, type, f, at, "wrong wire type");
        previous = number;

        bool zero = false;
        struct cursor body = {NULL, NULL};
        if (packed) {
            wrong = check_packed(&c, f->type);
        } else if (wire != PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED) {
            wrong = read_scalar(&zero, &c, f->type);
        } else {
            wrong = read_length(&body, &c);
            /* An empty message differs from an absent one; an empty string does not. */
            zero = !wrong && body.at == body.end && f->type != PROTOBUF_C_TYPE_MESSAGE;
        }
        if (!wrong && zero && !repeated)
            wrong = "a default value written out";
        if (!wrong && f->type == PROTOBUF_C_TYPE_STRING) {
            size_t n = (size_t)(body.end - body.at), plain = plain_prefix(body.at, n);
            if (plain < n && memchr(body.at + plain, 0, n - plain))
                wrong = "a NUL in a string";
            else if (utf8_prefix(body.at + plain, n - plain) < n - plain)
                wrong = "a string that is not UTF-8";
        }
        if (!wrong && f->type == PROTOBUF_C_TYPE_MESSAGE && depth + 1 >= MAX_DEPTH)
            wrong = "messages nested too deep";
        if (wrong)
            return refuse(w, type, f, at, wrong);
        if (f->type == PROTOBUF_C_TYPE_MESSAGE) {
            enum err_code code = check_message(w, f->descriptor, body, depth + 1);
            if (code != OK)
                return code;
        }
    }
    return OK;
}

static enum err_code check(const ProtobufCMessageDescriptor *type, struct span bytes,
                           enum err_code code, struct err *e)
{
    static const uint8_t nothing;
    const uint8_t *data = bytes.data ? bytes.data : &nothing;
    struct walk w = {data, code, e};
    return check_message(&w, type, (struct cursor){data, data + bytes.len}, 0);
}

enum err_code canonical_check(const ProtobufCMessageDescriptor *type, struct span bytes,
                              struct err *e)
{
    return check(type, bytes, ERR_CORRUPT, e);
}

enum err_code canonical_pack(struct span *out, struct arena *a, const ProtobufCMessage *message,
                             struct err *e)
{
    size_t n = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = arena_try_alloc(a, n, 1);
    if (!bytes)
        return err_fail(e, ERR_NOMEM, "out of memory packing a %s of %zu bytes",
                        message->descriptor->name, n);
    size_t packed = protobuf_c_message_pack(message, bytes);
    assert(packed == n);
    *out = span_of(bytes, packed);
    return err_up(e, check(message->descriptor, *out, ERR_INPUT, e));
}

static void *allocate(void *arena, size_t size)
{
    return arena_alloc(arena, size);
}

static void forget(void *arena, void *pointer)
{
}

enum err_code canonical_unpack(void *out, struct arena *a, const ProtobufCMessageDescriptor *type,
                               struct span bytes, struct err *e)
{
    enum err_code code = canonical_check(type, bytes, e);
    if (code != OK)
        return err_up(e, code);
    ProtobufCAllocator in_arena = {allocate, forget, a};
    ProtobufCMessage *message = protobuf_c_message_unpack(type, &in_arena, bytes.len, bytes.data);
    if (!message)
        return err_fail(e, ERR_CORRUPT, "protobuf-c cannot read this %s", type->name);
    memcpy(out, &message, sizeof message);
    return OK;
}

static enum err_code visit_bytes(const ProtobufCMessageDescriptor *type,
                                 const ProtobufCFieldDescriptor *f, const ProtobufCBinaryData *b,
                                 message_visit *visit, void *arg, struct err *e)
{
    bool one = text_ends_in(f->name, "_id");
    if (!one && !text_ends_in(f->name, "_ids"))
        return OK;
    if (b->len % DIGEST_SIZE || (one && b->len > DIGEST_SIZE))
        return err_fail(e, ERR_CORRUPT, "%s.%s: %zu bytes are not %s", type->name, f->name, b->len,
                        one ? "a record id" : "record ids");
    const struct digest *ids = (const struct digest *)b->data;
    enum err_code code = OK;
    for (size_t i = 0; code == OK && i < b->len / DIGEST_SIZE; i++)
        code = visit(arg, &ids[i], e);
    return code;
}

enum err_code message_visit_ids(const ProtobufCMessage *message, message_visit *visit, void *arg,
                                struct err *e)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &type->fields[i];
        if (f->type != PROTOBUF_C_TYPE_BYTES && f->type != PROTOBUF_C_TYPE_MESSAGE)
            continue;
        const char *member = (const char *)message + f->offset;
        size_t n = 1;
        size_t step = f->type == PROTOBUF_C_TYPE_BYTES ? sizeof(ProtobufCBinaryData)
                                                       : sizeof(ProtobufCMessage *);
        if (f->label == PROTOBUF_C_LABEL_REPEATED) {
            n = *(const size_t *)((const char *)message + f->quantifier_offset);
            member = *(const char *const *)member;
        }
        for (size_t k = 0; k < n; k++, member += step) {
            enum err_code code = OK;
            if (f->type == PROTOBUF_C_TYPE_BYTES) {
                code = visit_bytes(type, f, (const ProtobufCBinaryData *)member, visit, arg, e);
            } else {
                const ProtobufCMessage *inner = *(const ProtobufCMessage *const *)member;
                if (inner)
                    code = message_visit_ids(inner, visit, arg, e);
            }
            if (code != OK)
                return code;
        }
    }
    return OK;
}

static bool type_has_ids(const ProtobufCMessageDescriptor *type, int depth)
{
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &type->fields[i];
        if (f->type == PROTOBUF_C_TYPE_BYTES &&
            (text_ends_in(f->name, "_id") || text_ends_in(f->name, "_ids")))
            return true;
        if (f->type == PROTOBUF_C_TYPE_MESSAGE && depth < MAX_DEPTH &&
            type_has_ids(f->descriptor, depth + 1))
            return true;
    }
    return false;
}

bool message_type_has_ids(const ProtobufCMessageDescriptor *type)
{
    return type_has_ids(type, 0);
}
