/* Messages flattened into tab-separated rows: one for each item of the type's first list of
 * messages (a cluster's members), or one for each message if the type has none. Columns: "index"
 * (of the element), the item's plain fields, then the element's own; fields of single messages are
 * named "seed.prefix". Lists of plain values are joined by blanks; bytes are left out unless they
 * are one id. In cells, tab, newline and backslash are written \t, \n and \\. */
#pragma once

#include <protobuf-c/protobuf-c.h>
#include <stdint.h>
#include <stdio.h>

void tsv_header(FILE *to, const ProtobufCMessageDescriptor *type);
void tsv_rows(FILE *to, const ProtobufCMessage *m, uint64_t index);
