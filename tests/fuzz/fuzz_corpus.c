/* Any bytes as a corpus in any format, also in words: refused, or read into clusters that are
 * written and read back as the same. The first byte chooses the format, its high bit words. */
#include "ops/corpus/format/corpus_format.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct err e;
    if (size == 0)
        return 0;
    enum corpus_format format = (enum corpus_format)((data[0] & 0x7f) % CORPUS_FORMATS);
    bool words = data[0] & 0x80;
    struct corpus first = {.a = &a, .lang = &lang_calculus, .words = words}, again = first;
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
    arena_free(&a);
    return 0;
}
