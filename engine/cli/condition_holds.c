/* Conditions asked of messages; see condition.h. */
#include "engine/cli/condition.h"

#include "engine/cli/records/reflect.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

static bool is_list(const ProtobufCFieldDescriptor *f)
{
    return f->label == PROTOBUF_C_LABEL_REPEATED;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Whether text holds the words; a '*' at an end of `words` lets the word go on there. */
static bool has_words(const char *text, const char *words)
{
    size_t n = strlen(words);
    bool before = n && words[0] == '*', after = n > before && words[n - 1] == '*';
    words += before;
    n -= (size_t)before + after;
    if (!n)
        return *text != 0;
    for (const char *p = text; (p = memmem(p, strlen(p), words, n)); p++) {
        bool begins = before || p == text || !is_word(p[-1]) || !is_word(*p);
        bool ends = after || !is_word(p[n]) || !is_word(p[n - 1]);
        if (begins && ends)
            return true;
    }
    return false;
}

static bool compare_numbers(enum condition_operator o, double a, double b)
{
    switch (o) {
    case CONDITION_EQUAL: return a == b;
    case CONDITION_UNEQUAL: return a != b;
    case CONDITION_LESS: return a < b;
    case CONDITION_LESS_EQUAL: return a <= b;
    case CONDITION_GREATER: return a > b;
    case CONDITION_GREATER_EQUAL: return a >= b;
    case CONDITION_SET:
    case CONDITION_HAS:
    case CONDITION_HAS_NOT: break;
    }
    return false;
}

/* `prefix`: equal is what begins so (ids). */
static bool compare_text(const struct condition *c, const char *text, bool prefix)
{
    char *end;
    double number = strtod(text, &end);
    bool has = c->operator== CONDITION_HAS || c->operator== CONDITION_HAS_NOT;
    if (has)
        return has_words(text, c->value) == (c->operator== CONDITION_HAS);
    if (c->operator== CONDITION_SET)
        return *text && strcmp(text, "0") && strcmp(text, "false");
    if (!prefix && c->is_number && *text && !*end)
        return compare_numbers(c->operator, number, c->number);
    bool equal =
        prefix ? !strncasecmp(text, c->value, strlen(c->value)) : !strcasecmp(text, c->value);
    return c->operator== CONDITION_EQUAL ? equal : c->operator== CONDITION_UNEQUAL ? !equal : false;
}

/* Text of a value; NULL for a message that is absent. */
static const char *text_of(struct arena *a, const ProtobufCFieldDescriptor *f, const void *item)
{
    const ProtobufCBinaryData *b = item;
    return f->type == PROTOBUF_C_TYPE_BYTES ? reflect_hex(a, b->data, b->len)
                                            : reflect_text(a, f, item);
}

static size_t length_of(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f)
{
    if (is_list(f))
        return reflect_count(m, f);
    const ProtobufCBinaryData *b = reflect_item(m, f, 0);
    return b->len / 32; /* "..._ids" */
}

/* Lists whose length is meant rather than their items. */
static bool counts(const struct condition *c, const ProtobufCFieldDescriptor *f)
{
    if (f->type == PROTOBUF_C_TYPE_BYTES && reflect_bytes_kind(f) == BYTES_IDS)
        return true;
    bool text = f->type == PROTOBUF_C_TYPE_STRING || f->type == PROTOBUF_C_TYPE_ENUM;
    bool has = c->operator== CONDITION_HAS || c->operator== CONDITION_HAS_NOT;
    return is_list(f) && (!text || (c->is_number && !has) || c->operator== CONDITION_SET);
}

/* The last item called `key`. */
static const ProtobufCMessage *find_named(const ProtobufCMessage *m,
                                          const ProtobufCFieldDescriptor *f, const char *key)
{
    for (size_t i = reflect_count(m, f); i-- > 0;) {
        const ProtobufCMessage *item = *(const ProtobufCMessage *const *)reflect_item(m, f, i);
        const ProtobufCFieldDescriptor *name =
            protobuf_c_message_descriptor_get_field_by_name(item->descriptor, "name");
        if (!strcmp(*(const char *const *)reflect_item(item, name, 0), key))
            return item;
    }
    return NULL;
}

/* Calls visit with each text that the path leads to, until it says true. */
static bool each_text(const struct condition *c, const ProtobufCMessage *m, size_t depth,
                      struct arena *a, bool (*visit)(void *arg, const char *text, bool id),
                      void *arg)
{
    const ProtobufCFieldDescriptor *f = c->fields[depth];
    bool last = depth + 1 == c->n_fields;
    if (last && c->key) {
        const ProtobufCMessage *item = find_named(m, f, c->key);
        const ProtobufCFieldDescriptor *value =
            protobuf_c_message_descriptor_get_field_by_name(f->descriptor, "value");
        return item && visit(arg, text_of(a, value, reflect_item(item, value, 0)), false);
    }
    if (last && counts(c, f))
        return visit(arg, arena_printf(a, "%zu", length_of(m, f)), false);
    for (size_t i = 0; i < reflect_count(m, f); i++) {
        const void *item = reflect_item(m, f, i);
        if (last) {
            bool id = f->type == PROTOBUF_C_TYPE_BYTES;
            if (visit(arg, text_of(a, f, item), id))
                return true;
            continue;
        }
        const ProtobufCMessage *inner = *(const ProtobufCMessage *const *)item;
        if (inner && each_text(c, inner, depth + 1, a, visit, arg))
            return true;
    }
    return false;
}

static bool visit_compare(void *arg, const char *text, bool id)
{
    return compare_text(arg, text, id);
}

static bool fact_holds(const struct condition *c, const struct condition_facts *f)
{
    switch (c->about) {
    case ABOUT_FIELD: break;
    case ABOUT_OP: return compare_text(c, f->op, false);
    /* What nothing is known of was made neither before nor after. */
    case ABOUT_TIME:
        return f->time_ns && compare_numbers(c->operator,(double) f->time_ns, c->number);
    case ABOUT_SIZE: return compare_numbers(c->operator,(double) f->size, c->number);
    }
    return false;
}

static bool one_holds(const struct condition *c, const ProtobufCMessage *m,
                      const struct condition_facts *facts)
{
    struct arena a = {0};
    bool holds = c->about == ABOUT_FIELD ? each_text(c, m, 0, &a, visit_compare, (void *)c)
                                         : fact_holds(c, facts);
    arena_free(&a);
    return holds;
}

bool condition_matches(const struct condition *c, const ProtobufCMessage *m,
                       const struct condition_facts *facts)
{
    for (; c; c = c->or_else)
        if (one_holds(c, m, facts))
            return true;
    return false;
}

bool condition_asks(const struct condition *c, enum condition_about about)
{
    for (; c; c = c->or_else)
        if (c->about == about)
            return true;
    return false;
}

struct showing {
    const struct condition *c;
    const char *text;
};

/* The first that fits, else the first. */
static bool visit_show(void *arg, const char *text, bool id)
{
    struct showing *s = arg;
    bool holds = compare_text(s->c, text, id);
    if (!s->text || holds)
        s->text = text;
    return holds;
}

const char *condition_shown(struct arena *a, const struct condition *c, const ProtobufCMessage *m,
                            const struct condition_facts *facts)
{
    struct showing s = {c, NULL};
    time_t seconds = (time_t)(facts->time_ns / 1000000000);
    struct tm t;
    char text[32] = "";
    switch (c->about) {
    case ABOUT_FIELD: break;
    case ABOUT_OP: return facts->op;
    case ABOUT_TIME:
        if (facts->time_ns && localtime_r(&seconds, &t))
            strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &t);
        return arena_strdup(a, text);
    case ABOUT_SIZE: return arena_printf(a, "%" PRIu64, facts->size);
    }
    each_text(c, m, 0, a, visit_show, &s);
    return s.text ? s.text : "";
}
