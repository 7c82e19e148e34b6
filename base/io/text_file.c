#include "base/io/text_file.h"

#include "base/io/unpack.h"
#include "base/os.h"

#include <string.h>
#include <unistd.h>

/* Four bytes tell the encoding even without a byte order mark, since no text has a NUL. */
static const char *wide_encoding(struct span b)
{
    bool zero[4] = {0};
    if (b.len >= 2 && (!memcmp(b.data, "\xff\xfe", 2) || !memcmp(b.data, "\xfe\xff", 2)) &&
        (b.len < 4 || memcmp(b.data + 2, "\0\0", 2)))
        return "UTF-16";
    if (b.len < 4)
        return NULL;
    for (int i = 0; i < 4; i++)
        zero[i] = !b.data[i];
    if ((zero[0] && zero[1]) || (zero[2] && zero[3]))
        return "UTF-32";
    return zero[0] != zero[1] && zero[0] == zero[2] && zero[1] == zero[3] ? "UTF-16" : NULL;
}

/* Returns the text with LF for each CR LF. */
static struct span with_line_feeds(struct arena *a, struct span text)
{
    if (!text.len || !memchr(text.data, '\r', text.len))
        return text;
    uint8_t *out = arena_alloc(a, text.len + 1), *to = out;
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] != '\r' || (i + 1 < text.len && text.data[i + 1] != '\n'))
            *to++ = text.data[i];
    *to = 0;
    return span_of(out, (size_t)(to - out));
}

static enum err_code unpacked(struct span *text, struct arena *a, const char *name, size_t limit,
                              struct err *e)
{
    struct buf out = {0};
    const char *why = unpack_single(&out, *text, limit);
    char *copy = why ? NULL : arena_try_alloc(a, out.len + 1, 1);
    enum err_code code = why     ? err_fail(e, ERR_INPUT, "%s: %s", name, why)
                         : !copy ? err_fail(e, ERR_NOMEM, "no memory to unpack %s", name)
                                 : OK;
    if (copy) {
        if (out.len)
            memcpy(copy, out.data, out.len);
        copy[out.len] = 0;
        *text = span_of(copy, out.len);
    }
    buf_free(&out);
    return code;
}

enum err_code text_file_decode(struct source_text *out, struct arena *a,
                               const struct source_text *bytes, size_t limit, struct err *e)
{
    struct span text = span_of(bytes->text, bytes->len);
    enum err_code code = OK;
    if (unpack_is_archive(text))
        code = unpacked(&text, a, bytes->name, limit, e);
    if (code)
        return err_up(e, code);
    if (text.len > limit)
        return err_fail(e, ERR_INPUT, "%s: more than %zu bytes", bytes->name, limit);
    const char *wide = wide_encoding(text);
    if (wide) {
        code = err_fail(e, ERR_INPUT, "%s: this is %s, not UTF-8", bytes->name, wide);
        err_hint(e, "'iconv -f %s -t utf-8' converts it", wide);
        return code;
    }
    if (span_starts_with(text, span_str("\xef\xbb\xbf")))
        text = span_of(text.data + 3, text.len - 3);
    text = with_line_feeds(a, text);
    *out = (struct source_text){bytes->name, (const char *)text.data, text.len};
    return OK;
}

enum err_code text_file_read(struct source_text *out, struct arena *a, const char *path,
                             size_t limit, struct err *e)
{
    struct span bytes;
    bool input = !strcmp(path, TEXT_FILE_INPUT);
    const char *name = input ? "<standard input>" : path;
    enum err_code code = input ? os_read_stream(&bytes, a, STDIN_FILENO, name, limit, e)
                               : os_read_file(&bytes, a, path, limit, e);
    if (code)
        return err_up(e, code);
    struct source_text file = {name, (const char *)bytes.data, bytes.len};
    return err_up(e, text_file_decode(out, a, &file, limit, e));
}
