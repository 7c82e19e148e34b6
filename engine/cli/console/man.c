/* The manual page as scdoc source, and the same as Markdown for docs/cli.md. */
#include "engine/cli/console/cli.h"

#include <string.h>

/* These characters mean something to scdoc. */
static void print_escaped(FILE *to, const char *text)
{
    for (const char *p = text; *p; p++) {
        if (strchr("\\*_#`[]|.-+<>~", *p))
            fputc('\\', to);
        fputc(*p, to);
    }
}

static void print_man_option(FILE *to, const struct cli_option *o)
{
    if (o->letter)
        fprintf(to, "*-%c*, ", o->letter);
    fputs("*--", to);
    print_escaped(to, o->name);
    fputc('*', to);
    if (o->value) {
        fputs(o->value[0] == '[' ? "" : " ", to);
        print_escaped(to, o->value);
    }
    fputs("\n\t", to);
    print_escaped(to, o->doc);
    fputs("\n\n", to);
}

static void print_man_lines(FILE *to, const char *lines, const char *before)
{
    fputs(before, to);
    for (const char *p = lines; *p; p++) {
        fputc(*p, to);
        if (*p == '\n')
            fputs(before, to);
    }
    fputc('\n', to);
}

static void print_man_command(FILE *to, const struct cli_command *command)
{
    fputs("## ", to);
    fprintf(to, "%s %s\n\n", command->name, command->arguments);
    print_escaped(to, command->summary);
    fputs(".\n\n", to);
    if (command->help) {
        print_escaped(to, command->help);
        fputs("\n\n", to);
    }
    for (const struct cli_option *o = command->options; o && o->name; o++)
        print_man_option(to, o);
    if (command->exit_codes) {
        fputs("Exit status: ", to);
        print_escaped(to, command->exit_codes);
        fputs("\n\n", to);
    }
    if (command->example) {
        fputs("```\n", to);
        print_man_lines(to, command->example, "");
        fputs("```\n\n", to);
    }
}

void cli_print_man(FILE *to, const struct cli *c)
{
    fputs("eqloom(1)\n\n# NAME\n\neqloom - corpora of equivalent expressions, and models that "
          "learn from them\n\n# SYNOPSIS\n\n*eqloom* [--store DIR] [--color WHEN] COMMAND ...\n\n"
          "# DESCRIPTION\n\n"
          "eqloom reads a job file and computes the results that it asks for. Results are kept in "
          "a store, the directory _.eqloom_; only what has changed is computed again.\n\n"
          "Data goes to standard output, messages to standard error.\n\n# OPTIONS\n\n",
          to);
    for (const struct cli_option *o = cli_global_options; o->name; o++)
        print_man_option(to, o);
    fputs("# COMMANDS\n\n", to);
    for (size_t i = 0; i < c->n_commands; i++)
        print_man_command(to, &c->commands[i]);
    fputs("# EXIT STATUS\n\n0 done, 1 something failed, 2 usage or bad input, 3 negative verdict, "
          "4 undecided, 130 interrupted.\n\n# ENVIRONMENT\n\n*EQLOOM\\_STORE*\n\tThe store, if "
          "--store does not name one.\n\n*NO\\_COLOR*\n\tIf not empty: no colors.\n\n# FILES\n\n"
          "_.eqloom_\n\tThe store, looked for upward from the job file, or from the current "
          "directory for commands without one.\n\n_out/JOB_\n\tExports of a job, beside the "
          "store.\n",
          to);
}

static void print_markdown_options(FILE *to, const struct cli_option *options)
{
    if (!options || !options->name)
        return;
    fputs("| option | |\n|---|---|\n", to);
    for (const struct cli_option *o = options; o->name; o++) {
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
            print_man_lines(to, command->example, "    ");
        if (i + 1 < c->n_commands && command->example)
            fputc('\n', to);
    }
}
