/* Files written beside their targets; see out_file.h. */
#include "engine/cli/export/out_file.h"

#include "checkpoint.pb-c.h"
#include "report.pb-c.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum err_code out_file_open(struct out_file *out, struct arena *a, const char *path, struct err *e)
{
    char *beside = arena_printf(a, "%s.%ld.tmp", path, (long)getpid());
    *out = (struct out_file){.f = fopen(beside, "wb"), .path = path, .beside = beside};
    return out->f ? OK : err_fail(e, ERR_IO, "cannot write %s", path);
}

enum err_code out_file_close(struct out_file *x, enum err_code code, struct err *e)
{
    if (!x->f)
        return err_up(e, code);
    bool good = !ferror(x->f) && !fflush(x->f);
    good = !fclose(x->f) && good;
    x->f = NULL;
    if (!code && good && !rename(x->beside, x->path))
        return OK;
    unlink(x->beside);
    return code ? err_up(e, code) : err_fail(e, ERR_IO, "cannot write %s", x->path);
}

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
