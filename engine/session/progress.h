/* What the user sees of a run: a few lines redrawn in place on a terminal, plain lines elsewhere,
 * or one JSON object a line. The only place of the engine that prints. Thread-safe. */
#pragma once

#include "engine/run/run.h"

struct progress;
/* `estimates_ns`: how long each node may take, by job->nodes (0: no estimate); it stays. */
struct progress *progress_new(const struct job *job, const struct run_options *options,
                              const bool *wanted, const uint64_t *estimates_ns);
void progress_free(struct progress *p);

void progress_run_start(struct progress *p, const char *run);
void progress_node_start(struct progress *p, uint32_t node, uint64_t elements, const char *why);
enum element_state { ELEMENT_CACHED, ELEMENT_RAN, ELEMENT_REUSED, ELEMENT_FAILED };
/* `failure` for ELEMENT_FAILED: the whole sentence; position and id for machines. */
void progress_element(struct progress *p, uint32_t node, enum element_state state,
                      uint64_t position, const struct digest *id, const char *failure);
/* So many more elements are done, by blocks that are cached or reused. */
void progress_cached(struct progress *p, uint32_t node, uint64_t n);
/* Of a source, of which no event tells that it began: what is done with it. */
void progress_source(struct progress *p, uint32_t node, const char *text);
/* From ops. */
void progress_op(struct progress *p, uint32_t node, uint64_t done, uint64_t total,
                 const char *text);
void progress_node_done(struct progress *p, uint32_t node, const struct node_result *r);
/* A line that stays: something out of the ordinary. */
void progress_note(struct progress *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Several times a second. */
void progress_tick(struct progress *p);
void progress_summary(struct progress *p, const struct run_result *r);
