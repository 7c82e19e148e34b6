/* Records, and files of stores. */
#include "tests/fuzz/fuzz.h"

#include "base/digest.h"
#include "base/os.h"
#include "schemas/canonical.h"
#include "store/db/rocks_internal.h"
#include "store/pack/pack.h"
#include "store/record/envelope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The canonical form: the first byte chooses the kind; what is accepted packs to the same bytes. */
static enum err_code ignore_id(void *arg, const struct digest *id, struct err *e)
{
    return OK;
}

FUZZ(canonical)
{
    if (size == 0)
        return;
    const struct kind_info *info = kind_info((enum record_kind)(1 + data[0] % (KIND_END - 1)));
    struct span bytes = span_of(data + 1, size - 1), again;
    struct err e = {0};
    ProtobufCMessage *message;
    if (canonical_unpack(&message, a, info->descriptor, bytes, &e) == OK) {
        if (canonical_pack(&again, a, message, &e) != OK || !span_equal(bytes, again))
            __builtin_trap();
        message_visit_ids(message, ignore_id, NULL, &e);
    } else if (e.code != ERR_CORRUPT || !e.message[0]) {
        __builtin_trap();
    }
}

/* The envelope: whatever the bytes, a payload or one error; a payload survives being stored. */
FUZZ(envelope)
{
    struct err e = {0};
    struct coder *c = coder_new();
    struct record r, back;
    /* A frame may claim far more than a fuzzer's memory allows. */
    enum record_kind kind;
    uint64_t length;
    if (envelope_peek(&kind, &length, span_of(data, size), &e) == OK && length < 1 << 20) {
        if (envelope_read(&r, c, span_of(data, size), a, &e) == OK) {
            struct buf out = {0};
            struct digest id = record_id(r.kind, r.payload);
            if (r.kind != kind || r.payload.len != length ||
                envelope_write(&out, c, EFFORT_HIGH, r.kind, r.payload, &e) != OK ||
                envelope_verify(&back, c, &id, span_of(out.data, out.len), a, &e) != OK)
                __builtin_trap();
            buf_free(&out);
        }
    }
    coder_free(c);
}

/* ---- files of stores, in a directory of the target's own ---- */

static char directory[] = "/tmp/fuzz-store-XXXXXX";

static void remove_directory(void)
{
    os_remove_tree(directory);
}

static void make_directory(void)
{
    if (!mkdtemp(directory) || atexit(remove_directory))
        abort();
}

static void write_file(const char *name, struct span bytes, const char *end)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *f = fopen(path, "wb");
    if (!f || (bytes.len && fwrite(bytes.data, bytes.len, 1, f) != 1) || fputs(end, f) < 0 ||
        fclose(f))
        abort();
}

/* What a store from elsewhere says of its files (LISTED), under a sum that fits: whatever it names,
 * an answer, and the file that it blames. The first byte chooses between all files and one. */
FUZZ(listed)
{
    static bool made;
    if (!made) {
        make_directory();
        write_file("MANIFEST-000005", span_str("the list"), "");
        write_file("000007.sst", span_str("a table"), "");
        made = true;
    }
    if (size == 0)
        return;
    char hex[DIGEST_HEX], sum[16];
    struct listed_file bad;
    struct span text = span_of(data + 1, size - 1);
    struct digest d = digest_of(&text, 1);
    snprintf(sum, sizeof sum, "%.8s\n", digest_hex(hex, &d));
    write_file("LISTED", text, sum);
    listed_find_lost_log(&bad, directory, 0);
    if (listed_find_changed(&bad, directory, data[0] & 1 ? "000007.sst" : NULL) &&
        (strchr(bad.name, '/') || access(directory, F_OK) != 0))
        __builtin_trap();
}

/* Packs: whatever the bytes, records that are what their ids say in a store, or one error. */
static enum err_code check_record(void *arg, const struct digest *id, enum record_kind kind,
                                  uint64_t stored_bytes, struct err *e)
{
    struct arena a = {0};
    struct record r;
    if (store_get(&r, arg, id, &a, e) || r.kind != kind)
        __builtin_trap();
    arena_free(&a);
    return OK;
}

FUZZ(pack)
{
    static struct store *s;
    struct pack_result result;
    struct err e = {0};
    if (!s) {
        make_directory();
        if (store_open(&s, &(struct store_options){.path = directory, .create = true}, NULL))
            abort();
    }
    if (size == 0)
        return;
    FILE *from = fmemopen((void *)(uintptr_t)data, size, "rb");
    enum err_code code = store_unpack(&result, s, from, "input", PACK_FOREIGN, &e);
    if ((code == OK) != (e.message[0] == 0) || store_each_record(s, check_record, s, NULL))
        __builtin_trap();
    fclose(from);
}
