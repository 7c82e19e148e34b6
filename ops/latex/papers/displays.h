/* The environments that are displays: those of the paper's list and a few more. */
#pragma once

#include "ops/latex/source/tex_scan.h"

/* With or without a star. */
bool display_environment(struct piece name);
