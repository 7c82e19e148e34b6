/* Classifies files by their names. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>

/* Returns the name without folders. */
const char *file_name_last(const char *path);
/* Returns the name without folders and without suffixes of archives. */
char *file_name_short(struct arena *a, const char *path);
/* Whether it is a file that documents include and that is not a document itself. */
bool file_name_is_style(const char *name);
/* Whether TeX may read it: it has a suffix of TeX, or no suffix. */
bool file_name_is_tex(const char *name);

/* Archives and files of equations are independent; loose files may include each other. */
enum file_form { FORM_LOOSE, FORM_ARCHIVE, FORM_JSONL, FORM_XML };
enum file_form file_form_of(const char *name);
