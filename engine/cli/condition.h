/* Conditions on records, for queries: PATH OPERATOR VALUE, or several with `or` between them.
 *
 *     members>50                       a list compares its length
 *     seed.prefix~sin                  '~': holds the words; sin, not asin or sinh
 *     seed.prefix~*sin*                a '*' at an end lets the word go on there
 *     values.kmeans_accuracy>0.9       of a list whose items have names: the last item called so
 *     values."my run.mrr">=0.5         a name with blanks or dots of its own
 *     members.standing=AGREES          else of a list of messages: any item
 *     source_id=62e0                   an id, by its first digits
 *     unsound                          without an operator: neither empty, zero nor false
 *     @op=train                        the op that made it
 *     @time>=2026-11-22T14:30          when it was made, local time; a day alone begins at 0:00
 *     @size>1.5M                       bytes of the record; K, M, G: of 1024
 *     unsound or @size<1K              a value ends before an 'or' that stands alone; or quote it
 *
 * Operators are = != < <= > >= ~ !~. Numbers are compared as numbers where both sides are. The
 * path is checked against the message type when it is read. */
#ifndef ENGINE_CLI_CONDITION_H
#define ENGINE_CLI_CONDITION_H

#include "base/arena.h"
#include "base/err.h"

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>

enum condition_operator {
    CONDITION_SET,
    CONDITION_EQUAL,
    CONDITION_UNEQUAL,
    CONDITION_LESS,
    CONDITION_LESS_EQUAL,
    CONDITION_GREATER,
    CONDITION_GREATER_EQUAL,
    CONDITION_HAS,
    CONDITION_HAS_NOT,
};

/* What is known of a record beside what it says. */
enum condition_about { ABOUT_FIELD, ABOUT_OP, ABOUT_TIME, ABOUT_SIZE };
struct condition_facts {
    const char *op;
    int64_t time_ns;
    uint64_t size;
};

struct condition {
    const char *path;                        /* as written, quotes removed */
    const ProtobufCFieldDescriptor **fields; /* from the message inward */
    size_t n_fields;
    const char *key; /* of a named item of the last field; its `value` is compared */
    enum condition_operator operator;
    const char *value;
    bool is_number;
    double number;
    enum condition_about about;
    size_t value_offset; /* in the text */
    const struct condition *or_else;
};

/* ERR_INPUT with the position in `text`. */
enum err_code condition_parse(struct condition *out, struct arena *a, const char *text,
                              const ProtobufCMessageDescriptor *type, struct err *e);
bool condition_matches(const struct condition *c, const ProtobufCMessage *m,
                       const struct condition_facts *facts);
/* Whether it, or what stands after an `or`, asks about this. */
bool condition_asks(const struct condition *c, enum condition_about about);
/* What the condition looked at, as text; "" if there is nothing. */
const char *condition_shown(struct arena *a, const struct condition *c, const ProtobufCMessage *m,
                            const struct condition_facts *facts);

#endif
