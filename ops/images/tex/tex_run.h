/* Equations drawn by TeX and dvipng, many in a run. Each run has a folder of its own under $TMPDIR,
 * which is removed; TeX gets no shell and a clean environment, reads its own files and the folder
 * only, and writes only there, within bounds. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/io/picture.h"
#include "paper.pb-c.h"

struct tex;
struct tex_drawing {
    struct picture picture;       /* of the ink alone: cut tight */
    const char *refused, *detail; /* refused: NULL if there is a picture */
};

/* The versions of both programs, for keys. ERR_NOTFOUND: one is not there; the message says what to
 * install. */
enum err_code tex_version(const char **out, struct arena *a, struct err *e);
/* Has TeX read the preamble, once for all runs. */
enum err_code tex_new(struct tex **out, unsigned dpi, struct err *e);
void tex_free(struct tex *t); /* NULL is fine */
/* In the ctx's arena. Thread-safe. A drawing does not depend on the equations beside it: what TeX
 * cannot end, what leaves something open, and what may change others is drawn alone. */
struct op_ctx;
enum err_code tex_draw(struct tex_drawing *out, struct op_ctx *ctx, struct tex *t,
                       const Eqloom__Equation *const *equations, size_t n, struct err *e);
