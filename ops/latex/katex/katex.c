/* See katex.h. The heap's memory is counted. If a call exhausts it, the heap is created anew and
 * the text tried once more, so that whether a text is too large depends on the text alone. */
#include "ops/latex/katex/katex.h"

#include "base/buf.h"
#include "base/text/utf8.h"

#include <duktape.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { HEAP_MAX = 64 << 20, COLLECT_EVERY = 64 };

struct katex {
    duk_context *duk;
    const struct katex_part *script;
    size_t used;
    bool exhausted; /* an allocation was refused */
    unsigned calls;
};

/* ---- counted memory: the size is stored before each block ---- */

enum { HEADER = 16 };

static void *resize(struct katex *k, void *p, size_t size)
{
    char *block = p ? (char *)p - HEADER : NULL;
    size_t before = 0;
    if (block)
        memcpy(&before, block, sizeof before);
    if (size > before && k->used + (size - before) > HEAP_MAX) {
        k->exhausted = true;
        return NULL;
    }
    char *moved = realloc(block, size + HEADER);
    if (!moved)
        return NULL;
    k->used += size - before;
    memcpy(moved, &size, sizeof size);
    return moved + HEADER;
}

static void deallocate(void *udata, void *p)
{
    struct katex *k = udata;
    size_t size;
    if (!p)
        return;
    memcpy(&size, (char *)p - HEADER, sizeof size);
    k->used -= size;
    free((char *)p - HEADER);
}

static void *allocate(void *udata, duk_size_t size)
{
    return size ? resize(udata, NULL, size) : NULL;
}

static void *reallocate(void *udata, void *p, duk_size_t size)
{
    if (size)
        return resize(udata, p, size);
    deallocate(udata, p);
    return NULL;
}

/* Duktape calls this for errors outside every protected call; a text cannot cause one. */
static void fatal(void *udata, const char *message)
{
    abort();
}

/* ---- the heap ---- */

static enum err_code load(struct katex *k, const char *text, size_t len, const char *name,
                          struct err *e)
{
    duk_push_string(k->duk, name);
    if (duk_pcompile_lstring_filename(k->duk, 0, text, len) || duk_pcall(k->duk, 0))
        return err_fail(e, ERR_FAILED, "cannot load %s: %.300s", name,
                        duk_safe_to_string(k->duk, -1));
    duk_pop(k->duk);
    return OK;
}

static enum err_code open_heap(struct katex *k, struct err *e)
{
    const struct katex_source *s = &katex_source;
    k->used = 0;
    k->calls = 0;
    k->duk = duk_create_heap(allocate, reallocate, deallocate, k, fatal);
    if (!k->duk)
        return err_fail(e, ERR_NOMEM, "no memory for KaTeX");
    enum err_code code = load(k, s->katex, s->katex_len, "katex.min.js", e);
    if (!code)
        code = load(k, k->script->text, k->script->len, "its script", e);
    k->exhausted = false;
    return err_up(e, code);
}

enum err_code katex_new(struct katex **out, const struct katex_part *script, struct err *e)
{
    struct katex *k = must_calloc(1, sizeof *k);
    k->script = script;
    enum err_code code = open_heap(k, e);
    if (code)
        katex_free(k);
    else
        *out = k;
    return err_up(e, code);
}

void katex_free(struct katex *k)
{
    if (!k)
        return;
    if (k->duk)
        duk_destroy_heap(k->duk);
    free(k);
}

/* ---- strings: Duktape's are CESU-8, with surrogates for characters above U+FFFF ---- */

static void push_text(duk_context *d, const char *text)
{
    struct buf b = {0};
    const uint8_t *end = (const uint8_t *)text + strlen(text);
    for (const uint8_t *s = (const uint8_t *)text; s < end; s++) {
        if (utf8_character(s, (size_t)(end - s)) != 4) {
            buf_putc(&b, (char)*s);
            continue;
        }
        unsigned c = (*s & 7u) << 18 | (s[1] & 63u) << 12 | (s[2] & 63u) << 6 | (s[3] & 63u);
        unsigned high = 0xd800 + ((c - 0x10000) >> 10), low = 0xdc00 + (c & 0x3ff);
        buf_printf(&b, "\xed%c%c\xed%c%c", 0x80 | (high >> 6 & 63), 0x80 | (high & 63),
                   0x80 | (low >> 6 & 63), 0x80 | (low & 63));
        s += 3;
    }
    duk_push_lstring(d, b.data, b.len);
    buf_free(&b);
}

/* Replaces lone surrogates by U+FFFD. */
static const char *take_text(struct arena *a, const char *text)
{
    size_t n = strlen(text), w = 0;
    char *out = arena_strndup(a, text, n);
    const unsigned char *s = (const unsigned char *)text;
    for (size_t i = 0; i < n;) {
        if (s[i] != 0xed || s[i + 1] < 0xa0) {
            out[w++] = text[i++];
            continue;
        }
        bool pair = s[i + 1] < 0xb0 && s[i + 3] == 0xed && s[i + 4] >= 0xb0;
        unsigned c = 0xfffd;
        if (pair)
            c = 0x10000 + ((s[i + 1] & 15u) << 16 | (s[i + 2] & 63u) << 10 | (s[i + 4] & 15u) << 6 |
                           (s[i + 5] & 63u));
        if (pair)
            out[w++] = (char)(0xf0 | c >> 18);
        out[w++] = (char)(pair ? 0x80 | (c >> 12 & 63) : 0xe0 | c >> 12);
        out[w++] = (char)(0x80 | (c >> 6 & 63));
        out[w++] = (char)(0x80 | (c & 63));
        i += pair ? 6 : 3;
    }
    out[w] = 0;
    return out;
}

/* ---- calls ---- */

struct request {
    const char *latex;
    const Eqloom__Equation *equation; /* NULL if a tree is requested */
};

static void put_string(duk_context *d, const char *key, const char *text)
{
    push_text(d, text);
    duk_put_prop_string(d, -2, key);
}

static void push_macro(duk_context *d, const Eqloom__Macro *m)
{
    duk_push_object(d);
    put_string(d, "name", m->name);
    put_string(d, "spec", m->spec);
    put_string(d, "body", m->body);
    put_string(d, "end", m->end);
    put_string(d, "delimiters", m->delimiters);
    duk_push_boolean(d, m->let);
    duk_put_prop_string(d, -2, "let");
}

/* Called protected, as pushing may run out of memory too. */
static duk_ret_t call(duk_context *d, void *udata)
{
    const struct request *r = udata;
    const Eqloom__Equation *q = r->equation;
    duk_get_global_string(d, q ? "eqloom_mathml" : "eqloom_tree");
    push_text(d, r->latex);
    if (!q) {
        duk_call(d, 1);
        return 1;
    }
    push_text(d, q->environment);
    duk_push_array(d);
    for (size_t i = 0; i < q->n_macros; i++) {
        push_macro(d, q->macros[i]);
        duk_put_prop_index(d, -2, (duk_uarridx_t)i);
    }
    if (q->environment[0]) {
        duk_push_array(d);
        for (size_t i = 0; i < q->n_packages; i++) {
            push_text(d, q->packages[i]);
            duk_put_prop_index(d, -2, (duk_uarridx_t)i);
        }
    } else { /* no document says which packages are loaded */
        duk_push_null(d);
    }
    duk_call(d, 4);
    return 1;
}

static void refuse(struct katex_answer *out, const char *reason, const char *detail)
{
    *out = (struct katex_answer){.refused = reason, .detail = detail};
}

/* Tries once. A refusal has the form "reason\ndetail", preceded by "!position\n" for a tree. */
static void attempt(struct katex_answer *out, struct arena *a, struct katex *k,
                    const struct request *r)
{
    k->exhausted = false;
    if (duk_safe_call(k->duk, call, (void *)r, 0, 1)) {
        refuse(out, "too large", take_text(a, duk_safe_to_string(k->duk, -1)));
        duk_pop(k->duk);
        return;
    }
    const char *text = take_text(a, duk_safe_to_string(k->duk, -1));
    duk_pop(k->duk);
    if (*text == '<' || *text == '[') {
        *out = (struct katex_answer){.text = text};
        return;
    }
    size_t position = 0;
    if (*text == '!') {
        position = strtoul(text + 1, NULL, 10);
        text += strcspn(text, "\n") + 1;
    }
    size_t n = strcspn(text, "\n");
    refuse(out, arena_strndup(a, text, n), text[n] ? text + n + 1 : "");
    out->position = position;
}

static enum err_code ask(struct katex_answer *out, struct arena *a, struct katex *k,
                         const struct request *r, struct err *e)
{
    if (k->calls++ % COLLECT_EVERY == COLLECT_EVERY - 1)
        duk_gc(k->duk, 0);
    for (bool fresh = k->calls == 1;; fresh = true) {
        attempt(out, a, k, r);
        if (!k->exhausted)
            return OK;
        duk_destroy_heap(k->duk);
        enum err_code code = open_heap(k, e);
        if (code || fresh)
            return err_up(e, code);
    }
}

enum err_code katex_mathml(struct katex_answer *out, struct arena *a, struct katex *k,
                           const Eqloom__Equation *equation, struct err *e)
{
    return err_up(e, ask(out, a, k, &(struct request){equation->latex, equation}, e));
}

enum err_code katex_tree(struct katex_answer *out, struct arena *a, struct katex *k,
                         const char *latex, struct err *e)
{
    return err_up(e, ask(out, a, k, &(struct request){latex, NULL}, e));
}
