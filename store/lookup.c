/* Finding records: all of them, or those whose id begins with given digits. */
#include "store/internal.h"
#include "store/marks.h"

#include <ctype.h>

enum { MIN_PREFIX = 4 };

struct record_visit {
    store_visit_record *visit;
    void *arg;
};

static enum err_code visit_record(void *arg, struct span key, struct span value, struct err *e)
{
    struct record_visit *v = arg;
    enum record_kind kind;
    uint64_t length;
    struct digest id;
    if (!span_digest(&id, key))
        return err_fail(e, ERR_CORRUPT, "an object with a key of %zu bytes", key.len);
    enum err_code code = envelope_peek(&kind, &length, value, e);
    return code ? err_name_record(e, code, &id) : v->visit(v->arg, &id, kind, value.len, e);
}

enum err_code store_each_record(struct store *s, store_visit_record *visit, void *arg,
                                struct err *e)
{
    struct record_visit v = {visit, arg};
    enum err_code code = rocks_each(s->rocks, ROCKS_OBJECTS, span_of("", 0), visit_record, &v, e);
    if (code == ERR_CORRUPT)
        mark_suspect(s->path);
    return err_up(e, code);
}

static int digit(char c)
{
    const char *digits = "0123456789abcdef", *at = strchr(digits, tolower((unsigned char)c));
    return at && *at ? (int)(at - digits) : -1;
}

/* Ids between two, of which so many are kept. */
struct search {
    struct digest low, high, *ids;
    size_t found, max;
};

static enum err_code take_key(void *arg, struct span key, struct span value, struct err *e)
{
    struct search *s = arg;
    if (key.len != DIGEST_SIZE || span_compare(key, digest_span(&s->low)) < 0 ||
        span_compare(key, digest_span(&s->high)) > 0)
        return OK;
    if (s->found < s->max)
        memcpy(s->ids[s->found].bytes, key.data, DIGEST_SIZE);
    s->found++;
    return OK;
}

enum err_code store_resolve_prefix(struct digest *ids, size_t *n, size_t max, struct store *s,
                                   const char *hex, struct err *e)
{
    *n = 0;
    size_t digits = strlen(hex);
    struct search found = {.ids = ids, .max = max};
    memset(&found.high, 0xff, sizeof found.high);
    if (digits < MIN_PREFIX || digits > 2 * DIGEST_SIZE)
        return err_fail(e, ERR_INPUT,
                        "'%.80s' is not a prefix of an id: %d to %d hexadecimal digits", hex,
                        MIN_PREFIX, 2 * DIGEST_SIZE);
    for (size_t i = 0; i < digits; i++) {
        int d = digit(hex[i]);
        if (d < 0)
            return err_fail(e, ERR_INPUT,
                            "'%.80s' is not a prefix of an id: '%c' is not a hexadecimal digit",
                            hex, hex[i]);
        int shift = i % 2 ? 0 : 4;
        found.low.bytes[i / 2] |= (uint8_t)(d << shift);
        found.high.bytes[i / 2] &= (uint8_t)(d << shift | (shift ? 0x0f : 0xf0));
    }
    struct span begin = span_of(found.low.bytes, digits / 2);
    enum err_code code = rocks_each(s->rocks, ROCKS_OBJECTS, begin, take_key, &found, e);
    *n = found.found < max ? found.found : max;
    if (code == ERR_CORRUPT) {
        struct err why = e ? *e : (struct err){0};
        mark_suspect(s->path);
        err_clear(e);
        return err_fail(e, ERR_CORRUPT, "looking for record %s: %.400s", hex, why.message);
    }
    if (code != OK)
        return err_up(e, code);
    if (found.found == 0)
        return err_fail(e, ERR_NOTFOUND, "no record's id begins with '%s'", hex);
    if (found.found > 1)
        return err_fail(e, ERR_AMBIGUOUS, "'%s' is ambiguous: %zu records' ids begin with it", hex,
                        found.found);
    return OK;
}
