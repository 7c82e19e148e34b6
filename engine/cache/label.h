/* Names of records for people, by reflection: "group/name", a name, an expression. */
#ifndef ENGINE_LABEL_H
#define ENGINE_LABEL_H

#include "store/store.h"

enum { LABEL_MAX = 60 };

/* NULL when the message has no field that names it. Cut to LABEL_MAX bytes. */
char *label_of_message(struct arena *a, const ProtobufCMessage *message);
/* Of a stored record; its first 8 digits if it has no name or cannot be read. */
char *label_of_record(struct arena *a, struct store *s, const struct digest *id);
char *label_short_id(struct arena *a, const struct digest *id);

#endif
