#!/bin/sh
# What only a card can show. DIR is a build folder (meson compile there has made eqloom, eqloom-cuda.so
# and bench_learn); JSON lines go to OUT (default: standard output), to be kept in tests/cuda/golden/.
# Exit status: 0 all is well, 1 something is wrong, 77 something is missing, which is said.
#     tests/cuda/suite.sh DIR [OUT]
set -u
[ $# -ge 1 ] && [ $# -le 2 ] || {
    echo "usage: tests/cuda/suite.sh DIR [OUT]" >&2
    exit 2
}
dir=$(cd "$1" && pwd) || exit 2
out=${2:-/dev/stdout}
root=$(cd "$(dirname "$0")/../.." && pwd)
status=0
missing() {
    echo "missing: $*" >&2
    [ "$status" = 1 ] || status=77
}
wrong() {
    echo "WRONG: $*" >&2
    status=1
}
say() { printf '%s\n' "$*" >>"$out"; }
[ "$out" = /dev/stdout ] || : >"$out"

[ -x "$dir/eqloom" ] || { missing "$dir/eqloom"; exit $status; }
[ -f "$dir/eqloom-cuda.so" ] || [ -n "${EQLOOM_CUDA:-}" ] ||
    missing "$dir/eqloom-cuda.so: configure with -Dcuda=enabled (docs/gpu.md)"

# 1. Every op against the CPU, and twice for equal bytes.
doctor=$("$dir/eqloom" doctor --json) || wrong "an op differs from the CPU, or from itself: eqloom doctor"
say "{\"test\": \"ops\", \"result\": $doctor}"
case $doctor in
*'"no_card"'*)
    missing "a card: $("$dir/eqloom" doctor | tail -n 1)"
    exit $status
    ;;
esac

# 2. The same under compute-sanitizer.
if command -v compute-sanitizer >/dev/null; then
    for tool in memcheck racecheck initcheck synccheck; do
        if compute-sanitizer --tool $tool --error-exitcode 9 "$dir/eqloom" doctor >/dev/null 2>&1; then
            say "{\"test\": \"compute-sanitizer\", \"tool\": \"$tool\", \"ok\": true}"
        else
            say "{\"test\": \"compute-sanitizer\", \"tool\": \"$tool\", \"ok\": false}"
            wrong "compute-sanitizer --tool $tool"
        fi
    done
else
    missing "compute-sanitizer"
fi

# 3. The quickstart on the card and on the CPU: the evaluations side by side, and the card's a second
# time, whose checkpoints must have the same ids.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
job=$root/jobs/quickstart.yaml
train() { # STORE DEVICE
    "$dir/eqloom" --store "$work/$1" run --set "model.device=$2" --set "trained-vectors.device=$2" \
        "$job" >"$work/$1.log" 2>&1
}
for run in cpu cuda again; do
    device=cuda
    [ $run = cpu ] && device=cpu
    train $run $device || { wrong "the quickstart on $device"; tail -n 5 "$work/$run.log" >&2; continue; }
    say "{\"test\": \"quickstart\", \"run\": \"$run\", \"evaluation\": $(
        "$dir/eqloom" --store "$work/$run" show --json quickstart/trained-eval 2>/dev/null || echo null)}"
done
a=$("$dir/eqloom" --store "$work/cuda" show --json quickstart/model 2>/dev/null)
b=$("$dir/eqloom" --store "$work/again" show --json quickstart/model 2>/dev/null)
[ -n "$a" ] && [ "$a" = "$b" ] || wrong "two trainings on the card differ"

# 4. Speed, and PyTorch's if there is one ($EQLOOM_TORCH_PYTHON, with CUDA).
bench=$dir/tests/ops/learn/bench_learn
lengths=$root/tests/bench/workloads/e-gen.lengths
if [ -x "$bench" ]; then
    for size in 64/256/2 256/1024/4 512/2048/6; do
        for precision in f32 tf32 bf16; do
            say "$(printf '2\n5\n5\n' |
                EQLOOM_DEVICE=cuda "$bench" train $size $precision 1 "$lengths" | tail -n 1)"
        done
    done
else
    missing "$bench: ninja -C $dir tests/ops/learn/bench_learn"
fi
python=${EQLOOM_TORCH_PYTHON:-python3}
if "$python" -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
    for size in 64/256/2 256/1024/4 512/2048/6; do
        say "$(printf '2\n5\n5\n' | EQLOOM_TORCH_DEVICE=cuda "$python" \
            "$root/tests/bench/torch_peer.py" train $size bf16 1 "$lengths" | tail -n 1)"
    done
else
    missing "PyTorch with CUDA"
fi
exit $status
