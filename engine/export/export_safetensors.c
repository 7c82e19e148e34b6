/* safetensors:
 *
 *     | header length, 8 bytes little-endian | header: JSON, padded with blanks to 8 | data |
 *
 * with the offsets in the header counted from the beginning of the data. */
#include "engine/export/export_safetensors.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { ID = 32 };

static bool is_weight(const Eqloom__Tensor *t)
{
    return !strchr(t->name, '/');
}

static enum err_code tensor_bytes(uint64_t *bytes, const char **dtype, const Eqloom__Tensor *t,
                                  struct err *e)
{
    static const struct {
        const char *ours, *theirs;
        unsigned size;
    } types[] = {{"f32", "F32", 4}, {"bf16", "BF16", 2}, {"f16", "F16", 2}};
    *dtype = NULL;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i].ours, t->dtype)) {
            *dtype = types[i].theirs;
            *bytes = types[i].size;
        }
    if (!*dtype)
        return err_fail(e, ERR_UNSUPPORTED, "tensor '%.100s' holds '%.20s'", t->name, t->dtype);
    for (size_t i = 0; i < t->n_shape; i++)
        if (__builtin_mul_overflow(*bytes, t->shape[i], bytes))
            return err_fail(e, ERR_CORRUPT, "tensor '%.100s' has an impossible shape", t->name);
    return OK;
}

static enum err_code make_header(json_t **out, const Eqloom__Checkpoint *c, struct err *e)
{
    char step[24];
    snprintf(step, sizeof step, "%" PRIu64, c->step);
    *out = json_pack("{s:{s:s, s:s, s:s}}", "__metadata__", "format", "pt", "architecture",
                     c->architecture, "step", step);
    uint64_t offset = 0;
    for (size_t i = 0; i < c->n_tensors; i++) {
        const Eqloom__Tensor *t = c->tensors[i];
        uint64_t bytes;
        const char *dtype;
        if (!is_weight(t))
            continue;
        enum err_code code = tensor_bytes(&bytes, &dtype, t, e);
        if (code)
            return err_up(e, code);
        json_t *shape = json_array();
        for (size_t k = 0; k < t->n_shape; k++)
            json_array_append_new(shape, json_integer((json_int_t)t->shape[k]));
        json_object_set_new(*out, t->name,
                            json_pack("{s:s, s:o, s:[I, I]}", "dtype", dtype, "shape", shape,
                                      "data_offsets", (json_int_t)offset,
                                      (json_int_t)(offset + bytes)));
        offset += bytes;
    }
    return OK;
}

static enum err_code write_header(FILE *to, const Eqloom__Checkpoint *c, struct err *e)
{
    json_t *header = NULL;
    enum err_code code = make_header(&header, c, e);
    char *text = code ? NULL : json_dumps(header, JSON_COMPACT);
    json_decref(header);
    if (!code && !text)
        code = err_fail(e, ERR_CORRUPT, "a tensor's name is not text");
    if (code)
        return err_up(e, code);
    size_t len = strlen(text), padded = (len + 7) & ~(size_t)7;
    uint8_t size[8];
    put_le(size, padded, 8);
    fwrite(size, 1, sizeof size, to);
    fprintf(to, "%-*s", (int)padded, text);
    free(text);
    return OK;
}

static enum err_code write_tensor(FILE *to, const Eqloom__Tensor *t, safetensors_chunk *chunk,
                                  void *arg, struct err *e)
{
    uint64_t bytes, written = 0;
    const char *dtype;
    enum err_code code = tensor_bytes(&bytes, &dtype, t, e);
    for (size_t i = 0; !code && i + ID <= t->chunk_ids.len; i += ID) {
        struct span data;
        if ((code = chunk(&data, arg, t->chunk_ids.data + i, e)))
            break;
        fwrite(data.data, 1, data.len, to);
        written += data.len;
    }
    if (!code && written != bytes)
        return err_fail(e, ERR_CORRUPT,
                        "tensor '%.100s': %" PRIu64 " bytes stored, its shape needs %" PRIu64,
                        t->name, written, bytes);
    return err_up(e, code);
}

enum err_code safetensors_write(FILE *to, const Eqloom__Checkpoint *checkpoint,
                                safetensors_chunk *chunk, void *arg, struct err *e)
{
    enum err_code code = write_header(to, checkpoint, e);
    for (size_t i = 0; !code && i < checkpoint->n_tensors; i++)
        if (is_weight(checkpoint->tensors[i]))
            code = write_tensor(to, checkpoint->tensors[i], chunk, arg, e);
    return err_up(e, code);
}

/* Returns an object with a member for each "key=value" line: a number, a Boolean or a string. */
static json_t *architecture(const char *text)
{
    json_t *o = json_object();
    while (*text) {
        size_t key = strcspn(text, "=\n"), line = strcspn(text, "\n");
        if (key < line) {
            const char *value = text + key + 1;
            size_t n = line - key - 1;
            bool number = n && strspn(value, "0123456789") >= n;
            bool yes = n == 4 && !memcmp(value, "true", 4);
            bool no = n == 5 && !memcmp(value, "false", 5);
            json_object_setn_new(o, text, key,
                                 number      ? json_integer(strtoll(value, NULL, 10))
                                 : yes || no ? json_boolean(yes)
                                             : json_stringn(value, n));
        }
        text += line + (text[line] == '\n');
    }
    return o;
}

void safetensors_config(FILE *to, const Eqloom__Checkpoint *c, const Eqloom__Vocabulary *vocabulary)
{
    json_t *o = json_pack("{s:o, s:I}", "architecture", architecture(c->architecture), "step",
                          (json_int_t)c->step);
    if (vocabulary) {
        json_t *tokens = json_array();
        for (size_t i = 0; i < vocabulary->n_tokens; i++)
            json_array_append_new(tokens, json_string(vocabulary->tokens[i]));
        json_object_set_new(o, "encoding", json_string(vocabulary->encoding));
        json_object_set_new(o, "tokens", tokens);
    }
    json_dumpf(o, to, JSON_INDENT(1));
    fputc('\n', to);
    json_decref(o);
}
