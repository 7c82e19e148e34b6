/* What a model writes, as text: tokens by their names, and numbers put together. */
#pragma once

#include "base/arena.h"

#include <stdint.h>

/* "+ x -12" of + x INT- 1 2. An INT+ or INT- without digits stays as it is. */
char *detokenize(struct arena *a, const uint32_t *tokens, size_t n, char *const *names);
