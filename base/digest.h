/* SHA-256 (OpenSSL EVP), the hash of all identities. */
#pragma once

#include "base/err.h"
#include "base/span.h"

enum { DIGEST_SIZE = 32, DIGEST_HEX = 65 };

struct digest {
    uint8_t bytes[DIGEST_SIZE];
};

struct hasher; /* an incremental SHA-256 */
struct hasher *hasher_new(void);
void hasher_free(struct hasher *h);
void hasher_add(struct hasher *h, const void *data, size_t n);
/* Returns the digest and resets the hasher. */
struct digest hasher_finish(struct hasher *h);

/* Returns the digest of n spans, concatenated. */
struct digest digest_of(const struct span *parts, size_t n);
bool digest_equal(const struct digest *a, const struct digest *b);
int digest_compare(const struct digest *a, const struct digest *b);
bool digest_is_zero(const struct digest *d);
/* Writes 64 lower-case digits and a NUL; returns out. */
char *digest_hex(char out[DIGEST_HEX], const struct digest *d);
