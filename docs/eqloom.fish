# Fish completion for eqloom: commands and options as --help lists them, node names after a job file,
# names in the store, files.
function __eqloom_words
    commandline -opc | string match -v -- '-*'
end

function __eqloom_command
    set -l words (__eqloom_words)
    test (count $words) -ge 2; and contains -- $words[2] $argv
end

function __eqloom_options
    set -l words (__eqloom_words)
    eqloom $words[2] --help 2>/dev/null | string match -rg '^  (?:-., |    )(--[a-z-]+)'
end

function __eqloom_nodes
    set -l words (__eqloom_words)
    test (count $words) -ge 3; and string match -rg '^  ([A-Za-z0-9_-]+):' <$words[3] 2>/dev/null
end

complete -c eqloom -n 'test (count (__eqloom_words)) -eq 1' -f \
    -a '(eqloom --help | string match -rg "^  ([a-z-]+) ")'
complete -c eqloom -n 'string match -q -- "-*" (commandline -ct)' -f -a '(__eqloom_options)'
complete -c eqloom -n '__eqloom_command run plan why table' -a '(__eqloom_nodes)'
complete -c eqloom -n '__eqloom_command show export lineage diff pack tag' -f \
    -a '(eqloom ls 2>/dev/null | tail -n +2 | string replace -r " .*" "")'
