/* The canonical form: the first byte chooses the kind; what is accepted packs to the same bytes. */
#include "schemas/canonical.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum err_code ignore_id(void *arg, const uint8_t id[32], struct err *e)
{
    return OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const struct kind_info *info = kind_info((enum record_kind)(1 + data[0] % (KIND_END - 1)));
    struct span bytes = span_of(data + 1, size - 1), again;
    struct arena a = {0};
    struct err e = {0};
    ProtobufCMessage *message;
    if (canonical_unpack(&message, &a, info->descriptor, bytes, &e) == OK) {
        if (canonical_pack(&again, &a, message, &e) != OK || !span_equal(bytes, again))
            __builtin_trap();
        message_visit_ids(message, ignore_id, NULL, &e);
    } else if (e.code != ERR_CORRUPT || !e.message[0]) {
        __builtin_trap();
    }
    arena_free(&a);
    return 0;
}
