/* A checkpoint's model on a device of its own, to be used and not changed: any number of threads
 * may use it at a time, each with its own queue. */
#ifndef OPS_LEARN_INFER_LOADED_H
#define OPS_LEARN_INFER_LOADED_H

#include "ops/learn/checkpoint/checkpoint.h"
#include "token.pb-c.h"

struct loaded {
    struct arena arena;
    struct nn_model *model;
    struct gpu_device *device;
    float *weights, *sinusoids;   /* device */
    enum gpu_precision precision; /* of products: GPU_F32 unless it is set */
};

enum err_code loaded_new(struct loaded **out, const Eqloom__Checkpoint *c,
                         const struct chunk_io *io, struct err *e);
void loaded_free(struct loaded *m);
struct nn_weights loaded_weights(const struct loaded *m);

/* ERR_INPUT, ERR_LIMIT, ERR_CORRUPT if the model cannot take the batch. */
enum err_code loaded_check(const struct loaded *m, const Eqloom__TokenBatch *b, struct err *e);
/* Sequences first .. first+n-1 of the batch as the model takes them; in the arena. */
struct nn_sequences loaded_inputs(const struct loaded *m, const Eqloom__TokenBatch *b, size_t first,
                                  size_t n, struct arena *a);

/* Device memory that grows; contents do not survive. */
struct loaded_memory {
    void *at;
    size_t size;
};
enum err_code loaded_reserve(struct loaded_memory *memory, const struct loaded *m, size_t bytes,
                             struct err *e);

#endif
