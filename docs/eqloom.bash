# Bash completion for eqloom: commands and options as --help lists them, node names after a job file,
# names in the store, files.
_eqloom() {
    local eqloom=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} command= job= options= i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
            --store|--color) ((i++)) ;;
            -*) ;;
            *) if [[ -z $command ]]; then command=${COMP_WORDS[i]}
               elif [[ -z $job ]]; then job=${COMP_WORDS[i]}; fi ;;
        esac
    done
    case $command:$job:$word in
        *:-*) options=$("$eqloom" $command --help 2>/dev/null |
                        sed -n 's/^  \(-., \|    \)\(--[a-z-]*\).*/\2/p') ;;
        :*|help:*) options=$("$eqloom" --help | sed -n 's/^  \([a-z-]*\) .*/\1/p') ;;
        run:[!:]*|plan:[!:]*|why:[!:]*|table:[!:]*)
            options=$(sed -n 's/^  \([A-Za-z0-9_-]*\):.*/\1/p' "$job" 2>/dev/null) ;;
        query::*) options=$("$eqloom" query '?' 2>&1 | sed -n 's/^kinds are //p' | tr -d ,) ;;
        untag:*) options=$("$eqloom" ls tag/ 2>/dev/null | sed -n 's/^tag\/\([^ ]*\).*/\1/p') ;;
        show:*|export:*|lineage:*|diff:*|pack:*|tag:[!:]*)
            options=$("$eqloom" ls 2>/dev/null | sed '1d;s/ .*//') ;;
        *) compopt -o filenames 2>/dev/null
           COMPREPLY=($(compgen -f -- "$word")); return ;;
    esac
    COMPREPLY=($(compgen -W "$options" -- "$word"))
}
complete -F _eqloom eqloom
