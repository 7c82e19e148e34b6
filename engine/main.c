/* The eqloom program, and its messages when the system stops it. Exceeding the limit on file sizes
 * becomes an error of the write (SIGXFSZ is ignored). If a library calls abort(), mostly for lack
 * of memory, a line follows that tells the user what to do. */
#include "base/io/terminal.h"
#include "base/os.h"
#include "base/process/guard.h"
#include "engine/cli/console/cli.h"

#include <signal.h>

static void on_abort(int number)
{
    static const char line[] =
        "eqloom: error: aborted, probably for lack of memory or threads (see above); what was "
        "committed is stored: run again with fewer threads (-j 1) or with more memory\n";
    last_words(line, sizeof line - 1);
    signal(number, SIG_DFL); /* only now: otherwise a second aborting thread would end the process
                              * first */
    raise(number);
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = SIG_IGN};
    guard_main(argc, argv);
    os_few_heaps();
    os_hold_standard_streams();
    sigaction(SIGXFSZ, &action, NULL);
    action = (struct sigaction){.sa_handler = on_abort, .sa_flags = SA_NODEFER};
    sigaction(SIGABRT, &action, NULL);
    return cli_main(argc, argv, terminal_guard(stdout), terminal_guard(stderr));
}
