#!/bin/sh
# Prints where a CUDA toolkit is that compiles here, and its cuBLASLt, or nothing: $CUDA_HOME, nvcc on
# PATH, the default prefix, the wheels of PyPI.
wheels=$(python3 -c 'import importlib.util as u
s = u.find_spec("nvidia")
print(*(p + "/cu13" for p in s.submodule_search_locations))' 2>/dev/null)
path=$(command -v nvcc 2>/dev/null)
for home in "$CUDA_HOME" "${path:+${path%/bin/nvcc}}" /usr/local/cuda $wheels; do
    [ -n "$home" ] && [ -x "$home/bin/nvcc" ] && [ -f "$home/include/cublasLt.h" ] || continue
    for lib in "$home"/lib64/libcublasLt.so.[0-9]* "$home"/lib/libcublasLt.so.[0-9]*; do
        [ -f "$lib" ] || continue
        "$home/bin/nvcc" -std=c++17 -x cu -c /dev/null -o /dev/null >/dev/null 2>&1 || continue
        echo "$home"
        echo "$lib"
        exit
    done
done
