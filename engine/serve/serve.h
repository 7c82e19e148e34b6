/* `eqloom serve`: pages about a store, and mathematics, for a browser on this machine. */
#pragma once

#include "base/err.h"

#include <stdint.h>
#include <stdio.h>

struct serve_options {
    const char *address;          /* numeric */
    uint16_t port;                /* 0: any */
    const char *store;            /* as --store names it; NULL: commands look for it */
    const char *const *operators; /* --operators of the commands; ended by NULL */
    FILE *out;                    /* gets the address, once there is somebody there */
};
/* Until SIGINT or SIGTERM. */
enum err_code serve(const struct serve_options *options, struct err *e);
