#!/bin/sh
# Packs what a bare machine with a card needs into .kit/: the program, its back end, a benchmark and
# their libraries, some 31 MB. Run it in the project's root on Debian 12 with CUDA's toolkit, take the
# tree with .kit/ to the card's machine, and run card.sh there.
#     tests/cuda/kit.sh [BUILD]      a folder that is built; without one, build-card is made for sm_90
set -eu
cd "$(dirname "$0")/../.."
build=${1:-build-card}
programs="eqloom tests/ops/learn/bench_learn"
if [ $# = 0 ]; then
    [ -f "$build/build.ninja" ] ||
        meson setup "$build" --buildtype=release -Dcuda=enabled -Dcuda-arch=90
    ninja -C "$build" $programs eqloom-cuda.so
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/bin" "$work/lib" .kit
for f in $programs; do cp "$build/$f" "$work/bin"; done
# All libraries but those of the compiler and of glibc: the card's machine has these, not older.
for f in "$work"/bin/*; do ldd "$f"; done | awk '$3 ~ /^\// { print $3 }' | sort -u |
    grep -vE '/(libc|libm|libpthread|libdl|librt|libgcc_s|libstdc\+\+)\.so' |
    while read -r l; do cp -L "$l" "$work/lib"; done
strip -s "$work"/bin/*
cp "$build/eqloom-cuda.so" "$work/bin"
git rev-parse --short HEAD >"$work/commit" 2>/dev/null || echo unknown >"$work/commit"
tar -C "$work" -czf .kit/kit.tar.gz .
ls -l .kit
