/* eqloom: the program, and what it says when the system stops it: a limit on file sizes is an error
 * of the write that meets it, and a library that gives up (most cannot report a lack of memory) is
 * followed by a line that says what to do. */
#include "base/io/terminal.h"
#include "base/os.h"
#include "engine/cli/console/cli.h"

#include <signal.h>

static void on_abort(int number)
{
    static const char line[] =
        "eqloom: error: stopped, mostly for lack of memory or threads (see above); what was "
        "committed is stored: run again with fewer threads (-j 1) or with more memory\n";
    last_words(line, sizeof line - 1);
    signal(number, SIG_DFL); /* not before, or another thread that aborts ends the process */
    raise(number);
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = SIG_IGN};
    os_few_heaps();
    os_hold_standard_streams();
    sigaction(SIGXFSZ, &action, NULL);
    action = (struct sigaction){.sa_handler = on_abort, .sa_flags = SA_NODEFER};
    sigaction(SIGABRT, &action, NULL);
    return cli_main(argc, argv, terminal_guard(stdout), terminal_guard(stderr));
}
