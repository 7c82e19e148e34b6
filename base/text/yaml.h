/* YAML documents as trees of nodes that record their source positions, so that callers can
 * report errors as 'file:line:column'. The only user of libyaml.
 *
 * One document per text. Keys are scalars and unique within a mapping; anchors, aliases, tags,
 * merge keys and line separators that only YAML 1.1 knows are rejected. Size, depth and the number
 * of nodes are bounded. Nodes and their texts live in the arena. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>

enum yaml_type { YAML_SCALAR, YAML_SEQUENCE, YAML_MAPPING };

/* How a scalar is written: only plain ones can be numbers, booleans or null. */
enum yaml_style { YAML_PLAIN, YAML_QUOTED, YAML_BLOCK };

struct yaml_pair;

struct yaml_node {
    enum yaml_type type;
    enum yaml_style style; /* YAML_SCALAR */
    const char *text;      /* YAML_SCALAR: unescaped, NUL-terminated, no NUL inside */
    size_t len;            /* of text */
    const struct yaml_node *const *items; /* YAML_SEQUENCE */
    const struct yaml_pair *pairs;        /* YAML_MAPPING, in file order */
    size_t n;                             /* items or pairs */
    const struct source_text *source;     /* as given to yaml_parse */
    size_t offset;                        /* of the first byte in it */
    bool by_user; /* false from yaml_parse; set by the caller for a node from the command line */
};

struct yaml_pair {
    const struct yaml_node *key, *value; /* an omitted value is a plain scalar "" */
};

enum {
    YAML_MAX_BYTES = 16 << 20,
    YAML_MAX_DEPTH = 64,
    YAML_MAX_NODES = 1 << 20,
};

/* *out is NULL for an empty document. Errors are ERR_INPUT, with a position unless the text is too
 * long. `source` must live as long as the nodes. */
enum err_code yaml_parse(const struct yaml_node **out, struct arena *a,
                         const struct source_text *source, struct err *e);

/* Returns the value under a key, or NULL. */
const struct yaml_node *yaml_get(const struct yaml_node *mapping, const char *key);
/* "a mapping", "a list", "a value". */
const char *yaml_type_name(enum yaml_type type);
/* ERR_INPUT "WHAT must be a list, not a mapping" unless the node is of the type. */
enum err_code yaml_expect(const struct yaml_node *node, enum yaml_type type, const char *what,
                          struct err *e);
/* ERR_INPUT with a 'did you mean' if a mapping has a key that is not among `names`. */
enum err_code yaml_only_keys(const struct yaml_node *mapping, const char *const *names, size_t n,
                             const char *what, struct err *e);
/* A plain scalar that is empty, "~" or "null". */
bool yaml_is_null(const struct yaml_node *node);

/* err_fail_at the node. */
#define yaml_fail(e, node, ...) err_fail_at((e), (node)->source, (node)->offset, __VA_ARGS__)
