/* Writes records and collections in the formats of other programs, for `eqloom export` and for
 * programs that a job runs. */
#pragma once

#include "store/store.h"

#include <stdio.h>

struct export_format;

enum { EXPORT_FORMATS = 5 };
extern const char *const export_format_names[EXPORT_FORMATS];
#define EXPORT_FORMATS_TEXT "jsonl, tsv, npy, safetensors and raw"

/* Returns the format of that name, or NULL. */
const struct export_format *export_format_named(const char *name);
/* Returns the format of a file name's extension, or NULL. A File record is written as its bytes,
 * whatever the extension is. */
const struct export_format *export_format_of(const char *path, enum record_kind kind);
/* Returns the extension of the index file that the format adds, such as "jsonl"; NULL if it adds
 * none. */
const char *export_format_index(const struct export_format *f);

/* Writes element by element. `to` must be seekable for npy; `index` is the index file. ERR_INPUT if
 * the format does not support this kind. The caller checks for write errors when it closes the
 * files. */
enum err_code export_record(FILE *to, FILE *index, struct store *s, const struct digest *id,
                            const struct export_format *f, struct err *e);

/* Write the parts of a TSV file: the names of columns, and the rows of a message. */
void tsv_header(FILE *to, const ProtobufCMessageDescriptor *type);
void tsv_rows(FILE *to, const ProtobufCMessage *m, uint64_t index);
