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
