/* Any message as text or JSON, by protobuf reflection. Bytes are hexadecimal; *_id and *_ids
 * fields are ids; a field "prefix" is an expression. */
#pragma once

#include "store/store.h"

#include <jansson.h>
#include <protobuf-c/protobuf-c.h>
#include <stdio.h>

/* How expressions are written beside their prefix tokens: not, as a field "infix", or as one more
 * field "latex". */
enum reflect_expressions { REFLECT_PREFIX, REFLECT_INFIX, REFLECT_LATEX };

/* A field a line: no empty ones, at most `limit` items of a list, and the beginning of bytes. */
void reflect_print(FILE *to, const ProtobufCMessage *m, enum reflect_expressions as, size_t limit);
/* Every field, complete. A new reference. */
json_t *reflect_json(const ProtobufCMessage *m, enum reflect_expressions as);
/* One field, complete. A new reference. */
json_t *reflect_field(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f);
/* {"id", "kind", "bytes", "value"}: a record as `show --json` prints it. A new reference. */
json_t *reflect_record(const struct digest *id, const struct record *r, const ProtobufCMessage *m,
                       enum reflect_expressions as);
/* One line and a newline. Takes the reference. */
void reflect_dump(FILE *to, json_t *value);
/* The same of an object: its fields' names and types, "event:s records:u", and their values.
 * s: a text; u: uint64_t; f: double; b: bool; o: json_t *, whose reference is taken. A text or
 * value that is NULL is left out. */
void reflect_line(FILE *to, const char *fields, ...);

/* A number, truth value or text as text; "" for null, "present" for an object. */
const char *reflect_text(struct arena *a, const json_t *value);
char *reflect_hex(struct arena *a, const uint8_t *data, size_t n);
