/* The canonical wire form of docs/format.md: packing writes it, unpacking rejects any other. */
#pragma once

#include "base/arena.h"
#include "base/digest.h"
#include "base/err.h"
#include "base/span.h"
#include "schemas/kinds.h"

/* Packs into the arena. ERR_INPUT if a string is not valid UTF-8. */
enum err_code canonical_pack(struct span *out, struct arena *a, const ProtobufCMessage *message,
                             struct err *e);
/* Unpacks into the arena after checking that the bytes are canonical (ERR_CORRUPT). The message
 * lives as long as the arena; protobuf-c's own function must not free it. `out` points to a pointer
 * to the message. */
enum err_code canonical_unpack(void *out, struct arena *a, const ProtobufCMessageDescriptor *type,
                               struct span bytes, struct err *e);
/* Checks without unpacking. */
enum err_code canonical_check(const ProtobufCMessageDescriptor *type, struct span bytes,
                              struct err *e);

/* Calls visit for every record id that the message refers to: by convention, a bytes field named
 * *_id holds one 32-byte id (or nothing), and *_ids any number, concatenated; follows nested
 * messages. Stops at the first code that is not OK and returns it. */
typedef enum err_code message_visit(void *arg, const struct digest *id, struct err *e);
enum err_code message_visit_ids(const ProtobufCMessage *message, message_visit *visit, void *arg,
                                struct err *e);
/* Returns whether messages of this type can refer to records. */
bool message_type_has_ids(const ProtobufCMessageDescriptor *type);
