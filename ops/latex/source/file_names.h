/* What the names of files say of them. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>

/* Without folders. */
const char *file_name_last(const char *path);
/* Without the suffixes of archives, too. */
char *file_name_short(struct arena *a, const char *path);
/* What other files read: begins no document. */
bool file_name_is_style(const char *name);
/* A file that TeX reads, or one without a suffix. */
bool file_name_is_tex(const char *name);

/* Archives and files of equations stand alone; loose files may read each other. */
enum file_form { FORM_LOOSE, FORM_ARCHIVE, FORM_JSONL, FORM_XML };
enum file_form file_form_of(const char *name);
