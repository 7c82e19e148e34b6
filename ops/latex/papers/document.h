/* One document of a bundle, from its root file -> Paper: sections with their words and displays,
 * title, abstract, what it cites. */
#pragma once

#include "base/span.h"
#include "ops/latex/source/bundle.h"

/* used[i] is set for each file that was read; *asked, unless NULL, is what it asked for
 * (tex_lookup.h). What the document could not have is in the paper's problems. Everything lives in
 * the arena. */
Eqloom__Paper *document_read(struct arena *a, struct bundle *b, struct tex_file *root,
                             unsigned max_depth, bool *used, struct span *asked);

/* Equations that come alone: JSONL with one object a line, {"latex": ...} or {"mathml": ...} and
 * perhaps "label", "paper" and "keywords" (a list), and files with <math> elements. Lines of
 * arXiv's metadata, {"id": ..., "categories": ...} with what else there is, are the paper's
 * listings.
 * A paper of one section, or of none if there are listings alone. A line that is none of these is a
 * problem of the paper. */
Eqloom__Paper *labelled_read(struct arena *a, const char *name, const char *text, size_t len);
Eqloom__Paper *mathml_read(struct arena *a, const char *name, const char *text, size_t len);
