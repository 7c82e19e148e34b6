/* The bytes of File records. */
#pragma once

#include "store/store.h"

#include <stdio.h>

/* Chunks are read one by one. */
enum err_code file_record_write(FILE *to, struct store *s, const struct digest *id, struct err *e);

/* Whether a file has these bytes. */
enum err_code file_record_equals(bool *same, const char *path, struct store *s,
                                 const struct digest *id, struct err *e);
