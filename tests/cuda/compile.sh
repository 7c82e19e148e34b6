#!/bin/sh
# compile.sh NVCC ROOT: the kernels for each architecture that the toolkit knows and we support; none
# may spill registers. Two at a time.
nvcc=$1
root=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
known=$("$nvcc" --list-gpu-code)
one() {
    "$nvcc" -std=c++17 -O3 -I "$root" -Xptxas -v -arch=sm_$1 -cubin -o "$work/$1.cubin" \
        "$root/gpu/cuda/kernels.cu" >"$work/$1.log" 2>&1 || echo "sm_$1: does not compile"
    grep -c 'bytes spill stores' "$work/$1.log" >/dev/null || echo "sm_$1: ptxas said nothing of spills"
    grep -E '[1-9][0-9]* bytes spill' "$work/$1.log" | sort | uniq -c | sed "s/^/sm_$1: /"
}
set -- 75 80 86 89 90 100 120
while [ $# -gt 0 ]; do
    for arch in $1 ${2:-}; do
        case $known in
        *sm_$arch*) one $arch >>"$work/faults.$arch" & ;;
        *) echo "sm_$arch is not known to this toolkit: skipped" ;;
        esac
    done
    wait
    shift
    [ $# -eq 0 ] || shift
done
cat "$work"/faults.* 2>/dev/null
! grep -q . "$work"/faults.*
