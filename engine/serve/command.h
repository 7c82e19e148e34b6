/* Commands of this program, run for a page: each in a process of its own, so that whatever a reader
 * asks for ends with that process. It gets no input, at most COMMAND_BYTES of memory and
 * COMMAND_S seconds, and says at most COMMAND_OUTPUT; COMMANDS run at a time. */
#pragma once

#include "base/arena.h"
#include "base/span.h"

#include <semaphore.h>
#include <stdatomic.h>

enum { COMMANDS = 4, COMMAND_S = 30, COMMAND_WAIT_S = 10, COMMAND_OUTPUT = 16 << 20 };
/* Of address space, of which each thread takes some. */
#define COMMAND_BYTES(threads) (((uint64_t)4 << 30) + (uint64_t)(threads) * (128 << 20))

struct command_room {
    sem_t free;
    atomic_bool closing;
};
void command_room_init(struct command_room *r);
/* What runs is ended, and nothing new begins. */
void command_room_close(struct command_room *r);
void command_room_free(struct command_room *r);

struct command_result {
    int status;         /* -1: ended by a signal, or never begun */
    struct span out;    /* followed by a NUL */
    const char *errors; /* what it said beside; or why it was ended, as a sentence */
};
/* The command ("search") and its words; ended by NULL. All in the arena. */
void command_run(struct command_result *out, struct arena *a, struct command_room *r,
                 const char *const *words);
