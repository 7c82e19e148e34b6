/* The display of a run's progress: a few lines redrawn in place on a terminal, plain lines
 * elsewhere, or one JSON object per line. No other part of the engine prints during a run.
 * Thread-safe. */
#pragma once

#include "engine/run/run.h"

struct progress;
/* `estimates_ns`: the expected duration of each node, by job->nodes (0: unknown); must outlive the
 * progress. */
struct progress *progress_new(const struct job *job, const struct run_options *options,
                              const bool *wanted, const uint64_t *estimates_ns);
void progress_free(struct progress *p);

void progress_run_start(struct progress *p, const char *run);
void progress_node_start(struct progress *p, uint32_t node, uint64_t elements, const char *why);
enum element_state { ELEMENT_CACHED, ELEMENT_RAN, ELEMENT_REUSED, ELEMENT_FAILED };
/* `failure`, for ELEMENT_FAILED, is the complete message; position and id are for the JSON output.
 */
void progress_element(struct progress *p, uint32_t node, enum element_state state,
                      uint64_t position, const struct digest *id, const char *failure);
/* Adds n elements that are done because their blocks are cached or reused. */
void progress_cached(struct progress *p, uint32_t node, uint64_t n);
/* Shows what is being done with a source; sources have no node_start event. */
void progress_source(struct progress *p, uint32_t node, const char *text);
/* Progress that an op reports. */
void progress_op(struct progress *p, uint32_t node, uint64_t done, uint64_t total,
                 const char *text);
void progress_node_done(struct progress *p, uint32_t node, const struct node_result *r);
/* Prints a permanent line about an unusual event. */
void progress_note(struct progress *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* To be called several times per second. */
void progress_tick(struct progress *p);
void progress_summary(struct progress *p, const struct run_result *r);
