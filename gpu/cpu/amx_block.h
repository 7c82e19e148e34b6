/* The tile units' share of a product: one block of the result. */
#ifndef GPU_CPU_AMX_BLOCK_H
#define GPU_CPU_AMX_BLOCK_H

#include "gpu/cpu/amx_side.h"

/* The sums of `blocks` blocks of k of the packed runs `left` and `right`. What becomes of them is
 * left to `side`, which has finished with `sums` before. */
typedef void amx_block(const struct amx_finish *f, uint32_t *sums, const uint32_t *left,
                       const uint32_t *right, size_t blocks, struct amx_side *side);
amx_block amx_block_bf16, amx_block_digits;

/* While the core's other hardware thread is busy (a neighbour's, in a virtual machine), tile
 * instructions close upon each other take 26 ns a product, with 8 instructions of any kind between
 * them 17 (bf16, four products with as many loads); while it is idle, 7.2 either way. */
#define AMX_GAP() __asm__ volatile(".rept 8\n\tnop\n\t.endr")

#endif
