/* Messages flattened into tab-separated rows. The first list of messages in the type (a cluster's
 * members) gives the rows; a type without one gives one row a message. Columns: "index" (of the
 * element), then the item's plain fields, then the element's own, those of single messages as
 * "seed.prefix". Lists of plain values are joined by blanks; bytes are left out unless they are one
 * id. In cells, tab, newline and backslash are written \t, \n and \\. */
#ifndef ENGINE_CLI_TSV_H
#define ENGINE_CLI_TSV_H

#include <protobuf-c/protobuf-c.h>
#include <stdint.h>
#include <stdio.h>

void tsv_header(FILE *to, const ProtobufCMessageDescriptor *type);
void tsv_rows(FILE *to, const ProtobufCMessage *m, uint64_t index);

#endif
