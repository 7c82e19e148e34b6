/* Reading conditions; see condition.h. */
#include "engine/cli/condition.h"

#include "base/buf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_PARTS = 16, MAX_TEXT = 4096 };

struct part {
    const char *name;
    size_t offset;
    bool quoted;
};

struct reader {
    struct arena *arena;
    struct source_text source;
    const char *at;
    struct part parts[MAX_PARTS];
    size_t n;
};

static size_t here(const struct reader *r)
{
    return (size_t)(r->at - r->source.text);
}

static void skip_blanks(struct reader *r)
{
    r->at += strspn(r->at, " \t");
}

/* An `or` that stands alone. */
static bool is_or(const char *at)
{
    return strncmp(at, "or", 2) == 0 && strchr(" \t", at[2]);
}

static enum err_code read_quoted(const char **out, struct reader *r, struct err *e)
{
    const char *begin = r->at + 1, *end = strchr(begin, '"');
    if (!end)
        return err_fail_at(e, &r->source, here(r), "this quote is never closed");
    *out = arena_strndup(r->arena, begin, (size_t)(end - begin));
    r->at = end + 1;
    return OK;
}

static enum err_code read_path(struct reader *r, struct err *e)
{
    for (;;) {
        if (r->n == MAX_PARTS)
            return err_fail_at(e, &r->source, here(r), "more than %d names in a path", MAX_PARTS);
        struct part *p = &r->parts[r->n];
        *p = (struct part){.offset = here(r), .quoted = *r->at == '"'};
        if (p->quoted) {
            if (err_up(e, read_quoted(&p->name, r, e)))
                return ERR_INPUT;
        } else {
            size_t n = strcspn(r->at, ".=!<>~\" \t");
            if (!n)
                return err_fail_at(e, &r->source, here(r),
                                   r->n || *r->at ? "a field's name is missing here"
                                                  : "a condition begins with a field's name");
            p->name = arena_strndup(r->arena, r->at, n);
            r->at += n;
        }
        r->n++;
        if (*r->at != '.')
            return OK;
        r->at++;
    }
}

static enum err_code read_operator(enum condition_operator *out, struct reader *r, struct err *e)
{
    static const struct {
        const char *text;
        enum condition_operator operator;
    } table[] = {
        {"!=", CONDITION_UNEQUAL}, {"<=", CONDITION_LESS_EQUAL}, {">=", CONDITION_GREATER_EQUAL},
        {"!~", CONDITION_HAS_NOT}, {"==", CONDITION_EQUAL},      {"=", CONDITION_EQUAL},
        {"<", CONDITION_LESS},     {">", CONDITION_GREATER},     {"~", CONDITION_HAS},
    };
    skip_blanks(r);
    *out = CONDITION_SET;
    if (!*r->at || is_or(r->at))
        return OK;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        size_t n = strlen(table[i].text);
        if (strncmp(r->at, table[i].text, n))
            continue;
        *out = table[i].operator;
        r->at += n;
        return OK;
    }
    err_fail_at(e, &r->source, here(r), "an operator is missing here");
    err_hint(e, "operators are = != < <= > >= ~ !~");
    return ERR_INPUT;
}

static bool orders(enum condition_operator o)
{
    return o == CONDITION_LESS || o == CONDITION_LESS_EQUAL || o == CONDITION_GREATER ||
           o == CONDITION_GREATER_EQUAL;
}

/* ---- what is no field ---- */

static bool read_time(double *ns, const char *text)
{
    struct tm t = {.tm_isdst = -1};
    int n = 0;
    bool day = sscanf(text, "%4d-%2d-%2d%n", &t.tm_year, &t.tm_mon, &t.tm_mday, &n) == 3 && n;
    text += day ? n : 0;
    if (day && (*text == 'T' || *text == ' ')) {
        day = sscanf(++text, "%2d:%2d%n", &t.tm_hour, &t.tm_min, &n) == 2;
        text += day ? n : 0;
        if (day && *text == ':') {
            day = sscanf(++text, "%2d%n", &t.tm_sec, &n) == 1;
            text += day ? n : 0;
        }
    }
    t.tm_year -= 1900;
    t.tm_mon -= 1;
    struct tm asked = t;
    time_t s = mktime(&t);
    *ns = (double)s * 1e9;
    /* The 31st of June would be another day. */
    return day && !*text && s != (time_t)-1 && t.tm_mday == asked.tm_mday &&
           t.tm_mon == asked.tm_mon && t.tm_min == asked.tm_min && t.tm_sec == asked.tm_sec;
}

static bool read_size(double *bytes, const char *text)
{
    static const char units[] = "KMG";
    char *end;
    *bytes = strtod(text, &end);
    const char *unit = end != text && *end ? strchr(units, *end) : NULL;
    for (const char *u = units; unit && u <= unit; u++)
        *bytes *= 1024;
    return end != text && !end[unit != NULL] && *bytes >= 0;
}

static enum err_code read_fact(struct condition *c, const struct reader *r, struct err *e)
{
    bool has = c->operator== CONDITION_HAS || c->operator== CONDITION_HAS_NOT;
    bool good = true;
    switch (c->about) {
    case ABOUT_FIELD: break;
    case ABOUT_OP:
        if (orders(c->operator))
            return err_fail_at(e, &r->source, c->value_offset, "no op is less or greater");
        return OK;
    case ABOUT_TIME:
        good = read_time(&c->number, c->value);
        if (!good || !orders(c->operator)) {
            err_fail_at(e, &r->source, c->value_offset,
                        good ? "a time is asked for with < <= > >=" : "'%.60s' is no time",
                        c->value);
            err_hint(e, "@time>=2026-11-22 or @time<2026-11-22T14:30");
            return ERR_INPUT;
        }
        break;
    case ABOUT_SIZE:
        good = !has && read_size(&c->number, c->value);
        if (!good) {
            err_fail_at(e, &r->source, c->value_offset,
                        has ? "a size holds no words" : "'%.60s' is no size", c->value);
            err_hint(e, "@size>1000, @size<=1.5M");
            return ERR_INPUT;
        }
        break;
    }
    c->is_number = true;
    return OK;
}

static enum err_code read_value(struct condition *c, struct reader *r, struct err *e)
{
    skip_blanks(r);
    size_t offset = here(r);
    if (*r->at == '"') {
        if (err_up(e, read_quoted(&c->value, r, e)))
            return ERR_INPUT;
        skip_blanks(r);
        if (*r->at && !is_or(r->at))
            return err_fail_at(e, &r->source, here(r), "nothing but 'or' can follow the value");
    } else {
        size_t n = 0;
        while (r->at[n] && !(n && strchr(" \t", r->at[n - 1]) && is_or(r->at + n)) &&
               !(n == 0 && is_or(r->at)))
            n++;
        size_t after = n;
        while (n && strchr(" \t", r->at[n - 1]))
            n--;
        if (!n)
            return err_fail_at(e, &r->source, offset, "a value is missing here");
        c->value = arena_strndup(r->arena, r->at, n);
        r->at += after;
    }
    c->value_offset = offset;
    if (c->about != ABOUT_FIELD)
        return err_up(e, read_fact(c, r, e));
    char *end;
    c->number = strtod(c->value, &end);
    c->is_number = *c->value && !*end && !isnan(c->number);
    if (orders(c->operator) && !c->is_number)
        return err_fail_at(e, &r->source, offset, "only numbers are less or greater, not '%.60s'",
                           c->value);
    return OK;
}

/* ---- the path against the type ---- */

static const ProtobufCFieldDescriptor *find_field(const ProtobufCMessageDescriptor *type,
                                                  const char *name)
{
    return protobuf_c_message_descriptor_get_field_by_name(type, name);
}

static enum err_code refuse_field(const struct reader *r, const struct part *p,
                                  const ProtobufCMessageDescriptor *type, struct err *e)
{
    const char **names = arena_array(r->arena, const char *, type->n_fields + 1);
    struct buf list = {0};
    for (unsigned i = 0; i < type->n_fields; i++) {
        names[i] = type->fields[i].name;
        buf_printf(&list, "%s%s", i ? ", " : "", names[i]);
    }
    err_fail_at(e, &r->source, p->offset, "there is no field '%.60s'", p->name);
    const char *near = err_nearest(p->name, names, type->n_fields);
    if (near)
        err_hint(e, "did you mean '%s'?", near);
    else
        err_hint(e, "fields are %s", list.data ? list.data : "none");
    buf_free(&list);
    return ERR_INPUT;
}

static const char *join(const struct reader *r, size_t from)
{
    struct buf b = {0};
    for (size_t i = from; i < r->n; i++)
        buf_printf(&b, "%s%s", i > from ? "." : "", r->parts[i].name);
    char *text = arena_strdup(r->arena, b.data ? b.data : "");
    buf_free(&b);
    return text;
}

static bool is_list(const ProtobufCFieldDescriptor *f)
{
    return f->label == PROTOBUF_C_LABEL_REPEATED;
}

static bool is_named_list(const ProtobufCFieldDescriptor *f)
{
    if (!is_list(f) || f->type != PROTOBUF_C_TYPE_MESSAGE)
        return false;
    const ProtobufCFieldDescriptor *name = find_field(f->descriptor, "name");
    const ProtobufCFieldDescriptor *value = find_field(f->descriptor, "value");
    return name && name->type == PROTOBUF_C_TYPE_STRING && value && !is_list(value);
}

static enum err_code resolve_path(struct condition *c, const struct reader *r,
                                  const ProtobufCMessageDescriptor *type, struct err *e)
{
    c->fields = arena_array(r->arena, const ProtobufCFieldDescriptor *, r->n);
    for (size_t i = 0; i < r->n; i++) {
        const struct part *p = &r->parts[i];
        const ProtobufCFieldDescriptor *f = find_field(type, p->name);
        if (!f)
            return err_up(e, refuse_field(r, p, type, e));
        c->fields[c->n_fields++] = f;
        bool last = i + 1 == r->n, message = f->type == PROTOBUF_C_TYPE_MESSAGE;
        if (!last && !message)
            return err_fail_at(e, &r->source, r->parts[i + 1].offset, "'%s' has no fields",
                               f->name);
        if (last && message && !is_list(f))
            return err_fail_at(e, &r->source, p->offset,
                               "'%s' is no value: name one of its fields, like %s.%s", f->name,
                               f->name,
                               ((const ProtobufCMessageDescriptor *)f->descriptor)->fields[0].name);
        if (!message)
            break;
        type = f->descriptor;
        const struct part *next = p + 1;
        if (!last && is_named_list(f) && (next->quoted || !find_field(type, next->name))) {
            c->key = join(r, i + 1);
            break;
        }
    }
    return OK;
}

/* "@op", "@time", "@size". */
static enum err_code resolve_about(struct condition *c, const struct reader *r, struct err *e)
{
    static const char *const names[] = {"@op", "@time", "@size"};
    const struct part *p = &r->parts[0];
    for (int i = 0; i < 3; i++)
        if (!strcmp(p->name, names[i])) {
            c->about = (enum condition_about)(ABOUT_OP + i);
            return r->n == 1 ? OK
                             : err_fail_at(e, &r->source, r->parts[1].offset, "'%s' has no fields",
                                           p->name);
        }
    err_fail_at(e, &r->source, p->offset, "there is no '%.60s'", p->name);
    err_hint(e, "beside fields there are @op, @time and @size");
    return ERR_INPUT;
}

static enum err_code read_one(struct condition *out, struct reader *r,
                              const ProtobufCMessageDescriptor *type, struct err *e)
{
    *out = (struct condition){.value = ""};
    r->n = 0;
    skip_blanks(r);
    if (err_up(e, read_path(r, e)))
        return ERR_INPUT;
    bool about = r->parts[0].name[0] == '@' && !r->parts[0].quoted;
    if (about && err_up(e, resolve_about(out, r, e)))
        return ERR_INPUT;
    size_t after = here(r);
    if (err_up(e, read_operator(&out->operator, r, e)))
        return ERR_INPUT;
    if (about && out->operator== CONDITION_SET)
        return err_fail_at(e, &r->source, after, "%s is compared with something", r->parts[0].name);
    if ((out->operator!= CONDITION_SET && err_up(e, read_value(out, r, e))) ||
        (!about && err_up(e, resolve_path(out, r, type, e))))
        return ERR_INPUT;
    out->path = join(r, 0);
    return OK;
}

enum err_code condition_parse(struct condition *out, struct arena *a, const char *text,
                              const ProtobufCMessageDescriptor *type, struct err *e)
{
    struct reader *r = arena_new(a, struct reader);
    *r = (struct reader){.arena = a, .source = {"--where", text, strlen(text)}, .at = text};
    if (r->source.len > MAX_TEXT)
        return err_fail(e, ERR_INPUT, "a condition has at most %d bytes", MAX_TEXT);
    for (;;) {
        if (err_up(e, read_one(out, r, type, e)))
            return ERR_INPUT;
        if (!*r->at)
            return OK;
        r->at += 2; /* read_value and read_operator stop at an `or` or at the end */
        struct condition *next = arena_new(a, struct condition);
        out->or_else = next;
        out = next;
    }
}
