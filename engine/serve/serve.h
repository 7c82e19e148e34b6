/* `eqloom serve`: serves pages about a store, and pages of tools, to a browser on this machine. */
#pragma once

#include "base/err.h"

#include <stdint.h>
#include <stdio.h>

struct serve_options {
    const char *address;          /* numeric */
    uint16_t port;                /* 0: any free one */
    const char *store;            /* --store; NULL: commands search for it */
    const char *const *operators; /* --operators of the commands; ended by NULL */
    FILE *out;                    /* receives the address once the server listens */
};
/* Serves until SIGINT or SIGTERM. */
enum err_code serve(const struct serve_options *options, struct err *e);
