/* Internals of the CPU back end. The kernels are compiled once per instruction set (CPU_ISA is
 * base, avx2 or avx512); CPU(name) gives each copy its own symbols. */
#pragma once

#include "gpu/gpu.h"

struct cpu_queue {
    struct gpu_queue base;
    void *scratch; /* grows, never shrinks; contents do not outlive an op */
    size_t scratch_size;
};

struct cpu_images;
struct cpu_device {
    struct gpu_device base;
    struct pool *pool;
    struct cpu_queue *queues;  /* of gpu_each */
    struct cpu_images *images; /* state of convolutions */
};

/* Allocates memory aligned to 64 bytes, in huge pages if it is large; NULL if memory runs out.
 * Release with free(). */
void *cpu_alloc(size_t bytes);
/* Returns NULL after recording the failure in the queue. */
void *cpu_scratch(struct gpu_queue *q, size_t bytes);
void cpu_matmul(struct gpu_queue *q, const struct gpu_matmul *mm);
/* Makes oneDNN generate its kernels, once: it otherwise does so at the first product, and crashes
 * if it cannot map memory. ERR_NOMEM if memory runs out. */
enum err_code cpu_prepare_products(struct err *e);

/* Configures oneDNN for the calling thread (instruction set, one thread); returns whether it has
 * bf16 units. */
bool cpu_dnnl_bf16(void);

/* Ops that all instruction sets share. */
void cpu_fill_outcome(struct gpu_ops *t);
void cpu_fill_images(struct gpu_ops *t);
/* Returns NULL if memory runs out. */
struct cpu_images *cpu_images_open(void);
void cpu_images_close(struct cpu_images *x);

#ifdef CPU_ISA
#define CPU_JOIN2(name, isa) cpu_##name##_##isa
#define CPU_JOIN(name, isa) CPU_JOIN2(name, isa)
#define CPU(name) CPU_JOIN(name, CPU_ISA)

/* Fill the ops table, one function per file of kernels. */
void CPU(fill_elementwise)(struct gpu_ops *t);
void CPU(fill_activation)(struct gpu_ops *t);
void CPU(fill_norm)(struct gpu_ops *t);
void CPU(fill_attention)(struct gpu_ops *t);
void CPU(fill_sequence)(struct gpu_ops *t);
void CPU(fill_loss)(struct gpu_ops *t);
#endif

struct gpu_ops cpu_table_base(void);
struct gpu_ops cpu_table_avx2(void);
struct gpu_ops cpu_table_avx512(void);
