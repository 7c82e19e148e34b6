/* The state of reading one document, and what is done with what it finds: sections begin, words and
 * displays are kept. */
#pragma once

#include "ops/latex/papers/citations.h"
#include "ops/latex/papers/frames.h"

enum { DISPLAY_MAX = 20000 };

struct reader {
    struct arena *a;
    struct frames frames;
    struct macro_table macros;
    struct citations cites;
    struct problems problems;
    Eqloom__Paper *paper;
    Eqloom__Section **sections;
    size_t sections_cap, equations_cap;
    struct buf words, abstract; /* of the section; of the abstract */
    bool in_body, in_abstract, bibliography;
    /* The display being copied; its environment is NULL outside. */
    char *environment;
    struct buf display;
    unsigned nested; /* environments of the same name within it */
    uint32_t number;
};

/* Plain words, in the arena. */
char *reader_plain_of(struct reader *r, struct piece p);
void reader_begin_section(struct reader *r, char *title);
void reader_end_section(struct reader *r);
/* Of the body only; to the abstract or the section. */
void reader_add_words(struct reader *r, const char *s, size_t n);
/* A display is copied to r->display from here on ... */
void reader_begin_display(struct reader *r, struct piece environment);
/* ... and kept, unless it is empty or too large, or given up as a problem. */
void reader_end_display(struct reader *r);
void reader_abandon_display(struct reader *r);
