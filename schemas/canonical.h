/* The canonical wire form of docs/format.md: packing writes it, reading refuses all else. */
#pragma once

#include "base/arena.h"
#include "base/digest.h"
#include "base/err.h"
#include "base/span.h"
#include "schemas/kinds.h"

/* Packs into the arena. Strings must be valid UTF-8 (ERR_INPUT). */
enum err_code canonical_pack(struct span *out, struct arena *a, const ProtobufCMessage *message,
                             struct err *e);
/* Unpacks into the arena after checking that the bytes are canonical (ERR_CORRUPT). The message
 * lives as long as the arena and is never freed by protobuf-c's own function. `out` is where the
 * pointer to it goes. */
enum err_code canonical_unpack(void *out, struct arena *a, const ProtobufCMessageDescriptor *type,
                               struct span bytes, struct err *e);
/* Only the check. */
enum err_code canonical_check(const ProtobufCMessageDescriptor *type, struct span bytes,
                              struct err *e);

/* Calls visit for every record id that the message refers to: by convention a bytes field named
 * *_id holds one 32-byte id (or nothing), and *_ids holds any number, concatenated; nested
 * messages are followed. Stops at the first code that is not OK and returns it. */
typedef enum err_code message_visit(void *arg, const struct digest *id, struct err *e);
enum err_code message_visit_ids(const ProtobufCMessage *message, message_visit *visit, void *arg,
                                struct err *e);
/* Whether messages of this type can refer to records at all. */
bool message_type_has_ids(const ProtobufCMessageDescriptor *type);
