/* A guard is the parent of one program and ends the whole tree of processes that this starts: it is
 * the subreaper of the tree, so what leaves its group or session, or loses its parent, becomes the
 * guard's own child. The tree ends with the program, and when the guard gets SIGTERM, which the
 * kernel also sends when the process that started the guard dies in whatever way: then with SIGTERM
 * first. All functions are for the child of a fork: they use async-signal-safe calls only. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* How long a program may take to end after SIGTERM. */
enum { GUARD_PATIENCE_MS = 300 };

/* Makes this process a guard. Returns false if its parent has died. */
bool guard_prepare(pid_t parent);
/* Watches the child `program`; ends with its status, or 128 + the number of the signal that ended
 * it. */
_Noreturn void guard_watch(pid_t program);

/* For a program's main(), first of all: from then on guards execute the program anew, which
 * releases their copy of this process's memory. Does not return in a guard. */
void guard_main(int argc, char **argv);
