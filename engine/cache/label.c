/* Labels of records and formats of durations; see label.h. */
#include "engine/cache/label.h"

#include "engine/op.h"
#include "schemas/canonical.h"

#include <string.h>
#include <time.h>

/* Returns NULL if the message has no singular field of this name and type, or it is not set. */
static const void *field(const ProtobufCMessage *m, const char *name, ProtobufCType type)
{
    const ProtobufCFieldDescriptor *f =
        protobuf_c_message_descriptor_get_field_by_name(m->descriptor, name);
    if (!f || f->type != type || f->label == PROTOBUF_C_LABEL_REPEATED)
        return NULL;
    return *(const void *const *)((const char *)m + f->offset);
}

static const char *text_field(const ProtobufCMessage *m, const char *name)
{
    const char *text = field(m, name, PROTOBUF_C_TYPE_STRING);
    return text && *text ? text : NULL;
}

static char *cut(struct arena *a, const char *text)
{
    size_t n = strlen(text);
    if (n <= LABEL_MAX)
        return arena_strdup(a, text);
    n = LABEL_MAX;
    while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--; /* do not cut a UTF-8 character */
    return arena_printf(a, "%.*s...", (int)n, text);
}

char *label_of_message(struct arena *a, const ProtobufCMessage *m, label_expression *write)
{
    const char *group = text_field(m, "group"), *name = text_field(m, "name");
    if (group && name)
        return cut(a, arena_printf(a, "%s/%s", group, name));
    if (name)
        return cut(a, name);
    const char *prefix = text_field(m, "prefix");
    const ProtobufCMessage *seed = field(m, "seed", PROTOBUF_C_TYPE_MESSAGE);
    if (!prefix && seed)
        prefix = text_field(seed, "prefix");
    return prefix ? cut(a, write(a, prefix)) : NULL;
}

char *label_short_id(struct arena *a, const struct digest *id)
{
    char hex[DIGEST_HEX];
    return arena_strndup(a, digest_hex(hex, id), 8);
}

char *label_of_record(struct arena *a, struct store *s, const struct digest *id)
{
    struct arena scratch = {0};
    struct record r;
    ProtobufCMessage *m;
    char *label = NULL;
    if (store_get(&r, s, id, &scratch, NULL) == OK && kind_info(r.kind) &&
        canonical_unpack(&m, &scratch, kind_info(r.kind)->descriptor, r.payload, NULL) == OK)
        label = label_of_message(a, m, op_infix);
    arena_free(&scratch);
    return label ? label : label_short_id(a, id);
}

void label_put_duration(struct buf *b, uint64_t ns)
{
    double s = (double)ns / 1e9;
    if (s < 0.0995)
        buf_printf(b, "%.0f ms", s * 1e3);
    else if (s < 100)
        buf_printf(b, "%.1f s", s);
    else
        buf_printf(b, "%.0f min %02.0f s", (double)((uint64_t)s / 60), (double)((uint64_t)s % 60));
}

void label_put_bar(struct buf *b, double part, int width)
{
    buf_putc(b, '[');
    for (int i = 0; i < width; i++)
        buf_putc(b, i < (int)(part * width + 1e-9) ? '#' : '.');
    buf_puts(b, "] ");
}

void label_put_left(struct buf *b, const char *about, uint64_t ns)
{
    if (ns == UINT64_MAX || ns <= 1000000000)
        return;
    buf_printf(b, ", %s ", about);
    label_put_duration(b, ns);
    buf_puts(b, " left");
}

const char *label_time(struct arena *a, int64_t ns)
{
    time_t t = (time_t)(ns / 1000000000);
    struct tm tm;
    char text[32];
    localtime_r(&t, &tm);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm);
    return arena_strdup(a, text);
}
