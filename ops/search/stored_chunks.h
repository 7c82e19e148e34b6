/* What models are made of, from the store that a command reads. */
#pragma once

#include "engine/tool.h"
#include "ops/learn/checkpoint/checkpoint.h"

struct chunk_io stored_chunks(const struct tool_args *args);
