/* The transport for a bucket of S3, or of a service with the same protocol, through curl, which
 * signs requests itself. Keys and secrets are passed to curl on its standard input, so that they
 * are not visible among its arguments. */
#include "engine/remote/transport.h"

#include "base/buf.h"
#include "base/digest.h"
#include "store/pack/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PART = 1 << 16 };

struct bucket {
    const char *base;                          /* "https://s3.eu-west-1.amazonaws.com/BUCKET" */
    const char *prefix;                        /* "" or "PATH/", percent-encoded except for '/' */
    const char *region, *key, *secret, *token; /* key NULL: requests are not signed */
};

/* ---- requests ---- */

static const char *percent(struct arena *a, const char *text, const char *keep)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    struct buf b = {0};
    for (; *text; text++)
        if (strchr(plain, *text) || strchr(keep, *text))
            buf_putc(&b, *text);
        else
            buf_printf(&b, "%%%02X", (unsigned char)*text);
    return buf_text(&b, a);
}

/* Writes curl's configuration for a request. */
static enum err_code write_config(FILE **out, struct transport *t, const char *url,
                                  const char *digest, struct err *e)
{
    const struct bucket *b = t->state;
    int fd = memfd_create("curl", MFD_CLOEXEC); /* the key is on no disk */
    FILE *f = fd >= 0 ? fdopen(fd, "w+b") : NULL;
    if (!f)
        return err_fail(e, ERR_IO, "cannot write curl's configuration: %s", strerror(errno));
    fprintf(f, "url = \"%s\"\n", url);
    if (b->key)
        fprintf(f, "user = \"%s:%s\"\naws-sigv4 = \"aws:amz:%s:s3\"\n", b->key, b->secret,
                b->region);
    if (b->key && b->token)
        fprintf(f, "header = \"x-amz-security-token: %s\"\n", b->token);
    fprintf(f, "header = \"x-amz-content-sha256: %s\"\n", digest);
    rewind(f);
    *out = f;
    return OK;
}

/* Sends a GET request, or a PUT of the file `upload`, of which transport_run sees nothing. */
static enum err_code request(FILE **out, struct transport *t, const char *url, const char *upload,
                             const char *digest, struct transport_request *q, struct err *e)
{
    char seconds[16], rate[16];
    /* Of a PUT only the status is wanted: curl takes a redirection without a place for success. */
    const char *argv[] = {"curl",
                          "-q",
                          "-sSf",
                          "-K",
                          "-",
                          "--proto",
                          "=http,https",
                          "--connect-timeout",
                          seconds,
                          "--speed-time",
                          seconds,
                          "--speed-limit",
                          rate,
                          upload ? "-T" : NULL,
                          upload,
                          "-o",
                          "/dev/null",
                          "-w",
                          "%{http_code}",
                          NULL};
    snprintf(seconds, sizeof seconds, "%u", t->patience_s);
    snprintf(rate, sizeof rate, "%d", TRANSPORT_RATE);
    enum err_code code = write_config(&q->in, t, url, digest, e);
    if (code)
        return err_up(e, code);
    q->argv = argv;
    q->watches_itself = upload;
    code = transport_run(out, t, q, e);
    fclose(q->in);
    return err_up(e, code);
}

static const char empty_digest[] =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

static const char *object_url(struct arena *a, const struct bucket *b, const char *name)
{
    return arena_printf(a, "%s/%s%s", b->base, b->prefix, name);
}

/* ---- listing ---- */

/* Returns the text of the next "<TAG>text</TAG>" from *at on and advances *at past it, or NULL. The
 * texts that we read contain no character that XML escapes. */
static char *next_element(struct arena *a, const char **at, const char *tag)
{
    const char *open = arena_printf(a, "<%s>", tag), *close = arena_printf(a, "</%s>", tag);
    const char *begin = strstr(*at, open), *end = begin ? strstr(begin, close) : NULL;
    if (!end)
        return NULL;
    begin += strlen(open);
    *at = end + strlen(close);
    return arena_strndup(a, begin, (size_t)(end - begin));
}

/* A list that comes in pages. */
struct listing {
    struct name_map *names;
    char more[2048]; /* the token of the next page, or "" */
    uint64_t until_ns;
};

static enum err_code read_page(struct listing *l, struct arena *a, const char *at, struct err *e)
{
    const char *begin = at, *key;
    enum err_code code = OK;
    if (!strstr(at, "<ListBucketResult"))
        return err_fail(e, ERR_IO, "curl: the server does not answer with a list of a bucket");
    while (!code && (key = next_element(a, &at, "Key")))
        code = transport_add_name(l->names, strrchr(key, '/') ? strrchr(key, '/') + 1 : key, e);
    const char *more = next_element(a, &begin, "NextContinuationToken");
    l->more[0] = 0;
    if (!code && more && strlen(more) >= sizeof l->more)
        return err_fail(e, ERR_IO, "a list whose continuation token is too long");
    if (more && !code)
        strcpy(l->more, more);
    return code;
}

static enum err_code list_page(struct listing *l, struct transport *t, struct arena *a,
                               const char *folder, struct err *e)
{
    const struct bucket *b = t->state;
    struct transport_request q = {.limit_bytes = TRANSPORT_LIST_BYTES, .until_ns = l->until_ns};
    FILE *page;
    const char *token =
        *l->more ? arena_printf(a, "continuation-token=%s&", percent(a, l->more, "")) : "";
    const char *url = arena_printf(a, "%s?%slist-type=2&prefix=%s%%2F", b->base, token,
                                   percent(a, arena_printf(a, "%s%s", b->prefix, folder), "%"));
    enum err_code code = request(&page, t, url, NULL, empty_digest, &q, e);
    if (code)
        return err_up(e, code);
    fseeko(page, 0, SEEK_END);
    size_t n = (size_t)ftello(page);
    rewind(page);
    char *text = arena_alloc(a, n + 1);
    text[fread(text, 1, n, page)] = 0;
    fclose(page);
    return err_up(e, read_page(l, a, text, e));
}

static enum err_code list(struct name_map *names, struct transport *t, const char *folder,
                          struct err *e)
{
    struct listing l = {.names = names, .until_ns = transport_until(TRANSPORT_LIST_S)};
    enum err_code code = OK;
    size_t pages = 0;
    do {
        struct arena a = {0};
        code = pages++ == TRANSPORT_LIST_PAGES
                   ? err_fail(e, ERR_IO, "a list of more than %d pages", TRANSPORT_LIST_PAGES)
                   : list_page(&l, t, &a, folder, e);
        arena_free(&a);
    } while (!code && *l.more);
    return err_up(e, code);
}

/* ---- objects ---- */

static enum err_code get(FILE **out, struct transport *t, const char *name, struct err *e)
{
    struct arena a = {0};
    struct transport_request q = {.limit_bytes = TRANSPORT_PACK_BYTES,
                                  .begin = PACK_MAGIC,
                                  .until_ns = transport_until(TRANSPORT_PACK_S)};
    enum err_code code = request(out, t, object_url(&a, t->state, name), NULL, empty_digest, &q, e);
    arena_free(&a);
    return err_up(e, code);
}

static enum err_code digest_file(char hex[DIGEST_HEX], const char *path, struct err *e)
{
    static _Thread_local uint8_t part[PART];
    struct hasher *h = hasher_new();
    FILE *f = fopen(path, "rbe");
    size_t n;
    while (f && (n = fread(part, 1, sizeof part, f)) > 0)
        hasher_add(h, part, n);
    bool good = f && !ferror(f);
    if (f)
        fclose(f);
    struct digest d = hasher_finish(h);
    digest_hex(hex, &d);
    hasher_free(h);
    return good ? OK : err_fail(e, ERR_IO, "cannot read %s", path);
}

static enum err_code put(struct transport *t, const char *name, const char *path, struct err *e)
{
    struct arena a = {0};
    char hex[DIGEST_HEX], status[4] = "";
    struct transport_request q = {.limit_bytes = sizeof status,
                                  .until_ns = transport_until(TRANSPORT_PACK_S)};
    FILE *answer = NULL;
    enum err_code code = digest_file(hex, path, e);
    if (!code)
        code = request(&answer, t, object_url(&a, t->state, name), path, hex, &q, e);
    if (!code && (!fgets(status, sizeof status, answer) || *status != '2'))
        code = err_fail(e, ERR_IO, "curl: the server answered with status %s", status);
    if (answer)
        fclose(answer);
    arena_free(&a);
    return err_up(e, code);
}

/* ---- address and credentials ---- */

/* Reads an environment variable and checks that curl's configuration can hold its value. */
static enum err_code read_variable(const char **out, struct arena *a, const char *name,
                                   struct err *e)
{
    const char *value = getenv(name);
    *out = value && *value ? arena_strdup(a, value) : NULL;
    return *out && strpbrk(*out, "\"\\\r\n")
               ? err_fail(e, ERR_INPUT, "%s contains a quote, a backslash or a line end", name)
               : OK;
}

static const struct transport_kind kind = {list, get, put};

enum err_code transport_s3(struct transport *t, struct arena *a, const char *address, struct err *e)
{
    static const char *const names[] = {
        "AWS_REGION",        "AWS_DEFAULT_REGION",  "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"};
    const char *v[7];
    struct bucket *b = arena_new(a, struct bucket);
    size_t n = strcspn(address, "/");
    for (size_t i = 0; i < 7; i++)
        if (read_variable(&v[i], a, names[i], e))
            return err_up(e, ERR_INPUT);
    if (!n)
        return err_fail(e, ERR_INPUT, "s3://%s is not an address of the form s3://BUCKET[/PREFIX]",
                        address);
    if (v[2] && !v[3])
        return err_fail(e, ERR_INPUT, "AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is not");
    b->region = v[0] ? v[0] : v[1] ? v[1] : "us-east-1";
    b->key = v[2];
    b->secret = v[3];
    b->token = v[4];
    const char *endpoint = v[5] ? v[5] : v[6];
    if (!endpoint)
        endpoint = arena_printf(a, "https://s3.%s.amazonaws.com", b->region);
    b->base = arena_printf(a, "%.*s/%s",
                           (int)(strlen(endpoint) - (endpoint[strlen(endpoint) - 1] == '/')),
                           endpoint, percent(a, arena_strndup(a, address, n), ""));
    const char *prefix = address[n] ? address + n + 1 : "";
    size_t length = strlen(prefix);
    b->prefix = !length                     ? ""
                : prefix[length - 1] == '/' ? percent(a, prefix, "/")
                                            : arena_printf(a, "%s/", percent(a, prefix, "/"));
    t->kind = &kind;
    t->state = b;
    return OK;
}
