/* Which part of a corpus a cluster or an expression belongs to: a function of its prefix form and a
 * seed, so that adding or removing one moves no other. */
#ifndef OPS_CORPUS_SPLIT_H
#define OPS_CORPUS_SPLIT_H

#include "base/err.h"

#include <stdint.h>

enum split_part { SPLIT_TRAIN, SPLIT_VALID, SPLIT_TEST, SPLIT_PARTS };

/* The outputs of the ops that split, by part. */
extern const char *const split_names[SPLIT_PARTS];

/* The fractions must leave room for each other. */
enum err_code split_check(double valid, double test, struct err *e);

enum split_part split_part(uint64_t seed, const char *prefix, double valid, double test);

#endif
