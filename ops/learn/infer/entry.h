/* What a model's first layer begins with, for every token at every place: in bulk, sequences have
 * few tokens and places between them, so that the norm and the projection to queries, keys and
 * values are looked up instead of worked out for each token again (an eighth of the products of a
 * model of two layers). Made when first asked for, by whichever thread comes first; the others
 * wait. */
#ifndef OPS_LEARN_INFER_ENTRY_H
#define OPS_LEARN_INFER_ENTRY_H

#include "ops/learn/infer/loaded.h"

struct entry_table;
struct entry_table *entry_table_new(void); /* NULL: no memory */
void entry_table_free(struct entry_table *t, const struct loaded *m);

/* *rows: row token * max_length + place, as of struct nn_entry; NULL if the model has too many. The
 * arena is only used for work. */
enum err_code entry_table_get(const float **rows, struct entry_table *t, const struct loaded *m,
                              struct gpu_queue *q, struct arena *a, struct err *e);

/* Which of them the sequences' tokens have. */
void entry_rows(uint32_t *row, const struct nn_sequences *s, const struct nn_config *c);

#endif
