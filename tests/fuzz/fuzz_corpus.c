/* Corpora, tokens, templates, and e-graphs that expressions are drawn from. */
#include "tests/fuzz/fuzz.h"

#include "ops/corpus/format/corpus_format.h"
#include "ops/corpus/template/templates.h"
#include "ops/corpus/tokens/encoding.h"
#include "ops/extract/extract_draw.h"

#include <assert.h>
#include <string.h>

/* Any bytes as a corpus in any format, also in words: refused, or read into clusters that are
 * written and read back as the same. The first byte chooses the format, its high bit words. */
FUZZ(corpus)
{
    struct err e;
    if (size == 0)
        return;
    enum corpus_format format = (enum corpus_format)((data[0] & 0x7f) % CORPUS_FORMATS);
    bool words = data[0] & 0x80;
    struct corpus first = {
        .a = a, .lang = &lang_calculus, .notation = words ? CORPUS_WORDS : CORPUS_PREFIX};
    struct corpus again = first;
    struct source_text source = {"<fuzz>", (const char *)data + 1, size - 1};
    enum err_code code = corpus_read(&first, format, &source, &e);
    corpus_finish(&first);
    if (code == OK) {
        struct buf text = {0}, twice = {0};
        struct corpus_write_options options = {.words = words};
        corpus_write(&text, CORPUS_E_GEN, first.clusters, first.n, &options, NULL);
        struct source_text written = {"<written>", text.data ? text.data : "", text.len};
        assert(corpus_read(&again, CORPUS_E_GEN, &written, &e) == OK);
        corpus_finish(&again);
        assert(again.n == first.n);
        corpus_write(&twice, CORPUS_E_GEN, again.clusters, again.n, &options, NULL);
        assert(twice.len == text.len);
        assert(text.len == 0 || memcmp(text.data, twice.data, text.len) == 0);
        buf_free(&text);
        buf_free(&twice);
    }
}

/* Any text as prefix tokens into any vocabulary: refused or encoded within it. */
FUZZ(encoding)
{
    static const char *const encodings[] = {"e-gen", "plain", "placed"};
    char *text = arena_strndup(a, (const char *)data, size);
    for (int i = 0; i < 3; i++) {
        Eqloom__Vocabulary v;
        struct encoder c;
        struct err e;
        uint32_t *ids;
        size_t n;
        if (vocabulary_make(&v, a, encodings[i], NULL, 0, &e) != OK)
            continue;
        encoder_init(&c, &v);
        if (encode_prefix(&ids, &n, a, &c, text, &e) == OK)
            for (size_t k = 0; k < n; k++)
                assert(ids[k] >= TOKEN_SPECIALS && ids[k] < v.n_tokens);
        encoder_free(&c);
    }
}

/* Any bytes as an e-graph record: refused, or a grammar whose draws unrank. */
FUZZ(extract)
{
    Eqloom__EGraph *m = size > 1 ? eqloom__egraph__unpack(NULL, size - 1, data + 1) : NULL;
    if (!m)
        return;
    struct grammar g;
    struct err e;
    struct grammar_options options = {.max_tokens = 9, .max_digits = 4};
    if (m->n_node_ops < 1000 && grammar_init(&g, a, m, &lang_calculus, &options, &e) == OK) {
        struct rng rng = rng_new(data[0], 0);
        struct term *terms;
        uint32_t n;
        struct draw_options draw = {data[0] & 128 ? DRAW_MEAN : DRAW_LENGTHS,
                                    data[0] & 32 ? DRAW_EVEN : DRAW_PROPORTIONAL, 9};
        grammar_draw(&terms, &n, a, &g, 20, &draw, &rng);
        for (uint32_t i = 0; i < n; i++)
            grammar_term_text(a, &g, &terms[i]);
    }
    eqloom__egraph__free_unpacked(m, NULL);
}

/* Template files: whatever the bytes, expressions without duplicates or one error. */
FUZZ(templates)
{
    struct source_text source = {"fuzz", (const char *)data, size};
    struct templates_options options = {.limit = 100};
    struct templates t;
    struct err e = {0};
    if (templates_expand(&t, a, &source, 1, &options, &e)) {
        if (!e.message[0])
            __builtin_trap();
    } else {
        for (size_t i = 1; i < t.n; i++)
            if (expr_equal(&t.exprs[i - 1], &t.exprs[i]))
                __builtin_trap();
    }
}
