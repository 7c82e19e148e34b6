/* The bytes of docs/format.md, section 7. */
#ifndef STORE_PACK_FORMAT_H
#define STORE_PACK_FORMAT_H

#define PACK_MAGIC "eqpack\n"
enum { PACK_MAGIC_SIZE = 8, PACK_FORMAT = 1 }; /* the format is the magic's last byte */
enum { PACK_END = 'E', PACK_RECORD = 'R', PACK_REF = 'N' };

#endif
