/* SHA-256; see digest.h. Code that hashes often keeps a hasher; digest_of creates one for each
 * call. */
#include "base/digest.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct hasher {
    EVP_MD_CTX *ctx;
};

/* Fetched once: EVP_sha256() is fetched anew by each EVP_DigestInit_ex, which costs half as much as
 * hashing a small record. */
static const EVP_MD *sha256; /* constant once set */

static void fetch_sha256(void)
{
    sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
}

static void must(int ok)
{
    if (!ok) {
        fprintf(stderr, "eqloom: SHA-256 is not available from libcrypto\n");
        abort();
    }
}

static const EVP_MD *get_sha256(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fetch_sha256);
    must(sha256 != NULL);
    return sha256;
}

struct hasher *hasher_new(void)
{
    struct hasher *h = malloc(sizeof *h);
    must(h != NULL);
    h->ctx = EVP_MD_CTX_new();
    must(h->ctx && EVP_DigestInit_ex(h->ctx, get_sha256(), NULL));
    return h;
}

void hasher_free(struct hasher *h)
{
    if (h) {
        EVP_MD_CTX_free(h->ctx);
        free(h);
    }
}

void hasher_add(struct hasher *h, const void *data, size_t n)
{
    if (n)
        must(EVP_DigestUpdate(h->ctx, data, n));
}

struct digest hasher_finish(struct hasher *h)
{
    struct digest d;
    unsigned n = sizeof d.bytes;
    must(EVP_DigestFinal_ex(h->ctx, d.bytes, &n));
    must(EVP_DigestInit_ex(h->ctx, NULL, NULL));
    return d;
}

struct digest digest_of(const struct span *parts, size_t n)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    must(ctx && EVP_DigestInit_ex(ctx, get_sha256(), NULL));
    for (size_t i = 0; i < n; i++)
        if (parts[i].len)
            must(EVP_DigestUpdate(ctx, parts[i].data, parts[i].len));
    struct digest d;
    unsigned size = sizeof d.bytes;
    must(EVP_DigestFinal_ex(ctx, d.bytes, &size));
    EVP_MD_CTX_free(ctx);
    return d;
}

bool digest_equal(const struct digest *a, const struct digest *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

int digest_compare(const struct digest *a, const struct digest *b)
{
    return memcmp(a, b, sizeof *a);
}

bool digest_is_zero(const struct digest *d)
{
    static const struct digest zero;
    return digest_equal(d, &zero);
}

char *digest_hex(char out[DIGEST_HEX], const struct digest *d)
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < DIGEST_SIZE; i++) {
        out[2 * i] = digits[d->bytes[i] >> 4];
        out[2 * i + 1] = digits[d->bytes[i] & 15];
    }
    out[64] = 0;
    return out;
}
