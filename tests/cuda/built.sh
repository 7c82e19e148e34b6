#!/bin/sh
# built.sh PROGRAM ARG...: runs a test that only 'ninja cuda-tests' builds.
if [ ! -x "$1" ]; then
    echo "skipped: run 'ninja cuda-tests' first"
    exit 77
fi
exec "$@"
