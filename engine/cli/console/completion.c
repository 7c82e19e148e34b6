/* Bash completion: commands, options, node names after a job file, refs, files. */
#include "engine/cli/console/cli.h"

#include "schemas/kinds.h"

#include <string.h>

static void print_option_words(FILE *to, const struct cli_option *options)
{
    for (const struct cli_option *o = options; o && o->name; o++) {
        fprintf(to, " --%s", o->name);
        if (o->letter)
            fprintf(to, " -%c", o->letter);
    }
}

void cli_print_completion(FILE *to, const struct cli *c)
{
    fputs("# bash completion for eqloom; made by 'eqloom --completion bash'\n"
          "_eqloom() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} command= job= options= i\n"
          "    COMPREPLY=()\n"
          "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
          "        case ${COMP_WORDS[i]} in\n"
          "            --store|--color) ((i++)) ;;\n"
          "            -*) ;;\n"
          "            *) if [[ -z $command ]]; then command=${COMP_WORDS[i]}\n"
          "               elif [[ -z $job ]]; then job=${COMP_WORDS[i]}; fi ;;\n"
          "        esac\n"
          "    done\n"
          "    case $command in\n",
          to);
    fputs("        '') options=\"", to);
    print_option_words(to, cli_global_options);
    for (size_t i = 0; i < c->n_commands; i++)
        fprintf(to, " %s", c->commands[i].name);
    fputs(" help\" ;;\n", to);
    for (size_t i = 0; i < c->n_commands; i++) {
        fprintf(to, "        %s) options=\"", c->commands[i].name);
        print_option_words(to, c->commands[i].options);
        fputs(" --help\" ;;\n", to);
    }
    fputs("        help) options=\"", to);
    for (size_t i = 0; i < c->n_commands; i++)
        fprintf(to, " %s", c->commands[i].name);
    fputs("\" ;;\n    esac\n"
          "    case $command:$job:$word in\n"
          "        :*|help:*|*:-*) ;;\n"
          "        run:?*|plan:?*|why:?*)\n"
          "            options=$(sed -n 's/^  \\([A-Za-z0-9_-]*\\):.*/\\1/p' \"$job\" 2>/dev/null) "
          ";;\n"
          "        query::*) options='",
          to);
    for (int k = KIND_NONE + 1; k < KIND_END; k++)
        fprintf(to, "%s%s", k > KIND_NONE + 1 ? " " : "", kind_info(k) ? kind_info(k)->name : "");
    fputs("' ;;\n"
          "        untag:*)\n"
          "            options=$(eqloom ls tag/ 2>/dev/null | sed -n 's/^tag\\/\\([^ "
          "]*\\).*/\\1/p') ;;\n"
          "        show:*|export:*|lineage:*|diff:*|pack:*|tag:?*)\n"
          "            options=$(eqloom ls 2>/dev/null | sed '1d;s/ .*//') ;;\n"
          "        *) compopt -o filenames 2>/dev/null\n"
          "           COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n"
          "    esac\n"
          "    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
          "}\n"
          "complete -F _eqloom eqloom\n",
          to);
}
