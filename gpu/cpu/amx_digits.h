/* Packing of GPU_F32 operands; see amx.h. */
#ifndef GPU_CPU_AMX_DIGITS_H
#define GPU_CPU_AMX_DIGITS_H

#include "gpu/cpu/amx.h"

size_t amx_digits_pieces(const struct amx_operand *o, size_t blocks);
void amx_digits_piece(uint32_t *out, const struct amx_operand *o, size_t f, size_t k0, size_t k1,
                      size_t piece);

#endif
