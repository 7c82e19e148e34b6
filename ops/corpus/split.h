/* Which part of a corpus a cluster or an expression belongs to: a function of its prefix form and a
 * seed, so that adding or removing one moves no other. */
#pragma once

#include "base/err.h"

#include <stdint.h>

enum split_part { SPLIT_TRAIN, SPLIT_VALID, SPLIT_TEST, SPLIT_PARTS };

/* The outputs of op split, by part. */
extern const char *const split_names[SPLIT_PARTS];

/* A place in [0, 1): the test part takes the lowest places, the validation part the highest. */
double split_place(uint64_t seed, const char *prefix);
enum split_part split_part(uint64_t seed, const char *prefix, double valid, double test);
