/* Any message as text or JSON, by protobuf reflection. Bytes are hexadecimal; *_id and *_ids
 * fields are ids. */
#ifndef ENGINE_CLI_REFLECT_H
#define ENGINE_CLI_REFLECT_H

#include "base/arena.h"
#include "store/store.h"

#include <jansson.h>
#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stdio.h>

/* Fields that are not empty, one a line; lists shortened to `limit` items, with their count. */
void reflect_print(FILE *to, const ProtobufCMessage *m, size_t limit);
/* Every field, complete. A new reference. */
json_t *reflect_json(const ProtobufCMessage *m);
/* {"id", "kind", "bytes", "value"}: a record as `show --json` prints it. A new reference. */
json_t *reflect_record(const struct digest *id, const struct record *r, const ProtobufCMessage *m);
/* One line and a newline. */
void reflect_dump(FILE *to, json_t *value);

/* ---- for both, and for tables ---- */
enum bytes_kind { BYTES_PLAIN, BYTES_ID, BYTES_IDS };
enum bytes_kind reflect_bytes_kind(const ProtobufCFieldDescriptor *f);
/* Items of a field, 1 for a single one. */
size_t reflect_count(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f);
/* The i-th item: a pointer to its C value. */
const void *reflect_item(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f, size_t i);
/* A number, boolean, enum or string as text; NULL for bytes and messages. */
char *reflect_text(struct arena *a, const ProtobufCFieldDescriptor *f, const void *item);
char *reflect_hex(struct arena *a, const uint8_t *data, size_t n);

#endif
