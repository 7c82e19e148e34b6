/* Converts a model's output tokens to text: tokens by their names, with numbers assembled. */
#pragma once

#include "base/arena.h"

#include <stdint.h>

/* Returns "+ x -12" for + x INT- 1 2. Copies an INT+ or INT- without digits unchanged. */
char *detokenize(struct arena *a, const uint32_t *tokens, size_t n, char *const *names);
