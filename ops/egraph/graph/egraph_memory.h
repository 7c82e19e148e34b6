/* Memory of the arrays of an e-graph. Large ones are separate mappings: they grow and shrink by
 * pages, without a copy, and freed pages return to the system at once. */
#pragma once

#include <stddef.h>

/* From `old` bytes (0: array is NULL) to `size`. New bytes are zero only in fresh pages. */
void *egraph_memory_resize(void *array, size_t old, size_t size);
/* Makes room for `need` elements, as vec_grow. */
void *egraph_memory_grow(void *array, size_t *cap, size_t need, size_t element_size);
void egraph_memory_free(void *array, size_t size);
