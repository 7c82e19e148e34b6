#!/bin/sh
# Prints the folders of a CUDA toolkit that compiles here, its cuBLASLt, cuDNN's headers, and both
# libraries (a:b), or nothing. Tries $CUDA_HOME, nvcc on PATH, the default prefix, the wheels of PyPI.
wheels=$(python3 -c 'import importlib.util as u
s = u.find_spec("nvidia")
print(*s.submodule_search_locations)' 2>/dev/null)
path=$(command -v nvcc 2>/dev/null)
for home in "$CUDA_HOME" "${path:+${path%/bin/nvcc}}" /usr/local/cuda ${wheels:+"$wheels/cu13"}; do
    [ -n "$home" ] && [ -x "$home/bin/nvcc" ] && [ -f "$home/include/cublasLt.h" ] || continue
    dnn=
    for at in "$home" "$home/../cudnn" ${wheels:+"$wheels/cudnn"} /usr; do
        [ -n "$dnn" ] || ! [ -f "$at/include/cudnn_backend.h" ] || dnn=$at
    done
    [ -n "$dnn" ] || { echo "$home: no cuDNN" >&2; continue; }
    for lib in "$home"/lib64/libcublasLt.so.[0-9]* "$home"/lib/libcublasLt.so.[0-9]*; do
        [ -f "$lib" ] || continue
        "$home/bin/nvcc" -std=c++17 -x cu -c /dev/null -o /dev/null >/dev/null 2>&1 || continue
        libs=${lib%/*}
        for at in "$dnn/lib64" "$dnn/lib" "$dnn"/lib/*-linux-gnu; do
            [ "$at" = "$libs" ] || ! [ -e "$at"/libcudnn.so.9 ] || libs=$libs:$at
        done
        echo "$home"
        echo "$lib"
        echo "$dnn/include"
        echo "$libs"
        exit
    done
done
