/* Records of others as `show` and `query` print them: whatever a record holds, JSON that is read
 * back. The first byte chooses the kind. */
#include "engine/export/reflect.h"

#include "schemas/canonical.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const struct kind_info *kind = kind_info((enum record_kind)(1 + data[0] % (KIND_END - 1)));
    struct arena a = {0};
    ProtobufCMessage *m;
    if (canonical_unpack(&m, &a, kind->descriptor, span_of(data + 2, size - 2), NULL) == OK) {
        char *text = NULL;
        size_t n = 0;
        json_error_t unused;
        FILE *to = open_memstream(&text, &n);
        reflect_print(to, m, REFLECT_LATEX, data[1]);
        rewind(to);
        reflect_dump(to, reflect_json(m, REFLECT_LATEX));
        fclose(to);
        json_t *back = json_loads(text, JSON_DISABLE_EOF_CHECK, &unused);
        if (!back)
            __builtin_trap();
        json_decref(back);
        free(text);
    }
    arena_free(&a);
    return 0;
}
