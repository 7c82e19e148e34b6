/* The table of ops of one instruction set. */
#include "gpu/cpu/cpu_queue.h"

#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)

struct gpu_ops CPU(table)(void)
{
    struct gpu_ops t = {.name = "cpu-" TEXT(CPU_ISA), .matmul = cpu_matmul};
    CPU(fill_elementwise)(&t);
    CPU(fill_activation)(&t);
    CPU(fill_norm)(&t);
    CPU(fill_attention)(&t);
    CPU(fill_sequence)(&t);
    CPU(fill_loss)(&t);
    return t;
}
