/* Text as words separated by single blanks, modelled as prefix notation: the contexts of a word are
 * those before it and its place in the tree. Any string goes in and comes out again; what is no
 * prefix notation is only predicted worse. docs/format.md, section 3.2. */
#ifndef STORE_DENSE_WORDS_H
#define STORE_DENSE_WORDS_H

#include "base/arena.h"
#include "base/map.h"
#include "store/dense/bits.h"

enum { WORDS_MAX = 4096, WORDS_RECENT = 4096, WORDS_HINTS = 3 };

struct words {
    struct arena lasting, arena; /* of the texts of words: known ones, others */
    struct words_entry {
        const char *text;
        uint32_t n;
        uint8_t arity;
    } entries[WORDS_MAX];
    uint32_t n, n_known;     /* known: not only in the record at hand */
    struct map64 known, new; /* hash of a word's text -> its number */
    bool borrowed;           /* `known` belongs to the original of this copy */

    uint16_t *history; /* symbols of the record so far */
    size_t n_history, cap_history;
    struct words_recent {
        uint32_t record, end;
    } recent[WORDS_RECENT]; /* where the last few symbols stood before */
    uint32_t record;
    unsigned last;   /* symbol of the text before that is a word */
    struct buf text; /* being read */
};

void words_init(struct words *w);
void words_free(struct words *w);
/* A copy that lives no longer than the original, which no longer changes. */
void words_copy(struct words *to, const struct words *from);
/* The words of a text are known from now on, in this order; before anything is coded. */
void words_add(struct words *w, const char *text, size_t n);
/* Before each record: the words and places of the one before are forgotten. */
void words_begin(struct words *w);
/* Codes a string of at most `limit` bytes; *count is its number of words. When reading, `text` is
 * not looked at, and NULL comes back for a damaged stream. `field` tells apart what is written in
 * different fields; `hints`, if not NULL, are contexts that serve better than the tree. */
char *words_code(uint32_t *count, struct words *w, struct bits *b, struct arena *a, uint64_t field,
                 const uint64_t *hints, const char *text, size_t limit);

#endif
