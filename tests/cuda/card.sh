#!/bin/bash
# What only a card can show, in ten minutes. Run it in the tree that kit.sh packed into:
#     OUT=DIR tests/cuda/card.sh a         correctness, times of steps and kernels, PyTorch: some 230 s
#     OUT=DIR tests/cuda/card.sh b         trainings at the width of E-Gen's paper: some 440 s
# The parts stand in the order of their value. Each has a limit of its own, and none stops the next.
# DIR gets log.txt, results.jsonl (a line for the machine and for each part, with status and seconds),
# and a few files beside them; they belong in tests/cuda/golden/, in a folder named after date and card.
# Exit status: 0 all is well, 1 a part failed, 77 there is no card.
#   SEQ2SEQ, MEAN   steps of b, by the times that a found (14000, 10000)
#   CARD_SETS       options for `eqloom run` of the quickstart, to make it smaller
#   CARD_SIZES, CARD_SECONDS   sizes of the timed steps, and for how long each is measured, twice
#   CARD_PATIENCE   factor of all limits (1)
#   CARD_BREAK      a part, or `all`, that fails: to test this script
set -u
cd "$(dirname "$0")/../.."
out=$(mkdir -p "${OUT:?}" && cd "$OUT" && pwd) || exit 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kit=$work/kit store=$work/store cores=$(nproc) status=0
sizes=${CARD_SIZES:-64/256/2 128/512/2 512/2048/6} seconds=${CARD_SECONDS:-3}
lengths=tests/bench/workloads/e-gen.lengths
mkdir "$kit"
exec > >(tee -a "$out/log.txt") 2>&1
tar -C "$kit" -xzf .kit/kit.tar.gz || { echo "tests/cuda/kit.sh makes .kit/ first"; exit 2; }
# The machine's own cuBLASLt and cuDNN: PyTorch's wheels, else a toolkit.
cuda=$(python3 - <<'P'
import glob, importlib.util, os
spec = importlib.util.find_spec("nvidia")
roots = list(spec.submodule_search_locations) if spec else []
roots = [f"{r}/*/lib" for r in roots] + ["/usr/local/cuda/lib64", "/usr/local/cuda/lib"]
found = [os.path.dirname(p) for r in roots for n in ("cublasLt", "cudnn", "nvrtc")
         for p in sorted(glob.glob(f"{r}/lib{n}.so*"))]
print(":".join(dict.fromkeys(found)))
P
)
# For our programs only: these libraries must not get into Python's process.
ours() { LD_LIBRARY_PATH=$kit/lib:$cuda${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$@"; }
eq() { ours "$kit/bin/eqloom" --store "$store" "$@"; }
bench() { # PROGRAM ARGUMENT...: one warm-up, two measurements; prints the last one's line
    printf '%s\n' 1 "$seconds" "$seconds" | ours env EQLOOM_DEVICE=cuda "$kit/bin/$1" "${@:2}" | tail -n 1 | tee -a "$out/steps.jsonl" | grep .
}
export -f ours eq bench
export out kit store cuda seconds

part() { # NAME SECONDS COMMAND...
    local name=$1 limit=$2 from=$SECONDS code
    shift 2
    case ${CARD_BREAK:-} in "$name" | all) set -- sh -c 'exit 7' ;; esac
    echo "== $name"
    timeout -k 5 $((limit * ${CARD_PATIENCE:-1})) "$@"
    code=$?
    echo "== $name: $([ $code = 0 ] && echo well || echo "FAILED, status $code"), $((SECONDS - from)) s"
    printf '{"part": "%s", "status": %d, "seconds": %d}\n' "$name" $code $((SECONDS - from)) >>"$out/results.jsonl"
    [ $code = 0 ] || status=1
    return $code
}
# A part in the functions above.
shell() { # NAME SECONDS SCRIPT ARGUMENT...
    part "$1" "$2" bash -o pipefail -c "$3" "$1" "${@:4}"
}
optional() { # PROGRAM NAME SECONDS SCRIPT ARGUMENT...
    if command -v "$1" >/dev/null; then
        shell "${@:2}"
    else
        echo "== $2: there is no $1"
        printf '{"part": "%s", "missing": "%s"}\n' "$2" "$1" >>"$out/results.jsonl"
    fi
}

machine() {
    shell machine 20 'nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.sm,clocks.max.sm --format=csv
        lscpu | grep -m 1 "Model name"; nproc; ldd --version | head -n 1; df -h /tmp | tail -n 1
        ours ldd "$kit"/bin/* | grep "not found"; eq doctor --part cards >"$out/cards.json" && grep class "$out/cards.json"'
    printf '{"date": "%s", "commit": "%s", "cards": %s}\n' "$(date -u +%F)" "$(cat "$kit/commit")" \
        "$(head -n 1 "$out/cards.json" 2>/dev/null | grep . || echo null)" >>"$out/results.jsonl"
    rm -f "$out/cards.json"
}

# Makes the data of a job on the CPU.
data() { # NAME SECONDS JOB NODE...
    shell "$1" "$2" 'eq run "$@"' "${@:3}" -j "$((cores > 3 ? cores - 2 : cores))"
}

a() {
    machine
    # On the other cores while the card is examined.
    data 'data of the quickstart' 150 jobs/quickstart.yaml train-tokens valid-tokens test-tokens ${CARD_SETS:-} \
        >"$work/data" 2>&1 &
    local preparing=$!
    shell doctor 90 'eq doctor --json >"$out/doctor.json"'
    for s in $sizes; do
        shell "steps $s bf16" 40 'bench bench_learn train "$1" bf16 2 "$2"' "$s" $lengths
    done
    shell "steps ${sizes##* } f32" 40 'bench bench_learn train "$1" f32 2 "$2"' "${sizes##* }" $lengths
    wait $preparing || status=1 # another process has counted it
    cat "$work/data"
    for run in one again; do # in copies of one store: both must train the same model
        cp -r "$store" "$store-$run" 2>/dev/null
        store=$store-$run shell "quickstart, $run" 90 'eq run jobs/quickstart.yaml trained-eval --set model.device=cuda \
            --set trained-vectors.device=cuda "$@" &&
            eq show --json quickstart/model >"$out/model-$(basename "$store").json" &&
            eq show --json quickstart/trained-eval >>"$out/quickstart.jsonl"' ${CARD_SETS:-}
    done
    shell 'two trainings are equal' 5 'cmp "$out/model-store-one.json" "$out/model-store-again.json" &&
        rm "$out/model-store-again.json"'
    for s in ${sizes#* }; do
        optional ncu "kernels $s" 45 'printf "2\n" | ours env EQLOOM_DEVICE=cuda ncu --clock-control none \
            --metrics gpu__time_duration.sum --csv --launch-skip 3000 --launch-count 260 \
            "$kit/bin/bench_learn" train "$1" bf16 2 "$2" >>"$out/kernels.csv"' "$s" $lengths
    done
    for s in ${sizes#* }; do
        shell "PyTorch $s" 45 'printf "%s\n" "$seconds" "$seconds" | EQLOOM_TORCH_DEVICE=cuda python3 tests/bench/torch_peer.py train "$1" \
            bf16 1 "$2" | tail -n 1 | tee -a "$out/steps.jsonl" | grep .' "$s" $lengths
    done
    optional compute-sanitizer memcheck 60 'ours compute-sanitizer --tool memcheck --print-limit 20 \
        --error-exitcode 9 "$kit/bin/eqloom" doctor --part cuda:0+0 | tail -n 60'
}

b() {
    local paper="--set d_model=512 --set d_ff=2048 --set heads=8 --set layers=6 --set optimizer=adamw --set lr=0.0003
        --set schedule=cosine --set warmup=500 --set precision=bf16 --set encoding=e-gen ${CARD_SETS:-}"
    machine
    data "data of E-Gen's comparison" 150 jobs/e-gen.yaml train-tokens test-tokens questions-tokens \
        far-questions-tokens derivations-tokens calibration-tokens $paper
    # Long segments: a checkpoint of this width has 228 MB.
    shell seq2seq 200 'eq run jobs/e-gen.yaml seq2seq-eval questions-seq2seq far-questions-seq2seq mistakes-seq2seq \
        "$@"' $paper --set "seq2seq.steps=${SEQ2SEQ:-14000}" --set "seq2seq.segment=$((${SEQ2SEQ:-14000} / 2))"
    shell 'CL Mean' 150 'eq run jobs/e-gen.yaml mean-eval questions-mean far-questions-mean mistakes-mean "$@"' \
        $paper --set "mean.steps=${MEAN:-10000}" --set "mean.segment=$((${MEAN:-10000} / 2))"
    shell evaluations 20 'for n in seq2seq mean; do
            for x in $n-eval questions-$n far-questions-$n mistakes-$n $n; do
                eq show --json e-gen/$x || bad=1
            done
        done >"$out/e-gen.jsonl"
        [ -z "${bad:-}" ]'
    # A file that comes back has at most 16 MiB: the encoder in bf16, in parts.
    shell weights 60 'eq export e-gen/mean -o "$1/mean.safetensors" && python3 - "$out" "$1/mean.safetensors" <<P
import sys
from safetensors.torch import load_file, save_file
parts, size = [{}], 0
for name, t in load_file(sys.argv[2]).items():
    if name.startswith(("adam.", "best/")):
        continue
    t = t.bfloat16()
    if size + 2 * t.numel() > 15 << 20:
        parts.append({})
        size = 0
    parts[-1][name] = t
    size += 2 * t.numel()
for i, p in enumerate(parts):
    save_file(p, f"{sys.argv[1]}/mean-bf16.{i}.safetensors")
P' "$work"
}

case ${1:-} in
a | b) ;;
*)
    sed -n '2,14s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
if ! ours "$kit/bin/eqloom" doctor --part cards | grep -q '"class"'; then
    ours "$kit/bin/eqloom" doctor
    [ -n "${CARD_BREAK:-}" ] || exit 77
fi
"$1"
ls -l "$out"
exit $status
