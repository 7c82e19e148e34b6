/* Packs: whatever the bytes, records that are what their ids say, or one error. */
#include "store/pack/pack.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum err_code check_record(void *arg, const struct digest *id, const struct record *r,
                                  struct err *e)
{
    struct digest again = record_id(r->kind, r->payload);
    if (!digest_equal(&again, id))
        __builtin_trap();
    return OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pack_result result;
    struct pack_visitor visitor = {.record = check_record};
    struct err e = {0};
    if (size == 0)
        return 0;
    FILE *from = fmemopen((void *)(uintptr_t)data, size, "rb");
    enum err_code code = pack_read(&result, from, "input", &visitor, &e);
    if ((code == OK) != (e.message[0] == 0))
        __builtin_trap();
    fclose(from);
    return 0;
}
