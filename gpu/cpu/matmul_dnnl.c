/* Matrix products, by oneDNN: the only file that knows it. dnnl_sgemm dispatches to the same
 * kernels as its matmul primitive, takes any strides and accumulates, and needs no cache of
 * primitives; at this project's shapes it was measured at 0.97 to 1.1 times the primitive's speed.
 * Debian's oneDNN is built for OpenMP; our workers call it with one thread each, so that its pool
 * never starts and a product is the same whatever runs beside it. */
#include "gpu/cpu/cpu.h"

#include <dnnl.h>

/* libgomp's; <omp.h> belongs to one compiler. The setting is the calling thread's own. */
extern void omp_set_num_threads(int n);

void cpu_matmul(struct gpu_queue *q, const struct gpu_matmul *mm)
{
    if (q->failure.code || mm->m == 0 || mm->n == 0)
        return;
    omp_set_num_threads(1);
    dnnl_status_t status =
        dnnl_sgemm(mm->ta ? 'T' : 'N', mm->tb ? 'T' : 'N', (dnnl_dim_t)mm->m, (dnnl_dim_t)mm->n,
                   (dnnl_dim_t)mm->k, mm->alpha, mm->a, (dnnl_dim_t)mm->lda, mm->b,
                   (dnnl_dim_t)mm->ldb, mm->accumulate ? 1 : 0, mm->c, (dnnl_dim_t)mm->ldc);
    if (status != dnnl_success)
        err_fail(&q->failure, status == dnnl_out_of_memory ? ERR_NOMEM : ERR_FAILED,
                 "oneDNN: matrix product of %zu x %zu x %zu failed (status %d)", mm->m, mm->n,
                 mm->k, (int)status);
}
