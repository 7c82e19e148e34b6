/* A protobuf message under a model, field by field along its descriptor; both directions. */
#ifndef STORE_DENSE_WALK_H
#define STORE_DENSE_WALK_H

#include "store/dense/words.h"

#include <protobuf-c/protobuf-c.h>

struct walk {
    struct bits *bits;
    struct words *words;
    struct arena *arena; /* of what is read */
    size_t budget;       /* bytes of payload that may still come; guards against damaged streams */
    bool bad;            /* set once: what is being read is no message */
    uint32_t last_words; /* of the last text */
};

/* Writes *message, or reads into a new one. NULL for a damaged stream. */
ProtobufCMessage *walk_message(struct walk *w, const ProtobufCMessageDescriptor *type,
                               ProtobufCMessage *message);

/* For walks of a special kind: */
/* A number below 2^32 in the context of up to three others. */
uint32_t walk_number(struct walk *w, uint64_t field, uint64_t c1, uint64_t c2, uint64_t c3,
                     uint32_t value);
/* A text, with hints as for words_code. */
void walk_text(struct walk *w, uint64_t field, const uint64_t *hints, char **member);
/* Takes what n elements of at least `size` bytes need from the budget; false if it is not there. */
bool walk_afford(struct walk *w, uint64_t n, size_t size);
uint64_t walk_field(const char *name);

#endif
