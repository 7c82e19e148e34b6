/* Names that a user gives: of record kinds and ops. An unknown one is refused with the nearest
 * known one. */
#pragma once

#include "base/err.h"
#include "schemas/kinds.h"

struct op;

/* ERR_INPUT with the message; the hint is "did you mean 'NEAREST'?", or `hint` if no name is near.
 */
enum err_code naming_refuse(const char *name, const char *const *names, size_t n, const char *hint,
                            struct err *e, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
enum err_code naming_kind(const struct kind_info **out, const char *name, struct err *e);
enum err_code naming_op(const struct op **out, const char *name, struct err *e);
