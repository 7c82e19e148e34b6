/* Files of a bundle in which a document may begin. */
#pragma once

#include "ops/latex/source/bundle.h"

enum { ROOTS_MAX = 10000 };

struct root {
    struct tex_file *file;
    char kind;
};

/* 'd' if a document begins here, or in a file that this one reads; 'i' if it reads other files, in
 * which one may begin; else 't'. */
char roots_kind(struct bundle *b, struct tex_file *f);
/* Finds those of an archive, at most ROOTS_MAX. */
size_t roots_find(struct root *out, struct bundle *b);
/* Those in which a document begins come first: they say which of the others they read. */
void roots_sort(struct root *roots, size_t n);
/* The largest file that is no style; NULL if there is none. */
struct tex_file *roots_largest(struct bundle *b);
/* Counts displays in files that no document uses. */
unsigned roots_unread(struct bundle *b, const bool *used);
