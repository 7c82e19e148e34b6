/* What a person reads about the command line: --help, of eqloom and of each command, docs/cli.md
 * (from which the manual page is made), and errors. */
#include "engine/cli/console/cli.h"

#include "base/io/terminal.h"
#include "engine/cli/console/text_table.h"

enum { WIDTH = 79, COLUMN = 26 };

static void print_lines(FILE *to, const char *lines, const char *before)
{
    fputs(before, to);
    for (const char *p = lines; *p; p++) {
        fputc(*p, to);
        if (*p == '\n')
            fputs(before, to);
    }
    fputc('\n', to);
}

static void print_options(FILE *to, const struct tool_option *options)
{
    for (const struct tool_option *o = options; o && o->name; o++) {
        char left[64];
        const char *glue = o->value && o->value[0] != '[' ? " " : "";
        int n = o->letter ? snprintf(left, sizeof left, "  -%c, --%s", o->letter, o->name)
                          : snprintf(left, sizeof left, "      --%s", o->name);
        if (o->value && n < (int)sizeof left)
            n += snprintf(left + n, sizeof left - (size_t)n, "%s%s", glue, o->value);
        if (n >= COLUMN)
            fprintf(to, "%s\n%*s", left, COLUMN, "");
        else
            fprintf(to, "%-*s", COLUMN, left);
        wrap_print(to, o->doc, COLUMN, COLUMN, WIDTH);
    }
}

void cli_print_usage(FILE *to, const struct cli *c)
{
    fputs("usage: eqloom [--store DIR] [--color WHEN] COMMAND ...\n\n"
          "Builds corpora of equivalent expressions, and models that learn from them, from a job\n"
          "file. Results are kept in a store; only what has changed is computed again.\n\n"
          "commands:\n",
          to);
    for (size_t i = 0; i < c->n_commands; i++)
        fprintf(to, "  %-14s %s\n", c->commands[i].name, c->commands[i].summary);
    fputs("\noptions:\n", to);
    print_options(to, cli_global_options);
    fputs("\nexit status: 0 done, 1 something failed, 2 usage or bad input, 3 negative verdict,\n"
          "4 undecided, 130 interrupted\n\n"
          "'eqloom COMMAND --help' says more about a command.\n",
          to);
}

void cli_print_help(FILE *to, const struct cli *c, const struct cli_command *command)
{
    fprintf(to, "usage: eqloom %s%s%s%s\n\n%s.\n", command->name,
            command->options && command->options->name ? " [OPTION...]" : "",
            command->arguments[0] ? " " : "", command->arguments, command->summary);
    if (command->help) {
        fputc('\n', to);
        wrap_print(to, command->help, 0, 0, WIDTH);
    }
    if (command->options && command->options->name) {
        fputs("\noptions:\n", to);
        print_options(to, command->options);
    }
    if (command->example) {
        fputs("\nexample:\n", to);
        print_lines(to, command->example, "  ");
    }
    if (command->exit_codes) {
        fputs("\nexit status: ", to);
        wrap_print(to, command->exit_codes, 13, 0, WIDTH);
    }
}

static void print_markdown_options(FILE *to, const struct tool_option *options)
{
    if (!options || !options->name)
        return;
    fputs("| option | |\n|---|---|\n", to);
    for (const struct tool_option *o = options; o->name; o++) {
        fputs("| ", to);
        if (o->letter)
            fprintf(to, "`-%c`, ", o->letter);
        fprintf(to, "`--%s%s%s` | %s |\n", o->name, o->value && o->value[0] != '[' ? " " : "",
                o->value ? o->value : "", o->doc);
    }
    fputc('\n', to);
}

void cli_print_markdown(FILE *to, const struct cli *c)
{
    fputs("# The command line\n\nMade by `eqloom --markdown`.\n\n"
          "    eqloom [--store DIR] [--color WHEN] COMMAND ...\n\n"
          "Data goes to standard output, messages to standard error. With `--json`, one "
          "JSON object a line. Exit status: 0 done, 1 something failed, 2 usage or bad input, "
          "3 negative verdict, 4 undecided, 130 interrupted.\n\n",
          to);
    print_markdown_options(to, cli_global_options);
    for (size_t i = 0; i < c->n_commands; i++) {
        const struct cli_command *command = &c->commands[i];
        fprintf(to, "## %s\n\n    eqloom %s %s\n\n%s.\n\n", command->name, command->name,
                command->arguments, command->summary);
        if (command->help)
            fprintf(to, "%s\n\n", command->help);
        print_markdown_options(to, command->options);
        if (command->exit_codes)
            fprintf(to, "Exit status: %s\n\n", command->exit_codes);
        if (command->example)
            print_lines(to, command->example, "    ");
        if (i + 1 < c->n_commands && command->example)
            fputc('\n', to);
    }
}

/*  jobs/a.yaml:7:12: error: there is no op 'satrate'
 *      egraphs: {op: satrate}
 *                    ^
 *  did you mean 'saturate'? */
void cli_print_error(FILE *to, const struct err *e, bool color)
{
    const char *bold = color ? "\033[1m" : "", *red = color ? "\033[1;31m" : "";
    const char *off = color ? "\033[0m" : "";
    terminal_control(to, bold);
    if (e->line)
        fprintf(to, "%s:%d:%d:", e->input_file, e->line, e->column);
    else
        fputs("eqloom:", to);
    terminal_control(to, off);
    fputc(' ', to);
    terminal_control(to, red);
    fputs("error:", to);
    terminal_control(to, off);
    fprintf(to, " %s\n", e->message);
    if (e->line && *e->input_line) {
        fprintf(to, "    %s\n    %*s", e->input_line, e->caret, "");
        terminal_control(to, red);
        fputc('^', to);
        terminal_control(to, off);
        fputc('\n', to);
    }
    if (e->hint[0])
        fprintf(to, "%s\n", e->hint);
    if (e->detail[0])
        fprintf(to, "%s\n", e->detail);
}
