/* Finds the file of a bundle that a document names, by TeX's search rules. Lookups are recorded and
 * can be replayed: if a replay finds the same files, the document reads the same. */
#pragma once

#include "base/buf.h"
#include "base/digest.h"
#include "ops/latex/source/bundle.h"

struct lookup {
    struct bundle *bundle;
    const char *root_folder; /* "" or "folder/" */
    struct buf trace; /* the lookups, owned; of each: 'r' if the file found is read, otherwise 'f';
                       * from, name and suffixes, each ended by 0 */
    size_t last;      /* offset of the last lookup */
};

/* Starts the lookups of a document with this root file. */
struct lookup lookup_new(struct arena *a, struct bundle *b, const struct tex_file *root);
/* Finds `name`, as used in the file `here`. `suffixes` are tried if the name lacks one: ".tex|" for
 * "x.tex" and "x". Searches the folder of `here`, that of the root and those above it; then takes
 * the file of that name below the root's folder if it is unique. If the name is "", takes the only
 * file below the root's folder with the given suffix. Returns NULL if there is no such file. */
struct tex_file *lookup_find(struct lookup *l, const char *here, const char *name,
                             const char *suffixes);
/* Records that the file found last is read as part of the document. */
void lookup_mark_read(struct lookup *l);

/* Replays the lookups of `trace`: returns a digest of the names and contents found (files have ids)
 * and sets used[i] for each file of the bundle that is read. Returns false if `trace` is
 * malformed. */
bool lookup_replay(struct digest *answers, bool *used, struct lookup *l, struct span trace);
