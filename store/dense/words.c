/* See words.h.
 *
 * Symbols: 0 ends the text, 1 spells a new word, which gets the next number, 2 + i is word i. A
 * symbol below 15 takes one nibble, others 15 and two or four more. Words are spelled by bytes,
 * each as two nibbles in the context of the two bytes before, ended by a zero byte (texts have
 * none).
 *
 * Contexts of a symbol: none; the three symbols before it; its parent and grandparent in the tree,
 * with its place under them and the symbol before it; its parent and the head of the sibling before
 * it; both and two more ancestors; and what followed where the last three symbols stood before in
 * this record. (Of ten tried, those that pay for their time.) */
#include "store/dense/words.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

enum { END, NEW, FIRST };
enum {
    DEPTH = 64,       /* deeper, the tree is not followed */
    WORD_BYTES = 256, /* longer ones are spelled, not learnt */
    NEAR = 15,        /* symbols below take one nibble */
    MIDDLE = 15 * 16, /* as many more take three, the others six */
    MIXER_SYMBOL = 0, /* first nibble, inside and after a whole tree (1); others (2) */
    MIXER_SPELL = 4
};

/* Where the next word stands. */
struct place {
    uint64_t field;
    const uint64_t *hints; /* NULL, or WORDS_HINTS */
    uint64_t last[3];      /* symbols, newest first */
    struct level {
        uint16_t op;
        uint8_t arity, child;
        uint64_t head_before; /* of the child before */
    } levels[DEPTH];
    unsigned depth; /* open operators; DEPTH: lost count */
    bool complete;
    uint32_t match; /* end of the earlier occurrence in the history; 0: none */
    unsigned matched;
};

static uint64_t hash_text(const char *text, size_t n)
{
    uint64_t h = n;
    for (size_t i = 0; i < n; i++)
        h = bits_hash(h, (uint8_t)text[i]);
    return h;
}

/* A guess that serves prediction only. */
static uint8_t guess_arity(const char *text, size_t n)
{
    static const char *const binary[] = {"+", "-",   "*",  "/",   "pow",
                                         "d", "and", "or", "xor", "implies"};
    static const char *const leaves[] = {"pi", "true", "false"};
    for (size_t i = 0; i < sizeof binary / sizeof *binary; i++)
        if (strlen(binary[i]) == n && memcmp(binary[i], text, n) == 0)
            return 2;
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++)
        if (strlen(leaves[i]) == n && memcmp(leaves[i], text, n) == 0)
            return 0;
    return n > 1 && text[0] >= 'a' && text[0] <= 'z';
}

void words_init(struct words *w)
{
    *w = (struct words){.record = 1};
}

void words_free(struct words *w)
{
    arena_free(&w->lasting);
    arena_free(&w->arena);
    if (!w->borrowed)
        map64_free(&w->known);
    map64_free(&w->new);
    buf_free(&w->text);
    free(w->history);
}

void words_copy(struct words *to, const struct words *from)
{
    words_init(to);
    memcpy(to->entries, from->entries, from->n_known * sizeof *from->entries);
    to->n = to->n_known = from->n_known;
    to->known = from->known;
    to->borrowed = true;
}

void words_begin(struct words *w)
{
    arena_reset(&w->arena);
    w->n = w->n_known;
    map64_clear(&w->new);
    w->n_history = 0;
    w->last = 0;
    w->record++;
}

/* The number of a word, or UINT32_MAX. Of words with the same hash only the first is found. */
static uint32_t find_word(const struct words *w, const char *text, size_t n)
{
    uint64_t hash = hash_text(text, n);
    const uint64_t *at = map64_get(&w->known, hash);
    if (!at)
        at = map64_get(&w->new, hash);
    if (!at)
        return UINT32_MAX;
    const struct words_entry *e = &w->entries[*at];
    return e->n == n && memcmp(e->text, text, n) == 0 ? (uint32_t)*at : UINT32_MAX;
}

static void learn_word(struct words *w, struct map64 *map, const char *text, size_t n)
{
    if (w->n == WORDS_MAX || n > WORD_BYTES)
        return;
    bool added;
    map64_put(map, hash_text(text, n), w->n, &added);
    w->entries[w->n++] = (struct words_entry){text, (uint32_t)n, guess_arity(text, n)};
}

void words_add(struct words *w, const char *text, size_t n)
{
    if (find_word(w, text, n) == UINT32_MAX)
        learn_word(w, &w->known, arena_memdup(&w->lasting, text, n), n);
    w->n_known = w->n;
}

/* ---- where we are ---- */

/* A whole term has been read: it is a child of what is open above, and so on. */
static void close_terms(struct place *p, uint64_t head)
{
    while (p->depth) {
        struct level *l = &p->levels[p->depth - 1];
        l->head_before = head;
        if (++l->child < l->arity)
            return;
        head = l->op;
        p->depth--;
    }
    p->complete = true;
}

static void advance(struct place *p, const struct words *w, unsigned symbol)
{
    memmove(p->last + 1, p->last, sizeof p->last - sizeof *p->last);
    p->last[0] = symbol;
    unsigned arity =
        symbol >= FIRST && symbol - FIRST < w->n ? w->entries[symbol - FIRST].arity : 0;
    if (arity && p->depth < DEPTH && !p->complete)
        p->levels[p->depth++] = (struct level){(uint16_t)symbol, (uint8_t)arity, 0, 0};
    else
        close_terms(p, symbol);
}

static unsigned expected(const struct words *w, const struct place *p)
{
    return p->match && p->match < w->n_history ? w->history[p->match] : UINT16_MAX;
}

static void remember_symbol(struct words *w, struct place *p, unsigned symbol)
{
    bool hit = p->match && expected(w, p) == symbol;
    p->matched = hit ? p->matched + 1 : 0;
    p->match = hit ? p->match + 1 : 0;
    w->history = vec_grow(w->history, &w->cap_history, w->n_history + 1, sizeof *w->history);
    w->history[w->n_history++] = (uint16_t)symbol;
    w->last = symbol != END ? symbol : w->last;
    if (w->n_history < 3)
        return;
    const uint16_t *h = w->history + w->n_history;
    uint64_t hash = bits_hash(bits_hash(h[-1], h[-2]), h[-3]);
    struct words_recent *r = &w->recent[hash & (WORDS_RECENT - 1)];
    if (!p->match && r->record == w->record)
        p->match = r->end;
    *r = (struct words_recent){w->record, (uint32_t)w->n_history};
}

static unsigned symbol_contexts(uint64_t h[BITS_CONTEXTS], const struct words *w,
                                const struct place *p)
{
    static const struct level none;
    const uint64_t *s = p->last;
    const struct level *up = p->depth ? &p->levels[p->depth - 1] : &none;
    const struct level *up2 = p->depth > 1 ? up - 1 : &none, *up3 = p->depth > 2 ? up - 2 : &none;
    uint64_t here = bits_hash(up->op * 4u + up->child + (p->complete ? 1u << 20 : 0), p->field);
    uint64_t above = bits_hash(here, up2->op * 4u + up2->child);
    unsigned length = p->matched < 15 ? p->matched : 15;
    h[0] = bits_hash(1, p->field);
    h[1] = bits_hash(2, bits_hash(bits_hash(s[0], s[1]), s[2]));
    h[2] = bits_hash(3, bits_hash(above, s[0]));
    h[3] = bits_hash(4, bits_hash(here, up->head_before));
    h[4] = bits_hash(5, bits_hash(above, bits_hash(up3->op * 4u + up3->child, up->head_before)));
    h[5] = bits_hash(6, bits_hash(expected(w, p), p->match ? length + 1 : 0));
    for (unsigned i = 0; p->hints && i < WORDS_HINTS; i++)
        h[2 + i] = bits_hash(h[0], bits_hash(i, p->hints[i]));
    return 6;
}

static unsigned code_symbol(struct words *w, struct bits *b, const struct place *p, unsigned symbol)
{
    uint64_t h[BITS_CONTEXTS];
    unsigned n = symbol_contexts(h, w, p), mixer = MIXER_SYMBOL + (p->complete ? 1 : 0);
    unsigned near = bits_nibble(b, h, n, mixer, symbol < NEAR ? symbol : NEAR);
    if (near < NEAR)
        return near;
    unsigned rest = symbol - NEAR, far = rest - MIDDLE;
    bits_narrow(h, n, 16);
    unsigned upper = bits_nibble(b, h, n, MIXER_SYMBOL + 2, rest < MIDDLE ? rest >> 4 : 15);
    unsigned value = 0, nibbles = upper < 15 ? 1 : 4;
    for (unsigned left = nibbles; left--;) {
        bits_narrow(h, n, upper << 16 | value);
        unsigned from = upper < 15 ? rest : far;
        value = value << 4 | bits_nibble(b, h, n, MIXER_SYMBOL + 2, (from >> (4 * left)) & 15);
    }
    return NEAR + (upper < 15 ? upper << 4 | value : MIDDLE + value);
}

static unsigned code_byte(struct bits *b, uint64_t before, unsigned place, unsigned byte)
{
    uint64_t h[3] = {bits_hash(11, before & 0xff), bits_hash(12, before & 0xffff),
                     bits_hash(13, bits_hash(before & 0xff, place))};
    unsigned upper = bits_nibble(b, h, 3, MIXER_SPELL, byte >> 4);
    bits_narrow(h, 3, 16 + upper);
    return upper << 4 | bits_nibble(b, h, 3, MIXER_SPELL + 1, byte & 15);
}

/* A word that is not known; when reading it is made in `spelled`. */
static void code_spelling(struct buf *spelled, struct bits *b, const char *text, size_t n,
                          size_t limit)
{
    uint64_t before = 0;
    for (size_t i = 0;; i++) {
        unsigned byte = code_byte(b, before, i < 3 ? (unsigned)i : 3, i < n ? (uint8_t)text[i] : 0);
        if (byte == 0)
            return;
        buf_putc(spelled, (char)byte);
        before = before << 8 | byte;
        if (spelled->len > limit)
            return;
    }
}

/* The next symbol and its word, from `text` on or to the end of `out`; false when it was the last,
 * or when what is read cannot be. */
static bool code_word(struct words *w, struct bits *b, struct place *p, struct buf *out,
                      const char *word, size_t n, bool end, size_t limit)
{
    unsigned symbol = END;
    if (!end && !bits_reading(b)) {
        uint32_t number = find_word(w, word, n);
        symbol = number == UINT32_MAX ? NEW : FIRST + number;
    }
    symbol = code_symbol(w, b, p, symbol);
    remember_symbol(w, p, symbol);
    if (symbol == NEW) {
        size_t from = out->len;
        code_spelling(out, b, word, n, limit);
        word = out->data ? out->data + from : "";
        n = out->len - from;
        if (n <= WORD_BYTES && find_word(w, word, n) == UINT32_MAX)
            learn_word(w, &w->new, arena_memdup(&w->arena, word, n), n);
        advance(p, w, NEW);
    } else if (symbol != END) {
        if (symbol - FIRST >= w->n)
            return false;
        const struct words_entry *e = &w->entries[symbol - FIRST];
        buf_add(out, e->text, e->n);
        advance(p, w, symbol);
    }
    return symbol != END && out->len <= limit;
}

char *words_code(uint32_t *count, struct words *w, struct bits *b, struct arena *a, uint64_t field,
                 const uint64_t *hints, const char *text, size_t limit)
{
    struct place p = {.field = field, .hints = hints, .last = {w->last}};
    buf_clear(&w->text);
    *count = 0;
    bool reading = bits_reading(b), end = !reading && !*text;
    for (;;) {
        size_t n = reading ? 0 : strcspn(text, " ");
        size_t before = w->text.len;
        if (*count)
            buf_putc(&w->text, ' ');
        if (!code_word(w, b, &p, &w->text, text, n, end, limit)) {
            if (*count)
                w->text.len = before; /* the blank */
            break;
        }
        ++*count;
        if (!reading) {
            end = text[n] == 0;
            text += n + !end;
        }
    }
    if (w->text.len > limit || bits_overrun(b))
        return NULL;
    return arena_strndup(a, w->text.data ? w->text.data : "", w->text.len);
}
