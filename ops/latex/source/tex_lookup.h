/* Which file of its bundle a document means by a name, as TeX would look for it. What was asked is
 * written down and can be asked again: a document that gets the same answers reads the same. */
#pragma once

#include "base/buf.h"
#include "base/digest.h"
#include "ops/latex/source/bundle.h"

struct lookup {
    struct bundle *bundle;
    const char *root_folder; /* "" or "folder/" */
    struct buf asked; /* to be freed; of each question: 'r' if what was found is read, else 'f';
                         from where, what, suffixes, each ended by 0 */
    size_t last;      /* where the last one begins */
};

/* Of a document with this root file. */
struct lookup lookup_new(struct arena *a, struct bundle *b, const struct tex_file *root);
/* `here`: the file that names it; suffixes, one of which the name lacks: ".tex|" for "x.tex" and
 * "x". In the folder of `here`, in that of the root and those above it, else the only one of the
 * name below the root's. With the name "": the only file below the root's folder with the one
 * suffix. NULL if there is none. */
struct tex_file *lookup_find(struct lookup *l, const char *here, const char *name,
                             const char *suffixes);
/* What was found last is read as part of the document. */
void lookup_reads(struct lookup *l);

/* Asks all questions of `asked` again: a digest of the answers, names and contents (files have
 * ids); used[i] is set for each file of the bundle that is read. False: they are no questions. */
bool lookup_again(struct digest *answers, bool *used, struct lookup *l, struct span asked);
