/* Memory of the arrays of an e-graph. Large ones are mappings of their own: they grow and shrink by
 * their pages, without a copy and whatever else the process holds, and what they give up the system
 * has back at once. */
#ifndef OPS_EGRAPH_GRAPH_EGRAPH_MEMORY_H
#define OPS_EGRAPH_GRAPH_EGRAPH_MEMORY_H

#include <stddef.h>

/* From `old` bytes (0: array is NULL) to `size`; what is new is zero only where it is a page that
 * was never written. Aborts where there is no memory, naming `what`. */
void *graph_memory_resize(void *array, size_t old, size_t size, const char *what);
/* An array of *cap elements with room for so many, as vec_grow. */
void *graph_memory_grow(void *array, size_t *cap, size_t need, size_t element_size);
void graph_memory_free(void *array, size_t size);
/* Gives the pages of an array back, wherever its memory is from: it may be written again, and what
 * stood in it is lost. */
void graph_memory_forget(void *array, size_t size);

#endif
