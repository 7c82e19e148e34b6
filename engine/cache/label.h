/* Text for people: names of records by reflection ("group/name", a name, an expression), times,
 * durations and progress bars. */
#pragma once

#include "base/buf.h"
#include "store/store.h"

enum { LABEL_MAX = 60 };

/* Formats an expression that is given as prefix tokens: op_infix, op_latex, or arena_strdup. */
typedef char *label_expression(struct arena *a, const char *prefix);
/* Returns NULL if no field of the message names it. Truncates to LABEL_MAX bytes. */
char *label_of_message(struct arena *a, const ProtobufCMessage *message, label_expression *write);
/* Returns the label of a stored record, or the first 8 digits of its id if it has no name or cannot
 * be read. */
char *label_of_record(struct arena *a, struct store *s, const struct digest *id);
char *label_short_id(struct arena *a, const struct digest *id);
/* "2026-11-21 23:50:34", local time. */
const char *label_time(struct arena *a, int64_t ns);
/* "12 ms", "41.2 s", "2 min 05 s" */
void label_put_duration(struct buf *b, uint64_t ns);
/* Writes ", about 41.2 s left"; writes nothing below one second and for UINT64_MAX (unknown). */
void label_put_left(struct buf *b, const char *about, uint64_t ns);
/* "[###.......] " */
void label_put_bar(struct buf *b, double part, int width);
