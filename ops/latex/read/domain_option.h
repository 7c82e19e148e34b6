/* What a command is told of variables: --domain, once for each, and --real. */
#pragma once

#include "engine/tool.h"
#include "ops/expr/ball/domain.h"

struct domain_options {
    const struct ball_domain *domains;
    size_t n;
    bool real_values;
    const char *assumed; /* "x>1, n:integer, real values", as given; NULL: nothing */
};

/* In the arena of the arguments. */
enum err_code domain_options_read(struct domain_options *out, const struct tool_args *args,
                                  struct err *e);

/* Of a tool's table of options. */
#define DOMAIN_OPTION                                                                              \
    {                                                                                              \
        "domain", "x:DOMAIN", true,                                                                \
            "the values of a variable: x:real, n:integer, z:complex, 'x>1' or '0<x<1'; else "      \
            "positive"                                                                             \
    }
#define DOMAIN_OPTION_REAL                                                                         \
    {                                                                                              \
        "real", NULL, false, "equal where both values are real"                                    \
    }
