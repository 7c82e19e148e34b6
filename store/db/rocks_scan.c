/* Visiting entries; see rocks.h. */
#include "store/db/rocks_internal.h"

#include <string.h>

static enum err_code error_of(struct rocks *r, const rocksdb_iterator_t *it, struct err *e)
{
    char *message = NULL;
    rocksdb_iter_get_error(it, &message);
    return message ? rocks_fail(e, r, "cannot read", message) : OK;
}

static struct span key_of(const rocksdb_iterator_t *it)
{
    size_t n = 0;
    const char *key = rocksdb_iter_key(it, &n);
    return span_of(key, n);
}

static struct span value_of(const rocksdb_iterator_t *it)
{
    size_t n = 0;
    const char *value = rocksdb_iter_value(it, &n);
    return span_of(value, n);
}

/* Visits from the iterator's position. */
static enum err_code visit_all(struct rocks *r, rocksdb_iterator_t *it, struct span prefix,
                               void (*step)(rocksdb_iterator_t *it), rocks_visit *visit, void *arg,
                               struct err *e)
{
    enum err_code code = OK;
    for (; !code && rocksdb_iter_valid(it) && span_starts_with(key_of(it), prefix); step(it))
        code = visit(arg, key_of(it), value_of(it), e);
    if (!code)
        code = error_of(r, it, e);
    rocksdb_iter_destroy(it);
    return err_up(e, code);
}

enum err_code rocks_each(struct rocks *r, enum rocks_family family, struct span prefix,
                         rocks_visit *visit, void *arg, struct err *e)
{
    rocksdb_iterator_t *it = rocksdb_create_iterator_cf(r->db, r->read, r->family[family]);
    rocksdb_iter_seek(it, (const char *)prefix.data, prefix.len);
    return err_up(e, visit_all(r, it, prefix, rocksdb_iter_next, visit, arg, e));
}

enum err_code rocks_each_back(struct rocks *r, enum rocks_family family, struct span prefix,
                              struct span end, rocks_visit *visit, void *arg, struct err *e)
{
    rocksdb_iterator_t *it = rocksdb_create_iterator_cf(r->db, r->read, r->family[family]);
    rocksdb_iter_seek_for_prev(it, (const char *)end.data, end.len);
    return err_up(e, visit_all(r, it, prefix, rocksdb_iter_prev, visit, arg, e));
}

/* ---- skipping unreadable blocks ---- */

/* Adds 2^bit to a key seen as a big-endian number; false when it wraps. */
static bool key_add_bit(struct digest *key, int bit)
{
    unsigned carry = 1u << (bit % 8);
    for (int i = DIGEST_SIZE - 1 - bit / 8; i >= 0 && carry; i--) {
        carry += key->bytes[i];
        key->bytes[i] = (uint8_t)carry;
        carry >>= 8;
    }
    return carry == 0;
}

static void seek(rocksdb_iterator_t *it, const struct digest *key)
{
    rocksdb_iter_seek(it, (const char *)key->bytes, DIGEST_SIZE);
}

static bool unreadable_from(struct rocks *r, rocksdb_iterator_t *it, const struct digest *key)
{
    seek(it, key);
    return !rocksdb_iter_valid(it) && error_of(r, it, NULL) != OK;
}

/* RocksDB cannot read the entry at or after `at`. Finds the largest key from which it still cannot,
 * the end of a bad block: in growing steps, so as not to jump over good blocks into the next bad
 * one, then by bisection. Returns false if nothing readable follows. */
static bool last_unreadable(struct digest *last, struct rocks *r, rocksdb_iterator_t *it,
                            struct digest at)
{
    *last = at;
    int bit = 0;
    for (; bit < 8 * DIGEST_SIZE; bit++) {
        struct digest probe = at;
        if (!key_add_bit(&probe, bit))
            return false;
        if (!unreadable_from(r, it, &probe))
            break;
        *last = probe;
    }
    while (--bit >= 0) {
        struct digest probe = *last;
        if (key_add_bit(&probe, bit) && unreadable_from(r, it, &probe))
            *last = probe;
    }
    return true;
}

static struct digest prefix_of(struct span key)
{
    struct digest d = {0};
    memcpy(d.bytes, key.data, key.len < DIGEST_SIZE ? key.len : DIGEST_SIZE);
    return d;
}

enum err_code rocks_scan(struct rocks *r, enum rocks_family family, const struct rocks_range *within,
                         rocks_visit *visit,
                         void (*unreadable)(void *arg, const struct rocks_range *range,
                                            const char *why),
                         void *arg, struct err *e)
{
    rocksdb_iterator_t *it = rocksdb_create_iterator_cf(r->db, r->read, r->family[family]);
    enum err_code code = OK;
    struct digest at = within ? within->first : (struct digest){0};
    within ? seek(it, &at) : rocksdb_iter_seek_to_first(it);
    while (code == OK) {
        if (rocksdb_iter_valid(it)) {
            at = prefix_of(key_of(it));
            if (within && digest_compare(&at, &within->last) > 0)
                break;
            code = visit(arg, key_of(it), value_of(it), e);
            rocksdb_iter_next(it);
            continue;
        }
        struct err why = {0};
        enum err_code found = error_of(r, it, &why);
        if (found == OK)
            break;
        if (found != ERR_CORRUPT) {
            code = err_fail(e, found, "%s", why.message);
            break;
        }
        struct rocks_range range = {.first = at};
        bool more = last_unreadable(&range.last, r, it, at);
        if (!more)
            memset(range.last.bytes, 0xff, DIGEST_SIZE);
        if (within && digest_compare(&range.last, &within->last) > 0)
            range.last = within->last;
        if (unreadable)
            unreadable(arg, &range, why.message);
        at = range.last;
        if (!more || !key_add_bit(&at, 0) || (within && digest_compare(&at, &within->last) > 0))
            break; /* to the end */
        seek(it, &at);
    }
    rocksdb_iter_destroy(it);
    return err_up(e, code);
}
