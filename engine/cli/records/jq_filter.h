/* A jq program as a condition on JSON values, through libjq: the language, its built-in functions
 * and its messages are jq's. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

#include <jansson.h>

struct jq_filter;

/* ERR_INPUT with what jq said if the program does not compile. */
enum err_code jq_filter_new(struct jq_filter **out, const char *program, struct err *e);
void jq_filter_free(struct jq_filter *f); /* NULL is fine */

/* Runs the program on a value. *yielded is the first output that is neither false nor null, as JSON
 * text in the arena, or NULL if there is none: the program does not select the value. An error
 * that the program raises on this value is ERR_INPUT. */
enum err_code jq_filter_run(const char **yielded, struct arena *a, struct jq_filter *f,
                            const json_t *value, struct err *e);
