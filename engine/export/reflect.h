/* Converts any message to text or JSON by protobuf reflection. Bytes are hexadecimal; *_id and
 * *_ids fields are ids; a field "prefix" is an expression. */
#pragma once

#include "store/store.h"

#include <jansson.h>
#include <protobuf-c/protobuf-c.h>
#include <stdio.h>

/* The form of expressions besides their prefix tokens: none, a field "infix", or also a field
 * "latex". */
enum reflect_expressions { REFLECT_PREFIX, REFLECT_INFIX, REFLECT_LATEX };

/* Prints one field per line: no empty fields, at most `limit` items of a list, and the beginning of
 * bytes. */
void reflect_print(FILE *to, const ProtobufCMessage *m, enum reflect_expressions as, size_t limit);
/* Returns every field, complete, as a new reference. */
json_t *reflect_json(const ProtobufCMessage *m, enum reflect_expressions as);
/* Returns one field, complete, as a new reference. */
json_t *reflect_field(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f);
/* Returns {"id", "kind", "bytes", "value"}, a record as `show --json` prints it, as a new
 * reference. */
json_t *reflect_record(const struct digest *id, const struct record *r, const ProtobufCMessage *m,
                       enum reflect_expressions as);
/* Writes the value on one line. Steals the reference. */
void reflect_dump(FILE *to, json_t *value);
/* Writes an object on one line. `fields` has names and types, as in "event:s records:u", for the
 * values that follow: s is a string, u a uint64_t, f a double, b a bool, o a json_t * whose
 * reference is stolen. Strings and values that are NULL are left out. */
void reflect_line(FILE *to, const char *fields, ...);

/* Returns a number, Boolean or string as text; "" for null, "present" for an object. */
const char *reflect_text(struct arena *a, const json_t *value);
char *reflect_hex(struct arena *a, const uint8_t *data, size_t n);
