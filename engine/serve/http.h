/* A read-only HTTP server: GET and HEAD, a thread for each connection. The only user of
 * libmicrohttpd.
 *
 * Refuses without calling the handler: other methods; a Host that is a name other than localhost
 * (DNS rebinding); cross-site requests, except navigation by a link; query fields that are not
 * UTF-8, or more than HTTP_FIELDS of them; a body, of which nothing is read.
 * Limits: HTTP_REQUEST_BYTES for the request line and headers, HTTP_IDLE_S seconds without a byte,
 * and those of callers.h. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    HTTP_FIELDS = 32,
    HTTP_REQUEST_BYTES = 32 << 10,
    HTTP_IDLE_S = 10,
};

struct http_field {
    const char *name, *value;
};
struct http_request {
    const char *path;
    struct http_field fields[HTTP_FIELDS]; /* of the query string, decoded, in order */
    size_t n_fields;
};
struct http_response {
    unsigned status;
    const char *type;   /* "text/html; charset=utf-8" */
    const char *policy; /* Content-Security-Policy; NULL: the strict policy */
    bool fixed;         /* constant while this program runs */
    struct buf body;    /* freed by http.c */
};

/* Fills the response, which begins as HTML of status 200. Called on any thread. */
typedef void http_answer(struct http_response *out, void *arg, const struct http_request *request,
                         struct arena *a);

struct http;
/* `address` is numeric, IPv4 or IPv6; port 0 chooses a free one. */
enum err_code http_start(struct http **out, const char *address, uint16_t port, http_answer *answer,
                         void *arg, struct err *e);
uint16_t http_port(const struct http *h);
/* Hangs up on those whose time is over. Call once a second. */
void http_sweep(struct http *h);
/* Waits for running handlers. */
void http_stop(struct http *h);
