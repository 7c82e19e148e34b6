/* Equations that come alone: JSONL with one object a line, {"latex": ...} or {"mathml": ...} and
 * perhaps "label", "paper" and "keywords" (a list), and files with <math> elements. Lines of
 * arXiv's metadata, {"id": ..., "categories": ...} with what else there is, are the paper's
 * listings. */
#pragma once

#include "ops/latex/source/bundle.h"

/* A paper of one section, or of none if there are listings alone. A line that is none of these is a
 * problem of the paper. */
Eqloom__Paper *labelled_read(struct arena *a, const char *name, const char *text, size_t len);
Eqloom__Paper *mathml_read(struct arena *a, const char *name, const char *text, size_t len);
