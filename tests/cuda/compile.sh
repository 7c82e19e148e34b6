#!/bin/sh
# compile.sh NVCC ROOT: the kernels' PTX, as the back end carries it, for each architecture that the toolkit
# knows and we support; none may spill registers.
nvcc=$1
root=$2
ptxas=$(dirname "$nvcc")/ptxas
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$nvcc" -std=c++17 -O3 -I "$root" -arch=compute_75 -ptx -o "$work/kernels.ptx" "$root/gpu/cuda/kernels.cu" || exit 1
known=$("$nvcc" --list-gpu-code)
for arch in 75 80 86 89 90 100 120; do
    case $known in
    *sm_$arch*) ;;
    *)
        echo "sm_$arch is not known to this toolkit: skipped"
        continue
        ;;
    esac
    "$ptxas" -v -arch=sm_$arch -o "$work/cubin" "$work/kernels.ptx" >"$work/log" 2>&1 ||
        echo "sm_$arch: does not compile"
    grep -q 'bytes spill stores' "$work/log" || echo "sm_$arch: ptxas said nothing of spills"
    grep -E '[1-9][0-9]* bytes spill' "$work/log" | sort | uniq -c | sed "s/^/sm_$arch: /"
done >"$work/faults"
cat "$work/faults"
! grep -v 'skipped$' "$work/faults" | grep -q .
