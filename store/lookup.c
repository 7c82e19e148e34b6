/* Finding records: all of them, or those whose id begins with given digits. */
#include "store/internal.h"
#include "store/marks.h"

enum { MIN_PREFIX = 4 };

enum err_code store_each_record(struct store *s,
                                enum err_code (*visit)(void *arg, const struct digest *id,
                                                       enum record_kind kind, uint64_t stored_bytes,
                                                       struct err *e),
                                void *arg, struct err *e)
{
    struct rocks_iter *it = rocks_iter_new(s->rocks, ROCKS_OBJECTS);
    enum err_code code = OK;
    for (rocks_iter_seek(it, span_of("", 0)); code == OK && rocks_iter_valid(it);
         rocks_iter_next(it)) {
        struct span key = rocks_iter_key(it), value = rocks_iter_value(it);
        enum record_kind kind = KIND_NONE;
        uint64_t length;
        struct digest id;
        if (key.len != DIGEST_SIZE) {
            code = err_fail(e, ERR_CORRUPT, "an object with a key of %zu bytes", key.len);
            break;
        }
        memcpy(id.bytes, key.data, DIGEST_SIZE);
        code = envelope_peek(&kind, &length, value, e);
        code = code == OK ? visit(arg, &id, kind, value.len, e) : err_name_record(e, code, &id);
    }
    if (code == OK)
        code = rocks_iter_error(it, e);
    if (code == ERR_CORRUPT)
        mark_suspect(s->path);
    rocks_iter_free(it);
    return err_up(e, code);
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

enum err_code store_resolve_prefix(struct digest *ids, size_t *n, size_t max, struct store *s,
                                   const char *hex, struct err *e)
{
    *n = 0;
    size_t digits = strlen(hex);
    struct digest low = {0}, high;
    memset(&high, 0xff, sizeof high);
    if (digits < MIN_PREFIX || digits > 2 * DIGEST_SIZE)
        return err_fail(e, ERR_INPUT,
                        "'%.80s' is not a prefix of an id: %d to %d hexadecimal digits", hex,
                        MIN_PREFIX, 2 * DIGEST_SIZE);
    for (size_t i = 0; i < digits; i++) {
        int d = digit(hex[i]);
        if (d < 0)
            return err_fail(e, ERR_INPUT,
                            "'%.80s' is not a prefix of an id: '%c' is not a hexadecimal "
                            "digit",
                            hex, hex[i]);
        int shift = i % 2 ? 0 : 4;
        low.bytes[i / 2] |= (uint8_t)(d << shift);
        high.bytes[i / 2] &= (uint8_t)(d << shift | (shift ? 0x0f : 0xf0));
    }
    struct rocks_iter *it = rocks_iter_new(s->rocks, ROCKS_OBJECTS);
    size_t found = 0;
    for (rocks_iter_seek(it, digest_span(&low)); rocks_iter_valid(it); rocks_iter_next(it)) {
        struct span key = rocks_iter_key(it);
        if (span_compare(key, digest_span(&high)) > 0)
            break;
        if (found < max)
            memcpy(ids[found].bytes, key.data, DIGEST_SIZE);
        if (++found > max && found > 1)
            break;
    }
    enum err_code code = rocks_iter_error(it, e);
    rocks_iter_free(it);
    *n = found < max ? found : max;
    if (code == ERR_CORRUPT) {
        struct err why = e ? *e : (struct err){0};
        mark_suspect(s->path);
        err_clear(e);
        return err_fail(e, ERR_CORRUPT, "looking for record %s: %.400s", hex, why.message);
    }
    if (code != OK)
        return err_up(e, code);
    if (found == 0)
        return err_fail(e, ERR_NOTFOUND, "no record's id begins with '%s'", hex);
    if (found > 1)
        return err_fail(e, ERR_AMBIGUOUS, "'%s' is ambiguous: %s%zu records' ids begin with it",
                        hex, found > max ? "at least " : "", found);
    return OK;
}
