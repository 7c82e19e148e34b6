/* Checkpoints as safetensors files: tensors under their own names (PyTorch's), in the checkpoint's
 * order; the optimizer's state ("adam.m/NAME": names with a '/') is left out. Metadata:
 * format "pt", architecture, step. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/span.h"
#include "checkpoint.pb-c.h"
#include "token.pb-c.h"

#include <stdio.h>

/* Returns the data of a Chunk, valid until the next call. */
typedef enum err_code safetensors_chunk(struct span *out, void *arg, const uint8_t id[32],
                                        struct err *e);

enum err_code safetensors_write(FILE *to, const Eqloom__Checkpoint *checkpoint,
                                safetensors_chunk *chunk, void *arg, struct err *e);

/* Writes the second file, one JSON object: architecture, step, and the vocabulary (NULL if unknown)
 * as its encoding and tokens by id. */
void safetensors_config(FILE *to, const Eqloom__Checkpoint *c,
                        const Eqloom__Vocabulary *vocabulary);
