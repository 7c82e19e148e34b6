#!/bin/sh
# The manual page from cli.md ($1) on standard output: a name, and lists of options for tables.
sed -e '1s/.*/# NAME\n\neqloom - corpora of equivalent expressions, and models that learn from them\n\n# SYNOPSIS/' \
    -e '3d' -e '/^| option | |$/d' -e '/^|---|---|$/d' \
    -e 's/^| \(`.*`\) | \(.*\) |$/\1\n: \2\n/' "$1" |
    lowdown -s -tman -Mtitle=eqloom -Msection=1
