#include "engine/export/file_record.h"

#include "checkpoint.pb-c.h"
#include "report.pb-c.h"

#include <string.h>
#include <sys/stat.h>

/* Takes a piece of the file; false: no more is wanted. */
typedef bool take_piece(void *arg, struct span piece);

static enum err_code each_piece(take_piece *take, void *arg, struct store *s,
                                const struct digest *id, struct err *e)
{
    struct arena a = {0}, scratch = {0};
    ProtobufCMessage *m;
    enum err_code code = store_get_message(&m, s, id, KIND_FILE, &a, e);
    const Eqloom__File *file = code ? NULL : (const Eqloom__File *)m;
    bool more = file && take(arg, span_of(file->data.data, file->data.len));
    for (size_t i = 0; more && !code && i + DIGEST_SIZE <= file->chunk_ids.len; i += DIGEST_SIZE) {
        struct digest chunk;
        memcpy(chunk.bytes, file->chunk_ids.data + i, DIGEST_SIZE);
        code = store_get_message(&m, s, &chunk, KIND_CHUNK, &scratch, e);
        if (!code)
            more =
                take(arg, span_of(((Eqloom__Chunk *)m)->data.data, ((Eqloom__Chunk *)m)->data.len));
        arena_reset(&scratch);
    }
    arena_free(&a);
    arena_free(&scratch);
    return err_up(e, code);
}

static bool write_piece(void *arg, struct span piece)
{
    fwrite(piece.data, 1, piece.len, arg);
    return true;
}

enum err_code file_record_write(FILE *to, struct store *s, const struct digest *id, struct err *e)
{
    return err_up(e, each_piece(write_piece, to, s, id, e));
}

struct comparison {
    FILE *file;
    bool same;
};

static bool compare_piece(void *arg, struct span piece)
{
    struct comparison *c = arg;
    char block[65536];
    for (size_t at = 0, n; c->same && at < piece.len; at += n) {
        n = piece.len - at < sizeof block ? piece.len - at : sizeof block;
        c->same =
            fread(block, 1, n, c->file) == n && !memcmp(block, (const char *)piece.data + at, n);
    }
    return c->same;
}

enum err_code file_record_equals(bool *same, const char *path, struct store *s,
                                 const struct digest *id, struct err *e)
{
    struct stat st;
    struct comparison c = {.same = true};
    bool plain = !stat(path, &st) && S_ISREG(st.st_mode);
    *same = false;
    if (!plain || !(c.file = fopen(path, "rb")))
        return OK;
    enum err_code code = each_piece(compare_piece, &c, s, id, e);
    *same = !code && c.same && getc(c.file) == EOF;
    fclose(c.file);
    return err_up(e, code);
}
