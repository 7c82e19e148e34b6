/* From argv to an exit status. */
#include "engine/cli/console/cli.h"

#include "base/buf.h"
#include "engine/cli/records/place.h"

#include <string.h>

static char *join(struct arena *a, int argc, char **argv)
{
    struct buf line = {0};
    buf_puts(&line, "eqloom");
    for (int i = 1; i < argc && line.len < 400; i++)
        buf_printf(&line, " %s", argv[i]);
    return buf_text(&line, a);
}

/* "help", "version" or "markdown". */
static enum err_code answer(struct cli *c, const char *request, struct err *e)
{
    const struct cli_command *command = c->command;
    enum err_code code = OK;
    if (!strcmp(request, "version"))
        fprintf(c->out, "eqloom %s\n", EQLOOM_VERSION);
    else if (!strcmp(request, "markdown"))
        cli_print_markdown(c->out, c);
    else if (!command && c->n_arguments)
        code = cli_find_command(&command, c, c->arguments[0], e);
    if (!code && !strcmp(request, "help"))
        command ? cli_print_help(c->out, c, command) : cli_print_usage(c->out, c);
    return err_up(e, code);
}

/* Commands go on without what cannot be read, such as the label of an element, or say that it is not
 * there: neither is to be relied on. */
static enum err_code check_answer(int status, struct cli *c, enum err_code code, struct err *e)
{
    bool answered = code ? code == ERR_INPUT || code == ERR_NOTFOUND : status != CLI_FAILED;
    const char *trouble = c->store && answered ? store_trouble(c->store) : NULL;
    if (!trouble)
        return code;
    err_clear(e);
    code = err_fail(e, ERR_CORRUPT,
                    "the answer may be wrong, since not all could be read: %.400s", trouble);
    err_hint(e, "'eqloom fsck' lists what is damaged, and the next run repairs it");
    return code;
}

static enum err_code run_command(int *status, struct cli *c, struct err *e)
{
    enum err_code code = OK;
    if (c->command->store != CLI_STORE_OWN)
        code = place_open(c, NULL, c->command->store, e);
    if (!code)
        code = c->command->run(status, c, e);
    return err_up(e, check_answer(*status, c, code, e));
}

int cli_main(int argc, char **argv, FILE *out, FILE *narration)
{
    struct arena arena = {0};
    struct err e = {0};
    struct cli c = {.arena = &arena, .out = out, .narration = narration};
    c.commands = cli_commands(&c.n_commands, &arena);
    c.line = join(&arena, argc, argv);
    const char *request;
    int status = CLI_DONE;
    enum err_code code = cli_parse(&c, &request, argc, argv, &e);
    if (!code)
        code = request ? answer(&c, request, &e) : run_command(&status, &c, &e);
    place_close(&c);
    if (!code && (fflush(out) || ferror(out)))
        code = err_fail(&e, ERR_IO, "cannot write to standard output");
    if (code) {
        fflush(out);
        cli_print_error(narration, &e, c.color);
        status = cli_exit_status(code);
    }
    arena_free(&arena);
    return status;
}
