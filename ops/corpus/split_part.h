/* Which part of a corpus a cluster belongs to: a function of the seed expression and a number, so
 * that clusters that come or go move no other. */
#ifndef OPS_CORPUS_SPLIT_PART_H
#define OPS_CORPUS_SPLIT_PART_H

#include <stdint.h>

enum split_part { SPLIT_TRAIN, SPLIT_VALID, SPLIT_TEST, SPLIT_PARTS };

enum split_part split_part(uint64_t seed, const char *prefix, double valid, double test);

#endif
