/* Pictures and text. */
#include "tests/fuzz/fuzz.h"

#include "base/io/picture.h"
#include "base/text/utf8.h"
#include "base/text/yaml.h"

#include <assert.h>
#include <string.h>

/* Any bytes as a PNG: refused, or a picture that is written and read as the same. */
FUZZ(png)
{
    struct err e = {0};
    struct picture p, again;
    struct span file;
    if (!picture_read_png(&p, a, span_of(data, size), &e)) {
        assert(!picture_write_png(&file, a, &p, &e));
        assert(!picture_read_png(&again, a, file, &e));
        assert(p.width == again.width && p.height == again.height);
        assert(!memcmp(p.pixels, again.pixels, (size_t)p.width * p.height));
    }
}

/* UTF-8: as much of it is text as a decoder that knows nothing but the ranges of code points says.
 */
/* The length of the character at s, 0 if there is none or not all of it. */
static size_t decode(const uint8_t *s, size_t n)
{
    static const uint32_t first[] = {0, 0, 0x80, 0x800, 0x10000}; /* that needs so many bytes */
    size_t length = 1;
    uint32_t c = s[0];
    if (c < 0x80)
        return 1;
    while (length < 5 && s[0] & 0x80 >> length)
        length++;
    if (length < 2 || length > 4 || length > n)
        return 0;
    c &= 0x7fu >> length;
    for (size_t i = 1; i < length; i++) {
        if (s[i] >> 6 != 2)
            return 0;
        c = c << 6 | (s[i] & 0x3f);
    }
    return c < first[length] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : length;
}

FUZZ(text)
{
    struct source_text source = {"fuzz", (const char *)data, size};
    struct err e = {0};
    size_t n = 0, step;
    while (n < size && (step = decode(data + n, size - n)))
        n += step;
    bool text = n == size;
    for (size_t i = 0; i < size; i++)
        text &= data[i] && (data[i] != '\r' || (i + 1 < size ? data[i + 1] == '\n' : true));
    if (utf8_prefix(data, size) != n || (utf8_check(&source, &e) == OK) != text ||
        (!text && e.line < 1))
        __builtin_trap();
    /* What is cut off may become a character; what is none may not. */
    size_t rest = n < size ? utf8_character(data + n, size - n) : 1;
    if (rest == 0 || rest == UTF8_CUT) {
        uint8_t longer[4] = {0x80, 0x80, 0x80, 0x80};
        size_t left = size - n;
        bool may = false;
        for (size_t i = 0; i < left && i < 4; i++)
            longer[i] = data[n + i];
        for (unsigned next = 0x80; left < 4 && next < 0xc0; next++) {
            longer[left] = (uint8_t)next;
            may |= decode(longer, 4) > left;
        }
        if (n < size && may != (rest == UTF8_CUT))
            __builtin_trap();
    }
}

/* The YAML layer: whatever the bytes, a tree or one error. */
static size_t count(const struct yaml_node *node)
{
    size_t n = 1;
    for (size_t i = 0; node->type == YAML_SEQUENCE && i < node->n; i++)
        n += count(node->items[i]);
    for (size_t i = 0; node->type == YAML_MAPPING && i < node->n; i++)
        n += count(node->pairs[i].key) + count(node->pairs[i].value);
    return n;
}

FUZZ(yaml)
{
    struct source_text source = {"fuzz", (const char *)data, size};
    struct err e = {0};
    const struct yaml_node *root;
    if (!yaml_parse(&root, a, &source, &e)) {
        if (root && count(root) > YAML_MAX_NODES)
            __builtin_trap();
    } else if (!e.message[0]) {
        __builtin_trap();
    }
}
