/* Packed forms of operands that stay for many products: weights. Each is packed when a product
 * first asks for it after packs_forget, by whichever thread comes first; the others wait. Safe to
 * use from many threads, except that nothing may use a form while packs_forget runs. */
#ifndef GPU_CPU_PACKS_H
#define GPU_CPU_PACKS_H

#include "gpu/cpu/amx.h"

struct cpu_packs;

struct cpu_packs *packs_new(void); /* NULL: no memory */
void packs_free(struct cpu_packs *p);
/* The values of operands may have changed: all forms are void. Their memory stays for the next. */
void packs_forget(struct cpu_packs *p);
/* All blocks of the operand, packed by `pack`; NULL if there is no memory. Good until packs_forget.
 */
const uint32_t *packs_get(struct cpu_packs *p, const struct amx_operand *o, amx_packer *pack);

#endif
