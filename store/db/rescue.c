/* Reading a database that is damaged; see rocks_rescue.
 *
 * First as it is, if RocksDB opens it. Then its tables: rocksdb_repair_db makes a database of any. It
 * starts with an empty list of files: interrupted, it leaves what looks like a database without tables.
 * So it works on links, in a directory beside the database.
 *
 * RocksDB merges the tables of a family as it reads. Where one cannot be read, what others hold of the
 * same range of keys is hidden; if its index cannot be read, this range is the whole family. So what
 * was hidden is read again without that table, until nothing is hidden or no table is to blame.
 *
 * Last the logs, which are newest: each write that can be read is repeated. rocksdb_repair_db would drop
 * what they hold of families without a table, and make tables that hold what others do. */
#include "store/db/rocks_internal.h"

#include "base/arena.h"
#include "base/os.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct table {
    const char *name;
    uint64_t number;
    bool listed;
    struct span tail; /* to be put in the place of its end, which has changed; or nothing */
    enum { LATER, NOW, DONE, LEFT_OUT } state;
};

struct hidden {
    enum rocks_family family;
    struct rocks_range range;
};

struct rescue {
    struct arena arena;
    const char *from, *work; /* the database; the directory in which its parts are put together */
    struct rocks *to;
    struct buf *gone;
    struct table *tables;
    size_t n_tables, cap_tables;
    struct hidden *hidden; /* what is still to be read */
    size_t n_hidden, cap_hidden;
    enum rocks_family family; /* being copied */
    bool again;               /* some of it may have been copied, in a newer version */
    bool opened;              /* RocksDB could open it as it is */
    uint64_t latest;          /* sequence number of the last entry found */
};

/* ---- what is left out, and what is gone ---- */

static struct table *find_table(struct rescue *x, uint64_t number)
{
    for (size_t i = 0; i < x->n_tables; i++)
        if (x->tables[i].number == number)
            return &x->tables[i];
    return NULL;
}

static size_t count(const struct rescue *x, int state)
{
    size_t n = 0;
    for (size_t i = 0; i < x->n_tables; i++)
        n += (int)x->tables[i].state == state;
    return n;
}

static void leave_out(struct rescue *x, struct table *t)
{
    struct listed_file f;
    t->state = LEFT_OUT;
    if (listed_find(&f, x->from, t->name) && *f.family)
        buf_printf(x->gone, "%s, a table of %s, cannot be read\n", t->name, f.family);
    else
        buf_printf(x->gone, "%s cannot be read\n", t->name);
}

/* RocksDB's messages end in "in PATH/000123.sst offset ...". Returns NULL if none is named. */
static struct table *find_named(struct rescue *x, const char *message)
{
    const char *end = strstr(message, ".sst"), *begin = end;
    while (begin && begin > message && isdigit((unsigned char)begin[-1]))
        begin--;
    struct table *t = begin < end ? find_table(x, strtoull(begin, NULL, 10)) : NULL;
    return t && t->state <= NOW ? t : NULL;
}

static void put_key(struct buf *b, const struct digest *key, bool is_text)
{
    for (int i = 0; i < (is_text ? DIGEST_SIZE : 8); i++)
        if (!is_text)
            buf_printf(b, "%02x", key->bytes[i]);
        else if (isprint(key->bytes[i]))
            buf_putc(b, (char)key->bytes[i]);
        else
            break;
}

static bool has_text_keys(enum rocks_family family)
{
    return family == ROCKS_REFS || family == ROCKS_FILES || family == ROCKS_RUNS ||
           family == ROCKS_META;
}

/* ---- reading ---- */

static enum err_code copy_entry(void *arg, struct span key, struct span value, struct err *e)
{
    struct rescue *x = arg;
    struct rocks_write w = {x->family, false, key, value};
    struct rocks_value v;
    if (x->again && rocks_get(&v, x->to, x->family, key, NULL) == OK) {
        rocks_value_free(&v);
        return OK;
    }
    return err_up(e, rocks_write(x->to, &w, 1, false, e));
}

static void note_hidden(void *arg, const struct rocks_range *range, const char *why)
{
    struct rescue *x = arg;
    bool is_text = has_text_keys(x->family);
    x->hidden = arena_grow(&x->arena, x->hidden, x->n_hidden, &x->cap_hidden, sizeof *x->hidden);
    x->hidden[x->n_hidden++] = (struct hidden){x->family, *range};
    struct table *t = find_named(x, why);
    if (t)
        t->state = DONE;
    buf_printf(x->gone, "%s: some entries from '", rocks_family_name(x->family));
    put_key(x->gone, &range->first, is_text);
    buf_puts(x->gone, "' to '");
    put_key(x->gone, &range->last, is_text);
    buf_printf(x->gone, "' are lost: %s\n", why);
}

/* Copies what was hidden, and notes what is hidden still. */
static enum err_code copy_hidden(struct rescue *x, struct rocks *from, struct err *e)
{
    struct hidden *before = x->hidden;
    size_t n = x->n_hidden;
    enum err_code code = OK;
    x->hidden = NULL;
    x->n_hidden = x->cap_hidden = 0;
    for (size_t i = 0; !code && i < n; i++) {
        x->family = before[i].family;
        code = rocks_scan(from, x->family, &before[i].range, copy_entry, note_hidden, x, e);
    }
    x->again = true;
    return err_up(e, code);
}

/* ---- tables ---- */

static int compare_numbers(const void *a, const void *b)
{
    const struct table *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static void list_tables(struct rescue *x)
{
    struct listed_file f;
    DIR *d = opendir(x->from);
    for (struct dirent *entry; d && (entry = readdir(d));) {
        if (!text_ends_in(entry->d_name, ".sst"))
            continue;
        x->tables =
            arena_grow(&x->arena, x->tables, x->n_tables, &x->cap_tables, sizeof *x->tables);
        struct table *t = &x->tables[x->n_tables++];
        *t = (struct table){.name = arena_strdup(&x->arena, entry->d_name),
                            .number = strtoull(entry->d_name, NULL, 10),
                            .listed = listed_find(&f, x->from, entry->d_name)};
        if (!listed_can_restore(&t->tail, &x->arena, x->from, t->name)) {
            t->tail.len = 0;
            if (listed_find_changed(&f, x->from, t->name))
                leave_out(x, t);
        }
    }
    if (d)
        closedir(d);
    if (x->n_tables)
        qsort(x->tables, x->n_tables, sizeof *x->tables, compare_numbers);
}

static bool is_read_now(void *arg, const char *name)
{
    struct table *t = text_ends_in(name, ".sst") ? find_table(arg, strtoull(name, NULL, 10)) : NULL;
    return t && t->state == NOW;
}

static bool is_linked(void *arg, const char *name)
{
    return is_read_now(arg, name) && !find_table(arg, strtoull(name, NULL, 10))->tail.len;
}

static enum err_code restore_tables(struct rescue *x, struct err *e)
{
    enum err_code code = OK;
    for (struct table *t = x->tables; !code && t < x->tables + x->n_tables; t++)
        if (t->state == NOW && t->tail.len)
            code = links_restore(arena_printf(&x->arena, "%s/%s", x->work, t->name), x->from, t->name,
                              t->tail, e);
    return err_up(e, code);
}

/* Leaves out the tables that rocksdb_repair_db has set aside. */
static void find_lost(struct rescue *x)
{
    DIR *d = opendir(arena_printf(&x->arena, "%s/lost", x->work));
    for (struct dirent *entry; d && (entry = readdir(d));)
        if (is_read_now(x, entry->d_name))
            leave_out(x, find_table(x, strtoull(entry->d_name, NULL, 10)));
    if (d)
        closedir(d);
}

/* Opens a database of the tables to be read now. */
static enum err_code open_tables(struct rocks **out, struct rescue *x, struct err *e)
{
    for (;;) {
        struct err why = {0};
        os_remove_tree(x->work);
        enum err_code code = links_make(x->work, x->from, is_linked, x, &why);
        if (!code)
            code = restore_tables(x, &why);
        if (!code)
            code = rocks_open_repaired(out, x->work, &why);
        find_lost(x);
        if (!code)
            return OK;
        struct table *bad = code == ERR_CORRUPT ? find_named(x, why.message) : NULL;
        if (!bad)
            return err_fail(e, code, "%s", why.message);
        leave_out(x, bad);
    }
}

static void hide_all(struct rescue *x)
{
    x->n_hidden = 0;
    for (int i = ROCKS_DEFAULT + 1; i < ROCKS_FAMILIES; i++) {
        x->hidden =
            arena_grow(&x->arena, x->hidden, x->n_hidden, &x->cap_hidden, sizeof *x->hidden);
        struct hidden *h = &x->hidden[x->n_hidden++];
        *h = (struct hidden){.family = (enum rocks_family)i};
        memset(h->range.last.bytes, 0xff, DIGEST_SIZE);
    }
}

/* Reads what is hidden from the tables to be read now, again without each that hides others. */
static enum err_code read_group(struct rescue *x, struct err *e)
{
    enum err_code code = OK;
    size_t before;
    do {
        struct rocks *r = NULL;
        code = open_tables(&r, x, e);
        before = count(x, NOW);
        if (!code) {
            x->latest = rocks_latest(r) > x->latest ? rocks_latest(r) : x->latest;
            code = copy_hidden(x, r, e);
        }
        rocks_close(r);
    } while (!code && x->n_hidden && count(x, NOW) < before);
    return err_up(e, code);
}

/* Reads the tables that are marked NOW. `over`: what they hold is newer than what has been read. */
static enum err_code read_marked(struct rescue *x, bool over, struct err *e)
{
    if (!x->opened) {
        hide_all(x);
        x->again = !over;
    }
    enum err_code code = x->n_hidden && count(x, NOW) ? read_group(x, e) : OK;
    for (size_t i = 0; i < x->n_tables; i++)
        if (x->tables[i].state == NOW)
            x->tables[i].state = DONE;
    return err_up(e, code);
}

/* The tables listed are those of one moment, and RocksDB can merge them. Others may hold the same
 * entries, which it cannot: those made later are read after them, one by one; so are those removed
 * before, or made then, for what is absent. */
static enum err_code read_tables(struct rescue *x, struct err *e)
{
    uint64_t last = 0;
    for (size_t i = 0; i < x->n_tables; i++) {
        struct table *t = &x->tables[i];
        if (t->listed && t->number > last)
            last = t->number;
        if (t->listed && t->state == LATER)
            t->state = NOW;
    }
    enum err_code code = read_marked(x, true, e);
    for (int over = 1; over >= 0; over--)
        for (size_t i = 0; !code && i < x->n_tables; i++)
            if (x->tables[i].state == LATER && (x->tables[i].number > last) == over) {
                x->tables[i].state = NOW;
                code = read_marked(x, over, e);
            }
    return err_up(e, code);
}

/* Reads the database as RocksDB opens it, logs included, unless that might end in a crash or in that
 * of an older database. rocksdb_repair_db would give up all of a table that has a bad block. */
static enum err_code read_as_it_is(struct rescue *x, struct err *e)
{
    struct rocks *r;
    struct listed_file f;
    bool restored = false;
    for (size_t i = 0; i < x->n_tables; i++)
        restored = restored || x->tables[i].tail.len;
    if (restored || listed_find_changed(&f, x->from, NULL) ||
        rocks_open_lenient(&r, x->from, ROCKS_READ, NULL) != OK)
        return OK;
    x->latest = rocks_latest(r);
    x->opened = true;
    enum err_code code = copy_hidden(x, r, e);
    rocks_close(r);
    return err_up(e, code);
}

/* ---- logs ---- */

static void tell_of_logs(struct rescue *x)
{
    struct listed_file f;
    DIR *d = opendir(x->from);
    for (struct dirent *entry; d && (entry = readdir(d));)
        if (text_ends_in(entry->d_name, ".log") && listed_find_changed(&f, x->from, entry->d_name))
            buf_printf(x->gone, "%s is not as it was written: entries are lost\n", f.name);
    uint64_t acknowledged = rocks_acknowledged(x->from);
    if (!count(x, LEFT_OUT) && acknowledged > x->latest)
        buf_printf(x->gone, "the last %" PRIu64 " entries acknowledged are lost\n",
                   acknowledged - x->latest);
    if (d)
        closedir(d);
}

static enum err_code read_logs(struct rescue *x, struct err *e)
{
    uint64_t last = 0;
    os_remove_tree(x->work);
    enum err_code code = rocks_repeat_logs(&last, x->to, x->work, x->from, e);
    x->latest = last > x->latest ? last : x->latest;
    return err_up(e, code);
}

enum err_code rocks_rescue(struct buf *gone, const char *to, const char *from, struct err *e)
{
    struct err why = {0};
    struct rescue x = {.from = from, .gone = gone};
    x.work = arena_printf(&x.arena, "%s" ROCKS_REPAIRED, from);
    enum err_code code = rocks_open(&x.to, to, ROCKS_CREATE, &why);
    if (!code) {
        rocks_settle(x.to);
        list_tables(&x);
        hide_all(&x);
        code = read_as_it_is(&x, &why);
    }
    if (!code)
        code = read_tables(&x, &why);
    if (!code)
        code = read_logs(&x, &why);
    if (!code) {
        tell_of_logs(&x);
        code = rocks_flush(x.to, &why);
    }
    rocks_close(x.to);
    os_remove_tree(x.work);
    arena_free(&x.arena);
    return code ? err_fail(e, code, "%s", why.message) : OK;
}
