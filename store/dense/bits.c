/* See bits.h.
 *
 *     line: | tag: check u16, epoch u16 | 15 x (probability of a one: 22 bits | count: 10 bits) |
 *
 * Each of a symbol's four bits gets one probability from every context. They are mixed in the
 * logistic domain by weights that depend on the mixer, the context's place in the list and how
 * often its probability has been seen; the error then corrects weights and probabilities. A context
 * that says nothing yet (a fresh line) has no weight.
 *
 * Invariant: after bits_forget the state is that of bits_remember, bit for bit. Lines changed since
 * are marked by the epoch in their tag and saved in a journal when first touched; so a record costs
 * what it touches, not the size of the table. */
#include "store/dense/bits.h"

#include <stdlib.h>
#include <string.h>

enum {
    LINES = 1 << 15, /* of 64 bytes: 2 MiB */
    SLOTS = 15,
    CONFIDENCES = 8,
    LIMIT = 127,       /* counts stop here: the slower a probability moves, the steadier it is */
    ONE = 65536,       /* weight 1 */
    START = 20000,     /* weight at first */
    RATE_SHIFT = 14,   /* of the weights' learning */
    STRETCH_MAX = 2047 /* 8 * 256: odds of e^8 */
};

struct line {
    uint16_t check, epoch;
    uint32_t slot[SLOTS];
};

struct saved {
    uint32_t index;
    struct line line;
};

struct weights {
    int32_t w[BITS_MIXERS][4][BITS_CONTEXTS][CONFIDENCES]; /* 4: which of the bits */
};

/* A slot holds a probability of a one in its upper 22 bits, below it what is known of its count:
 * three bits of class, seven of the count itself, so that they compare as the counts do. */
enum {
    COUNT_BITS = 7,
    STATE_BITS = 10,
    COUNT_MASK = (1 << COUNT_BITS) - 1,
    STATE_MASK = (1 << STATE_BITS) - 1
};

/* The logistic function and its inverse in fixed point: odds are e^(x/256). */
struct tables {
    uint16_t squash[2 * STRETCH_MAX + 1]; /* of x + STRETCH_MAX, 16 bits */
    int16_t stretch[4096];                /* of the upper 12 bits of a probability */
    uint16_t rate[LIMIT + 1];             /* 2^16 / (count + 1.5) */
    uint16_t next[LIMIT + 1];             /* class and count of the count after this */
};

struct bits {
    struct tables tables;
    struct weights weights, remembered;
    struct line *lines;
    uint16_t epoch; /* 0: nothing is to be forgotten */
    struct saved *journal;
    size_t n_journal, cap_journal;

    bool reading;
    uint32_t low, high, code;
    struct buf *out;
    struct span in;
    size_t at; /* in `in`; may run past its end */
};

/* The odds grow by e^(1/256), a series cut after its third power, from 1 in 40 fractional bits. */
static void fill_tables(struct tables *t)
{
    uint64_t odds = (uint64_t)1 << 40;
    for (int x = 0; x <= STRETCH_MAX; x++) {
        uint64_t q = odds >> 20;
        uint64_t p = (q << 16) / (q + (1 << 20));
        t->squash[STRETCH_MAX + x] = (uint16_t)p;
        t->squash[STRETCH_MAX - x] = (uint16_t)(65536 - p);
        odds += odds / 256 + odds / (2 * 256 * 256) + odds / (6 * 256 * 256 * 256);
    }
    int x = -STRETCH_MAX;
    for (unsigned p = 0; p < 4096; p++) {
        while (x < STRETCH_MAX && t->squash[x + STRETCH_MAX] < p * 16 + 8)
            x++;
        t->stretch[p] = (int16_t)x;
    }
    static const uint8_t first[CONFIDENCES] = {0, 1, 2, 3, 5, 9, 21, 61};
    for (unsigned n = 0, class = 0; n <= LIMIT; n++) {
        unsigned after = n < LIMIT ? n + 1 : n;
        class += class + 1 < CONFIDENCES && after >= first[class + 1];
        t->rate[n] = (uint16_t)(65536 * 2 / (2 * n + 3));
        t->next[n] = (uint16_t)(class << COUNT_BITS | after);
    }
}

struct bits *bits_new(void)
{
    struct bits *b = calloc(1, sizeof *b);
    struct line *lines = b ? aligned_alloc(64, LINES * sizeof *lines) : NULL;
    if (!lines) {
        free(b);
        return NULL;
    }
    fill_tables(&b->tables);
    b->lines = lines;
    memset(lines, 0, LINES * sizeof *lines);
    int32_t *w = &b->weights.w[0][0][0][0];
    for (size_t i = 0; i < sizeof b->weights / sizeof *w; i++)
        w[i] = i % CONFIDENCES ? START : 0;
    return b;
}

struct bits *bits_copy(const struct bits *from)
{
    struct bits *b = malloc(sizeof *b);
    struct line *lines = b ? aligned_alloc(64, LINES * sizeof *lines) : NULL;
    if (!lines) {
        free(b);
        return NULL;
    }
    *b = *from;
    b->lines = memcpy(lines, from->lines, LINES * sizeof *lines);
    b->journal = NULL;
    b->n_journal = b->cap_journal = 0;
    return b;
}

void bits_free(struct bits *b)
{
    if (!b)
        return;
    free(b->lines);
    free(b->journal);
    free(b);
}

void bits_remember(struct bits *b)
{
    for (size_t i = 0; i < LINES; i++)
        b->lines[i].epoch = 0;
    b->epoch = 1;
    b->n_journal = 0;
    b->remembered = b->weights;
}

void bits_forget(struct bits *b)
{
    while (b->n_journal) {
        const struct saved *s = &b->journal[--b->n_journal];
        b->lines[s->index] = s->line;
    }
    b->weights = b->remembered;
    if (++b->epoch == 0)
        bits_remember(b);
}

/* ---- the coder: the interval [low, high], whose common leading bytes are out ---- */

void bits_write_begin(struct bits *b, struct buf *out)
{
    b->reading = false;
    b->low = 0;
    b->high = UINT32_MAX;
    b->out = out;
}

/* The fewest bytes that, followed by zeros, lie in the interval. */
void bits_write_end(struct bits *b)
{
    for (int n = 0; n <= 4; n++) {
        uint32_t mask = n ? UINT32_MAX << (32 - 8 * n) : 0;
        uint64_t value = ((uint64_t)b->low + ~mask) & mask;
        if (value > b->high || value < b->low)
            continue;
        for (int i = 0; i < n; i++)
            buf_putc(b->out, (char)(uint8_t)(value >> (24 - 8 * i)));
        return;
    }
}

static uint8_t next_byte(struct bits *b)
{
    uint8_t byte = b->at < b->in.len ? b->in.data[b->at] : 0;
    b->at++;
    return byte;
}

void bits_read_begin(struct bits *b, struct span in)
{
    b->reading = true;
    b->low = 0;
    b->high = UINT32_MAX;
    b->in = in;
    b->at = 0;
    b->code = 0;
    for (int i = 0; i < 4; i++)
        b->code = b->code << 8 | next_byte(b);
}

bool bits_reading(const struct bits *b)
{
    return b->reading;
}

bool bits_overrun(const struct bits *b)
{
    return b->reading && b->at > b->in.len + 4;
}

/* Leading bytes that are settled go out, or make room for others. */
static inline void shift_out(struct bits *b, bool reading)
{
    while (((b->low ^ b->high) & 0xff000000) == 0) {
        if (reading)
            b->code = b->code << 8 | next_byte(b);
        else
            buf_putc(b->out, (char)(uint8_t)(b->high >> 24));
        b->low <<= 8;
        b->high = b->high << 8 | 255;
    }
}

/* p: probability of a one, 16 bits, neither 0 nor 1. */
static inline unsigned code_bit(struct bits *b, bool reading, uint32_t p, unsigned bit)
{
    uint32_t middle = b->low + (uint32_t)(((uint64_t)(b->high - b->low) * p) >> 16);
    if (reading)
        bit = b->code <= middle;
    if (bit)
        b->high = middle;
    else
        b->low = middle + 1;
    shift_out(b, reading);
    return bit;
}

/* ---- the model ---- */

static void save(struct bits *b, struct line *l)
{
    b->journal[b->n_journal++] = (struct saved){(uint32_t)(l - b->lines), *l};
    l->epoch = b->epoch;
}

/* The line of a context: of two places, the one that is its own, else the one that has been seen
 * less often, which is given up. The journal has room for it. */
static inline struct line *find_line(struct bits *b, uint64_t h)
{
    uint16_t check = (uint16_t)(h >> 48) | 1;
    size_t at = (size_t)h & (LINES - 1);
    struct line *l = &b->lines[at], *other = &b->lines[at ^ 1];
    bool found = l->check == check;
    if (!found && other->check == check) {
        l = other;
        found = true;
    } else if (!found && (other->slot[0] & STATE_MASK) < (l->slot[0] & STATE_MASK)) {
        l = other;
    }
    if (b->epoch && l->epoch != b->epoch)
        save(b, l);
    if (!found) {
        l->check = check;
        for (int i = 0; i < SLOTS; i++)
            l->slot[i] = (uint32_t)1 << 31;
    }
    return l;
}

/* `count` bits from the top of a line's tree. Inlined with `n` and `reading` known, which halves
 * its time. */
static inline __attribute__((always_inline)) unsigned
code_tree_of(struct bits *b, const uint64_t *contexts, unsigned n, unsigned mixer, unsigned count,
             unsigned value, bool reading)
{
    uint32_t *slots[BITS_CONTEXTS];
    const struct tables *t = &b->tables;
    for (unsigned i = 0; i < n; i++)
        __builtin_prefetch(&b->lines[contexts[i] & (LINES - 1)]);
    for (unsigned i = 0; i < n; i++)
        slots[i] = find_line(b, contexts[i])->slot;
    unsigned node = 1;
    for (unsigned k = 0; k < count; k++) {
        int32_t(*w)[CONFIDENCES] = b->weights.w[mixer][k];
        int32_t stretched[BITS_CONTEXTS], *weight[BITS_CONTEXTS];
        int64_t sum = 0;
        for (unsigned i = 0; i < n; i++) {
            uint32_t slot = slots[i][node - 1];
            stretched[i] = t->stretch[slot >> 20];
            weight[i] = &w[i][(slot & STATE_MASK) >> COUNT_BITS];
            sum += (int64_t)*weight[i] * stretched[i];
        }
        int64_t x = sum >> 16;
        x = x > STRETCH_MAX ? STRETCH_MAX : x < -STRETCH_MAX ? -STRETCH_MAX : x;
        uint32_t p = t->squash[x + STRETCH_MAX];
        unsigned bit = code_bit(b, reading, p, (value >> (count - 1 - k)) & 1);
        int32_t error = (int32_t)(bit ? 65535 - p : 0 - p);
        int64_t target = bit ? (1 << 22) - 1 : 0;
        for (unsigned i = 0; i < n; i++) {
            *weight[i] += (stretched[i] * error) >> RATE_SHIFT;
            uint32_t *slot = &slots[i][node - 1], seen = *slot & COUNT_MASK;
            int64_t old = *slot >> STATE_BITS;
            int64_t new = old + (((target - old) * t->rate[seen]) >> 16);
            *slot = (uint32_t) new << STATE_BITS | t->next[seen];
        }
        node = node * 2 + bit;
    }
    return node - (1u << count);
}

static unsigned code_tree(struct bits *b, const uint64_t *contexts, unsigned n, unsigned mixer,
                          unsigned count, unsigned value)
{
    b->journal = vec_grow(b->journal, &b->cap_journal, b->n_journal + n, sizeof *b->journal);
    if (b->reading)
        switch (n) {
        case 3: return code_tree_of(b, contexts, 3, mixer, count, 0, true);
        case 4: return code_tree_of(b, contexts, 4, mixer, count, 0, true);
        case 5: return code_tree_of(b, contexts, 5, mixer, count, 0, true);
        case 6: return code_tree_of(b, contexts, 6, mixer, count, 0, true);
        default: return code_tree_of(b, contexts, n, mixer, count, 0, true);
        }
    switch (n) {
    case 3: return code_tree_of(b, contexts, 3, mixer, count, value, false);
    case 4: return code_tree_of(b, contexts, 4, mixer, count, value, false);
    case 5: return code_tree_of(b, contexts, 5, mixer, count, value, false);
    case 6: return code_tree_of(b, contexts, 6, mixer, count, value, false);
    default: return code_tree_of(b, contexts, n, mixer, count, value, false);
    }
}

unsigned bits_nibble(struct bits *b, const uint64_t *contexts, unsigned n, unsigned mixer,
                     unsigned value)
{
    return code_tree(b, contexts, n, mixer, 4, value);
}

bool bits_flag(struct bits *b, const uint64_t *contexts, unsigned n, unsigned mixer, bool value)
{
    return code_tree(b, contexts, n, mixer, 1, value);
}

uint32_t bits_plain(struct bits *b, unsigned count, uint32_t value)
{
    uint32_t out = 0;
    while (count--)
        out = out << 1 | code_bit(b, b->reading, ONE / 2, (value >> count) & 1);
    return out;
}

void bits_narrow(uint64_t *contexts, unsigned n, uint64_t by)
{
    for (unsigned i = 0; i < n; i++)
        contexts[i] = bits_hash(contexts[i], by);
}

/* Lengths from 15 on take a second symbol, those from 30 on a third. */
uint32_t bits_number(struct bits *b, const uint64_t *contexts, unsigned n, unsigned mixer,
                     uint32_t value)
{
    uint64_t h[BITS_CONTEXTS];
    memcpy(h, contexts, n * sizeof *h);
    unsigned length = value ? 32 - (unsigned)__builtin_clz(value) : 0, found = 0;
    for (unsigned base = 0;; base += 15) {
        bits_narrow(h, n, 64 + base);
        unsigned part = length - base < 15 ? length - base : 15;
        part = code_tree(b, h, n, mixer, 4, part);
        found = base + part;
        if (part < 15 || base == 30)
            break;
    }
    if (found > 32)
        found = 32; /* only a damaged stream says so */
    if (found < 2)
        return found;
    uint32_t out = 1;
    bits_narrow(h, n, found);
    for (unsigned left = found - 1; left;) {
        unsigned count = left < 4 ? left : 4;
        left -= count;
        bits_narrow(h, n, 256 + 16 * left + (out & 15));
        out = out << count |
              code_tree(b, h, n, mixer + 1, count, (value >> left) & ((1u << count) - 1));
    }
    return out;
}
