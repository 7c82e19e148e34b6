/* See file_record.h. */
#include "engine/export/file_record.h"

#include "checkpoint.pb-c.h"
#include "report.pb-c.h"

#include <string.h>

enum err_code file_record_write(FILE *to, struct store *s, const struct digest *id, struct err *e)
{
    struct arena a = {0}, scratch = {0};
    ProtobufCMessage *m;
    enum err_code code = store_get_message(&m, s, id, KIND_FILE, &a, e);
    const Eqloom__File *file = code ? NULL : (const Eqloom__File *)m;
    if (file)
        fwrite(file->data.data, 1, file->data.len, to);
    for (size_t i = 0; !code && i + DIGEST_SIZE <= file->chunk_ids.len; i += DIGEST_SIZE) {
        struct digest chunk;
        memcpy(chunk.bytes, file->chunk_ids.data + i, DIGEST_SIZE);
        code = store_get_message(&m, s, &chunk, KIND_CHUNK, &scratch, e);
        if (!code)
            fwrite(((Eqloom__Chunk *)m)->data.data, 1, ((Eqloom__Chunk *)m)->data.len, to);
        arena_reset(&scratch);
    }
    arena_free(&a);
    arena_free(&scratch);
    return err_up(e, code);
}
