/* The key of a node that runs a program (op_exec.c). */
#pragma once

#include "engine/node/node.h"

/* Adds the contents of its files to the inputs of the key. */
enum err_code exec_bind(struct worker *w, uint32_t i, struct err *e);
