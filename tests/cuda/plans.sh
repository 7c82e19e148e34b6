#!/bin/sh
# plans.sh PROGRAM CUDA_HOME: runs PROGRAM on a driver that is there, but knows no card: only the calls that
# ask for its version and how many cards there are succeed.
[ -x "$1" ] || { echo "skipped: run 'ninja cuda-tests' first"; exit 77; }
stub=$2/lib64/stubs/libcuda.so
[ -f "$stub" ] || { echo "skipped: there is no $stub"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
{
    nm -D --defined-only "$stub" | sed -n 's/.* [TW] \(cu[A-Za-z0-9_]*\).*/\1/p' | sort -u |
        grep -vxE 'cuInit|cuDeviceGetCount|cuDriverGetVersion' | sed 's/.*/int &() { return 34; }/'
    echo 'int cuInit(unsigned flags) { return 0; }'
    echo 'int cuDeviceGetCount(int *n) { *n = 0; return 0; }'
    echo 'int cuDriverGetVersion(int *v) { *v = 13000; return 0; }'
} >"$work/driver.c"
cc -w -shared -fPIC -Wl,-soname,libcuda.so.1 -o "$work/libcuda.so.1" "$work/driver.c" || exit 1
LD_LIBRARY_PATH=$work${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$1"
