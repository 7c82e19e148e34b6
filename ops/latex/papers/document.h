/* Reads one document of a bundle, from its root file on, to a Paper: sections with their words and
 * displays, title, abstract, and cited papers. */
#pragma once

#include "base/span.h"
#include "ops/latex/source/bundle.h"

/* Sets *begins to whether a document begins in the root or in a file that it reads: without LaTeX's
 * \\begin{document} the text is read as all body, and is a document only if it ends as one. Sets
 * used[i] for each file that was read, and *trace, unless it is NULL, to the lookups that it made
 * (tex_lookup.h). Missing and unreadable inputs are listed in the paper's problems. Everything
 * lives in the arena. */
Eqloom__Paper *document_read(struct arena *a, struct bundle *b, struct tex_file *root,
                             unsigned max_depth, bool *used, struct span *trace, bool *begins);

/* Reads equations without a document: JSONL with one object per line, {"latex": ...} or {"mathml":
 * ...} and optionally "label", "paper" and "keywords" (a list); and files with <math> elements.
 * Lines of arXiv's metadata, {"id": ..., "categories": ...} with any other fields, become the
 * paper's listings.
 *
 * Returns a paper of one section, or of no section if there are only listings. Any other line is a
 * problem of the paper. */
Eqloom__Paper *labelled_read(struct arena *a, const char *name, const char *text, size_t len);
Eqloom__Paper *mathml_read(struct arena *a, const char *name, const char *text, size_t len);
