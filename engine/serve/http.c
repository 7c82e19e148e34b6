#include "engine/serve/http.h"

#include "base/os.h"
#include "base/text/utf8.h"
#include "engine/serve/callers.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

struct http {
    struct MHD_Daemon *daemon;
    http_answer *answer;
    void *arg;
    struct callers callers;
};

enum { LEAVING = 64 }; /* connections that are being hung up on, beyond callers.h's limit */

static const char strict_policy[] =
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/* ---- refusing ---- */

static const char *header(struct MHD_Connection *c, const char *name)
{
    const char *value = MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
    return value ? value : "";
}

/* "localhost", "127.0.0.1:8080", "[::1]:8080". */
static bool is_host(const char *text)
{
    char name[64];
    unsigned char ignored[16];
    bool bracket = *text == '[';
    size_t n = bracket ? strcspn(text, "]") : strcspn(text, ":");
    const char *after = text + n + (bracket && text[n]);
    if (n >= sizeof name ||
        (*after && (*after != ':' || strspn(after + 1, "0123456789") != strlen(after + 1))))
        return false;
    memcpy(name, text + bracket, n - bracket);
    name[n - bracket] = 0;
    return bracket ? text[n] == ']' && inet_pton(AF_INET6, name, ignored) == 1
                   : !strcmp(name, "localhost") || inet_pton(AF_INET, name, ignored) == 1;
}

static bool is_foreign(struct MHD_Connection *c)
{
    const char *origin = header(c, "Origin"), *site = header(c, "Sec-Fetch-Site");
    if (*origin && (strncmp(origin, "http://", 7) || strcmp(origin + 7, header(c, "Host"))))
        return true;
    return !strcmp(site, "cross-site") && strcmp(header(c, "Sec-Fetch-Mode"), "navigate");
}

static enum MHD_Result look_for_body(void *found, enum MHD_ValueKind kind, const char *name,
                                     const char *value)
{
    bool length = !strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH);
    if (!strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) ||
        (length && (!value || strspn(value, "0") != strlen(value))))
        *(bool *)found = true;
    return MHD_YES;
}

static bool has_body(struct MHD_Connection *c)
{
    bool found = false;
    MHD_get_connection_values(c, MHD_HEADER_KIND, look_for_body, &found);
    return found;
}

struct reading {
    struct http_request *request;
    struct arena *arena;
    bool bad;
};

static char *text_of(struct reading *r, const char *text, size_t n)
{
    if ((n && memchr(text, 0, n)) || utf8_prefix((const uint8_t *)text, n) != n)
        r->bad = true;
    return arena_strndup(r->arena, text, n);
}

static enum MHD_Result take_field(void *arg, enum MHD_ValueKind kind, const char *name,
                                  size_t name_len, const char *value, size_t value_len)
{
    struct reading *r = arg;
    r->bad = r->bad || r->request->n_fields == HTTP_FIELDS;
    if (!r->bad)
        r->request->fields[r->request->n_fields++] = (struct http_field){
            text_of(r, name, name_len), text_of(r, value ? value : "", value_len)};
    return r->bad ? MHD_NO : MHD_YES;
}

static void refuse(struct http_response *out, unsigned status, const char *why)
{
    out->status = status;
    out->type = "text/plain; charset=utf-8";
    buf_printf(&out->body, "%s\n", why);
}

/* Returns true if the request was refused. */
static bool check(struct http_response *out, struct http_request *request, struct arena *a,
                  struct MHD_Connection *c, const char *method)
{
    struct reading r = {request, a};
    if (strcmp(method, "GET") && strcmp(method, "HEAD"))
        refuse(out, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are allowed");
    else if (has_body(c))
        refuse(out, MHD_HTTP_CONTENT_TOO_LARGE, "a request has no body here");
    else if (!is_host(header(c, "Host")))
        refuse(out, MHD_HTTP_MISDIRECTED_REQUEST,
               "use localhost or a numeric address: other host names are refused");
    else if (is_foreign(c))
        refuse(out, MHD_HTTP_FORBIDDEN, "cross-site requests are refused");
    else {
        request->path = text_of(&r, request->path, strlen(request->path));
        MHD_get_connection_values_n(c, MHD_GET_ARGUMENT_KIND, take_field, &r);
        if (r.bad)
            refuse(out, MHD_HTTP_BAD_REQUEST, "the address is not UTF-8, or has too many fields");
    }
    return out->status != MHD_HTTP_OK;
}

/* ---- answering ---- */

static struct caller *caller_of(struct MHD_Connection *c)
{
    return MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

static enum MHD_Result send_response(struct MHD_Connection *c, struct http_response *r)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(r->body.len, r->body.data, MHD_RESPMEM_MUST_FREE);
    if (!response) {
        buf_free(&r->body);
        return MHD_NO;
    }
    const char *const headers[][2] = {
        {"Content-Type", r->type},
        {"Content-Security-Policy", r->policy ? r->policy : strict_policy},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Cache-Control", r->fixed ? "max-age=60" : "no-store"},
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        MHD_add_response_header(response, headers[i][0], headers[i][1]);
    if (r->status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, "Allow", "GET, HEAD");
    if (has_body(c)) /* which would be read as the next request */
        MHD_add_response_header(response, "Connection", "close");
    enum MHD_Result done = MHD_queue_response(c, r->status, response);
    MHD_destroy_response(response);
    return done;
}

static enum MHD_Result take_request(void *arg, struct MHD_Connection *c, const char *url,
                                    const char *method, const char *version, const char *upload,
                                    size_t *upload_size, void **state)
{
    static int begun;
    struct http *h = arg;
    struct caller *caller = caller_of(c);
    struct arena a = {0};
    struct http_request request = {.path = url};
    struct http_response r = {.status = MHD_HTTP_OK, .type = "text/html; charset=utf-8"};
    /* The headers have arrived. To answer now keeps a body from being read, and ends the
     * connection. */
    if (!*state && !has_body(c)) {
        *state = &begun;
        return MHD_YES;
    }
    callers_set(&h->callers, caller, CALLER_WAITS);
    if (!check(&r, &request, &a, c, method))
        h->answer(&r, h->arg, &request, &a);
    buf_reserve(&r.body, 1); /* MHD frees the buffer of an empty body, too */
    arena_free(&a);
    callers_set(&h->callers, caller, CALLER_TAKES);
    return send_response(c, &r);
}

static void end_request(void *arg, struct MHD_Connection *c, void **state,
                        enum MHD_RequestTerminationCode why)
{
    struct http *h = arg;
    callers_set(&h->callers, caller_of(c), CALLER_ASKS);
}

static void note_caller(void *arg, struct MHD_Connection *c, void **context,
                        enum MHD_ConnectionNotificationCode what)
{
    struct http *h = arg;
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        callers_remove(&h->callers, *context);
        return;
    }
    const union MHD_ConnectionInfo *fd =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
    const union MHD_ConnectionInfo *from =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    *context = callers_add(&h->callers, fd->connect_fd, from->client_addr);
}

/* ---- the daemon ---- */

static bool parse_address(struct sockaddr_storage *out, const char *text, uint16_t port)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)out;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;
    memset(out, 0, sizeof *out);
    if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(port);
    } else if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(port);
    } else {
        return false;
    }
    return true;
}

static void say_nothing(void *arg, const char *format, va_list values)
{
}

enum err_code http_start(struct http **out, const char *address, uint16_t port, http_answer *answer,
                         void *arg, struct err *e)
{
    struct sockaddr_storage to;
    if (!parse_address(&to, address, port))
        return err_fail(e, ERR_INPUT, "'%.60s' is not a numeric address", address);
    unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION |
                     MHD_USE_POLL | MHD_USE_ERROR_LOG |
                     (to.ss_family == AF_INET6 ? MHD_USE_IPv6 : 0);
    struct http *h = calloc(1, sizeof *h);
    if (!h)
        abort();
    h->answer = answer;
    h->arg = arg;
    callers_init(&h->callers);
    h->daemon = MHD_start_daemon(
        flags, port, NULL, NULL, take_request, h, MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL,
        MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&to, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CALLERS_MOST + LEAVING, MHD_OPTION_NOTIFY_COMPLETED, end_request, h,
        MHD_OPTION_NOTIFY_CONNECTION, note_caller, h, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)HTTP_IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_REQUEST_BYTES,
        MHD_OPTION_THREAD_STACK_SIZE, (size_t)1 << 20, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_END);
    if (!h->daemon) {
        callers_free(&h->callers);
        free(h);
        enum err_code code = err_fail(e, ERR_IO, "cannot listen at %s, port %u", address, port);
        err_hint(e, "another program may use the port: choose one with --port N, or any free one "
                    "with --port 0");
        return code;
    }
    *out = h;
    return OK;
}

uint16_t http_port(const struct http *h)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info ? info->port : 0;
}

void http_sweep(struct http *h)
{
    callers_sweep(&h->callers, os_monotonic_ns());
}

void http_stop(struct http *h)
{
    MHD_stop_daemon(h->daemon);
    callers_free(&h->callers);
    free(h);
}
