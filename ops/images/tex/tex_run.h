/* Draws equations by TeX and dvipng, many in one run. Each run has its own folder under $TMPDIR,
 * which is removed afterwards. TeX runs without a shell and in a clean environment, reads only its
 * own files and that folder, and writes only there, within bounds. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/io/picture.h"
#include "paper.pb-c.h"

struct tex;
struct tex_drawing {
    struct picture picture;       /* cropped to the ink */
    const char *refused, *detail; /* refused: the reason, or NULL if there is a picture */
};

/* Returns the versions of both programs, for action keys. Fails with ERR_NOTFOUND if one is not
 * installed; the message says what to install. */
enum err_code tex_version(const char **out, struct arena *a, struct err *e);
/* Makes a TeX format from the preamble, which all runs share. */
enum err_code tex_new(struct tex **out, unsigned dpi, struct err *e);
void tex_free(struct tex *t); /* accepts NULL */
/* Results live in the ctx's arena. Thread-safe. A drawing does not depend on the other equations of
 * its run: an equation that does not terminate, leaves a group open, or may have global effects is
 * drawn alone. */
struct op_ctx;
enum err_code tex_draw(struct tex_drawing *out, struct op_ctx *ctx, struct tex *t,
                       const Eqloom__Equation *const *equations, size_t n, struct err *e);
