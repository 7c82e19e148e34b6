/* Messages as JSON; see reflect.h. NaN and infinities, which JSON lacks, are null. */
#include "engine/cli/records/reflect.h"

#include <math.h>

static json_t *bytes_json(const ProtobufCFieldDescriptor *f, const ProtobufCBinaryData *b)
{
    enum { ID = 32 };
    struct arena a = {0};
    json_t *value;
    if (reflect_bytes_kind(f) != BYTES_IDS) {
        value = json_string(reflect_hex(&a, b->data, b->len));
    } else {
        value = json_array();
        for (size_t i = 0; i + ID <= b->len; i += ID)
            json_array_append_new(value, json_string(reflect_hex(&a, b->data + i, ID)));
    }
    arena_free(&a);
    return value;
}

static json_t *real_json(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *text_json(const ProtobufCFieldDescriptor *f, const void *item)
{
    struct arena a = {0};
    json_t *value = json_string(reflect_text(&a, f, item));
    arena_free(&a);
    return value ? value : json_null();
}

static json_t *item_json(const ProtobufCFieldDescriptor *f, const void *item)
{
    switch (f->type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32: return json_integer(*(const int32_t *)item);
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32: return json_integer(*(const uint32_t *)item);
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64: return json_integer(*(const json_int_t *)item);
    case PROTOBUF_C_TYPE_FLOAT: return real_json((double)*(const float *)item);
    case PROTOBUF_C_TYPE_DOUBLE: return real_json(*(const double *)item);
    case PROTOBUF_C_TYPE_BOOL: return json_boolean(*(const protobuf_c_boolean *)item);
    case PROTOBUF_C_TYPE_ENUM:
    case PROTOBUF_C_TYPE_STRING: return text_json(f, item);
    case PROTOBUF_C_TYPE_BYTES: return bytes_json(f, item);
    case PROTOBUF_C_TYPE_MESSAGE: {
        const ProtobufCMessage *m = *(const ProtobufCMessage *const *)item;
        return m ? reflect_json(m) : json_null();
    }
    }
    return json_null();
}

json_t *reflect_json(const ProtobufCMessage *m)
{
    json_t *object = json_object();
    for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &m->descriptor->fields[i];
        if (f->label != PROTOBUF_C_LABEL_REPEATED) {
            json_object_set_new(object, f->name, item_json(f, reflect_item(m, f, 0)));
            continue;
        }
        json_t *list = json_array();
        for (size_t k = 0; k < reflect_count(m, f); k++)
            json_array_append_new(list, item_json(f, reflect_item(m, f, k)));
        json_object_set_new(object, f->name, list);
    }
    return object;
}

json_t *reflect_record(const struct digest *id, const struct record *r, const ProtobufCMessage *m)
{
    char hex[DIGEST_HEX];
    return json_pack("{s:s, s:s, s:I, s:o}", "id", digest_hex(hex, id), "kind",
                     kind_info(r->kind)->name, "bytes", (json_int_t)r->payload.len, "value",
                     reflect_json(m));
}

void reflect_dump(FILE *to, json_t *value)
{
    json_dumpf(value, to, JSON_COMPACT);
    fputc('\n', to);
    json_decref(value);
}
