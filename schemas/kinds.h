/* Record kinds: a table of each kind's name, number, schema version and message. The name and the
 * schema version are part of identities and never change; the number is stored in envelopes. */
#pragma once

#include <protobuf-c/protobuf-c.h>
#include <stdint.h>

enum record_kind {
    KIND_NONE = 0,
    KIND_EXPR = 1,
    KIND_RULE = 2,
    KIND_EGRAPH = 3,
    KIND_CLUSTER = 4,
    KIND_VOCABULARY = 5,
    KIND_TOKEN_BATCH = 6,
    KIND_CHECKPOINT = 7,
    KIND_CHUNK = 8,
    KIND_EMBEDDING_BATCH = 9,
    KIND_REPORT = 10,
    KIND_FILE = 11,
    KIND_COLLECTION = 12,
    KIND_COLLECTION_BLOCK = 13,
    KIND_DICTIONARY = 14,
    KIND_INDEX = 15,
    KIND_GENERATION = 16,
    KIND_EXERCISE = 17,
    KIND_PAPER = 18,
    KIND_EQUATION = 19,
    KIND_MATHML = 20,
    KIND_GRAPH = 21,
    KIND_IMAGE = 22,
    KIND_LABELS = 23,
    KIND_CACHE_ENTRIES = 24,
    KIND_END
};

struct kind_info {
    enum record_kind kind;
    const char *name; /* "expr", "egraph", ...: as in `show` and in identities */
    uint32_t schema;  /* version of the payload's schema */
    const ProtobufCMessageDescriptor *descriptor;
};

/* Returns NULL for an unknown kind. */
const struct kind_info *kind_info(enum record_kind kind);
const struct kind_info *kind_by_name(const char *name);
