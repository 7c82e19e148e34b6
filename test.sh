#!/bin/sh
# Everything that must pass. ./test.sh quick: unit tests and the layer rules, under three minutes.
# Ends with "N passed, N failed"; the logs are in build*/meson-logs.
. "$(dirname "$(readlink -f "$0")")/setup.sh"
mode=${1:-all}
case $mode in
all | quick) ;;
*)
    echo "usage: ./test.sh [quick]" >&2
    exit 2
    ;;
esac
ensure_packages $build_packages $test_packages
[ "$mode" = quick ] || ensure_packages clang libclang-rt-14-dev

passed=0
failed=0
# run_suite DIR MESON_TEST_ARGUMENT...: adds meson's counts to the totals
run_suite() {
    dir=$1
    shift
    output=$(meson test -C "$dir" --no-rebuild --print-errorlogs -t 4 "$@" 2>&1) || true
    printf '%s\n' "$output"
    ok=$(printf '%s\n' "$output" | sed -n 's/^Ok: *\([0-9]*\).*/\1/p')
    bad=$(printf '%s\n' "$output" |
        awk '/^(Fail|Timeout|Unexpected Pass): / { n += $NF } END { print n + 0 }')
    if [ -z "$ok" ]; then
        failed=$((failed + 1))
    else
        passed=$((passed + ok))
        failed=$((failed + bad))
    fi
}

werror=
[ -z "${CI:-}" ] || werror=--werror
build_in build --buildtype=release
if [ -n "$werror" ]; then
    # Warnings are errors here only: a user's newer compiler must not break the build.
    build_in build-ci --buildtype=release $werror
    run_suite build-ci --suite unit --suite house --suite docs
else
    run_suite build --suite unit --suite house --suite docs
fi
if [ "$mode" = all ]; then
    run_suite build --suite e2e --suite fuzz
    build_in build-asan --buildtype=debugoptimized -Db_sanitize=address,undefined -Db_lundef=false
    # The suite `portable` is trainings run once more on kernels whose own tests run here, too.
    UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
        run_suite build-asan --suite unit --suite fuzz --no-suite portable
    # RocksDB and oneDNN are not instrumented: what happens between their threads is not ours.
    build_in build-tsan --buildtype=debugoptimized -Db_sanitize=thread -Db_lundef=false
    TSAN_OPTIONS=ignore_noninstrumented_modules=1 \
        run_suite build-tsan engine-run engine-heal engine-blocks eval-figures
    CC=clang build_in build-clang --buildtype=debugoptimized $werror
    run_suite build-clang --suite unit --no-suite portable
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
