/* HTTP for reading: GET and HEAD, a thread for each connection. The only user of libmicrohttpd.
 *
 * Refused before anybody looks at a request: other methods; hosts that are names, except localhost
 * (a name can be made to lead here: DNS rebinding); what another site's page asks for, except when
 * a person follows a link; fields that are no UTF-8, or more of them than HTTP_FIELDS.
 * Bounded: HTTP_CONNECTIONS at a time, HTTP_REQUEST_BYTES for the line and headers of a request,
 * HTTP_IDLE_S seconds without a byte. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    HTTP_FIELDS = 32,
    HTTP_CONNECTIONS = 256,
    HTTP_REQUEST_BYTES = 32 << 10,
    HTTP_IDLE_S = 10,
};

struct http_field {
    const char *name, *value;
};
struct http_request {
    const char *path;
    struct http_field fields[HTTP_FIELDS]; /* of the query, decoded, in its order */
    size_t n_fields;
};
struct http_response {
    unsigned status;
    const char *type;   /* "text/html; charset=utf-8" */
    const char *policy; /* Content-Security-Policy; NULL: the strict one */
    bool fixed;         /* the same as long as this program runs */
    struct buf body;    /* freed by http.c */
};

/* Fills the response (status 200, HTML if it does not say). Any thread. */
typedef void http_answer(struct http_response *out, void *arg, const struct http_request *request,
                         struct arena *a);

struct http;
/* `address` is numeric, IPv4 or IPv6; port 0: any that is free. */
enum err_code http_start(struct http **out, const char *address, uint16_t port, http_answer *answer,
                         void *arg, struct err *e);
uint16_t http_port(const struct http *h);
/* Waits for answers that are being made. */
void http_stop(struct http *h);
