/* Records and collections in the formats of other programs: for `eqloom export` and for programs
 * that a job runs. */
#pragma once

#include "store/store.h"

#include <stdio.h>

struct export_format;

enum { EXPORT_FORMATS = 5 };
extern const char *const export_format_names[EXPORT_FORMATS];
#define EXPORT_FORMATS_TEXT "jsonl, tsv, npy, safetensors and raw"

/* By its name; NULL: there is none. */
const struct export_format *export_format_named(const char *name);
/* By the ending of a file's name. Of a File record: its bytes, whatever the ending is. NULL: the
 * ending is that of no format. */
const struct export_format *export_format_of(const char *path, enum record_kind kind);
/* The ending of the file that is written beside, "jsonl"; NULL: none. */
const char *export_format_index(const struct export_format *f);

/* Element by element. `to` must be seekable for npy; `index` is the file beside. ERR_INPUT: the
 * format does not hold this kind. Who closes the files asks whether all could be written. */
enum err_code export_record(FILE *to, FILE *index, struct store *s, const struct digest *id,
                            const struct export_format *f, struct err *e);

/* The parts of a TSV file: names of columns, and the rows of a message. */
void tsv_header(FILE *to, const ProtobufCMessageDescriptor *type);
void tsv_rows(FILE *to, const ProtobufCMessage *m, uint64_t index);
