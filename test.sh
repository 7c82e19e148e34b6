#!/bin/sh
# Everything that must pass. ./test.sh quick: the rules of the house, the pages and the unit tests, in
# under three minutes. Each suite is reported as it ends; the last line is "N passed, N failed, N
# skipped". The logs are in build*/meson-logs.
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
skipped=0
# run_suite TITLE DIR MESON_TEST_ARGUMENT...: adds meson's counts, and the cases that a test program
# skipped, to the totals
run_suite() {
    title=$1
    dir=$2
    shift 2
    log=$dir-test.log
    started=$(date +%s)
    if [ -t 2 ]; then
        { meson test -C "$dir" --no-rebuild --print-errorlogs -t 4 "$@" 2>&1 || true; } |
            tee "$log" | show_progress
    else
        meson test -C "$dir" --no-rebuild --print-errorlogs -t 4 "$@" >"$log" 2>&1 || true
    fi
    count() { awk "/^($1): *[0-9]+/"' { n += $NF } END { print n + 0 }' "$log"; }
    ok=$(count Ok)
    bad=$(count 'Fail|Timeout|Unexpected Pass')
    cases=$(sed -n 's/^\[  SKIPPED \] \([0-9]*\) test(s).*/\1/p
        s/^OK (skipped=\([0-9]*\))$/\1/p' "$dir/meson-logs/testlog.txt" |
        awk '{ n += $1 } END { print n + 0 }')
    left=$(($(count Skipped) + cases))
    if [ "$ok$bad" = 00 ]; then
        bad=1 # meson itself failed
        cat "$log"
    elif [ "$bad" != 0 ]; then
        sed '/^Summary of Failures:/q' "$log" | grep -v ' OK  *[0-9.]*s *$'
    fi
    echo "$title: $ok passed, $bad failed, $left skipped ($(($(date +%s) - started)) s)"
    passed=$((passed + ok))
    failed=$((failed + bad))
    skipped=$((skipped + left))
}

build_in build all $options
run_suite "house" build --suite house
run_suite "pages" build --suite docs
run_suite "unit tests" build --suite unit
if [ "$mode" = all ]; then
    # More of them than processors: they wait for disks, for Slurm and for signals.
    run_suite "commands" build --suite e2e --num-processes $(($(nproc) + 1))
    if ninja -C build -t query cuda-tests >/dev/null 2>&1; then
        ninja -C build cuda-tests >build-cuda.log 2>&1 || { # without them the suite would be skipped
            cat build-cuda.log
            failed=$((failed + 1))
        }
    fi
    run_suite "CUDA without a card" build --suite cuda
    # The suite `portable` is trainings run once more on kernels whose own tests run here, too.
    CC=clang CXX=clang++ build_in build-asan all -Doptimization=1 -Dc_args=-g1 \
        -Db_sanitize=address,undefined -Db_lundef=false -Dcuda=disabled ${CI:+--werror}
    UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
        run_suite "unit tests, clang, ASan and UBSan" build-asan \
        --suite unit --suite fuzz --no-suite portable
    # RocksDB and oneDNN are not instrumented: what happens between their threads is not ours.
    build_in build-tsan thread-tests -Doptimization=1 -Dc_args=-g1 -Db_sanitize=thread \
        -Db_lundef=false -Dcuda=disabled
    TSAN_OPTIONS=ignore_noninstrumented_modules=1 \
        run_suite "threads, TSan" build-tsan --suite threads
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
