#!/bin/sh
# commands.sh EQLOOM DOUBLE SOURCE: the program with the double in place of a card, with a back end that is
# not there, and with one that is none.
set -eu
[ -e "$2" ] || { echo "skipped: run 'ninja cuda-tests' first"; exit 77; }
eqloom=$(readlink -f "$1")
double=$(readlink -f "$2")
source=$3
fail() {
    echo "FAILED: $*" >&2
    exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

EQLOOM_CUDA=$double "$eqloom" doctor >doctor || fail "doctor: $(cat doctor)"
grep -q '^cuda:0: a double of a card' doctor || fail "doctor names no card"
[ "$(grep -c '^  ok ' doctor)" -ge 62 ] || fail "doctor checks too little: $(cat doctor)"
EQLOOM_CUDA=$double "$eqloom" doctor --json | grep -q '"repeats":true' || fail "doctor --json"
EQLOOM_CUDA=$work/none.so "$eqloom" doctor | grep -q 'no card: the CUDA back end' || fail "no back end"
: >none.so
EQLOOM_CUDA=$work/none.so "$eqloom" doctor | grep -q '^no card: .*none.so' || fail "none of ours"

# A whole job on the CPU, then on the double, in one store: nothing of the models is shared, all else
# is; a second run finds all of it; evaluations agree. Then back to the CPU, which is all there.
cp -r "$source/tests/e2e/small" job
run() { "$eqloom" --store store run job/job.yaml --allow-outside "$@" >log 2>&1 || fail "run $*: $(cat log)"; }
evaluation() { "$eqloom" --store store show --json "$1" >"$2" || fail "no evaluation"; }
EQLOOM_CUDA=none run
evaluation small/eval@pooling=mean cpu.json
EQLOOM_CUDA=$double run
evaluation small/eval@pooling=mean card.json
"$eqloom" --store store show --json small/model@pooling=mean | grep -q 'cuda sm_90' || fail "numerics"
EQLOOM_CUDA=$double run
EQLOOM_CUDA=none run
agree() {
    python3 - "$1" "$2" <<'P' || fail "evaluations $1 and $2 differ"
import json, sys
a, b = (json.load(open(name)) for name in sys.argv[1:])
def numbers(x):
    if isinstance(x, dict):
        for k in sorted(x):
            yield from numbers(x[k])
    elif isinstance(x, list):
        for y in x:
            yield from numbers(y)
    elif isinstance(x, (int, float)):
        yield x
x, y = list(numbers(a)), list(numbers(b))
assert len(x) == len(y) and len(x) > 3, (x, y)
assert all(abs(u - v) <= 0.05 * (1 + abs(v)) for u, v in zip(x, y)), (x, y)
P
}
agree cpu.json card.json
# The same in bf16, which the card stores activations in, and its weights beside f32.
EQLOOM_CUDA=$double run --set model.precision=bf16
evaluation small/eval@pooling=mean bf16.json
"$eqloom" --store store show --json small/model@pooling=mean | grep -q 'cuda sm_90.*bf16' || fail "numerics of bf16"
agree cpu.json bf16.json
if EQLOOM_CUDA=none "$eqloom" --store store run job/job.yaml --set model.device=cuda >log 2>&1; then
    fail "a card that is not there"
fi
grep -q 'no card: the CUDA back end' log || fail "a card that is not there: $(cat log)"
if EQLOOM_CUDA=none "$eqloom" --store store run job/job.yaml --set model.device=gpu >log 2>&1; then
    fail "a device of no such name"
fi
grep -q "none of auto, cpu, cuda" log || fail "a device of no such name: $(cat log)"
EQLOOM_CUDA=$double "$eqloom" --store store embed --device cuda --model small/model@pooling=mean 'x + 1' |
    grep -q . || fail "embed --device"

# A graph network: the same losses on both.
network() {
    EQLOOM_CUDA=$1 "$eqloom" --store store run "$source/jobs/papers.yaml" model --allow-outside \
        --set steps=4 --set d=8 --set model.log_every=1 >log 2>&1 || fail "network: $(cat log)"
    "$eqloom" --store store show --json papers/model >"$2" || fail "no network"
}
network none cpu.json
network "$double" card.json
grep -q 'cuda sm_90' card.json || fail "numerics of the network"

# Its vectors, by both cards, in turns.
EQLOOM_CUDA=$double EQLOOM_DOUBLE_LOG=$work/log.cards "$eqloom" --store store run "$source/jobs/papers.yaml" \
    vectors --allow-outside --set steps=4 --set d=8 --set model.log_every=1 --set model.device=cpu >log 2>&1 ||
    fail "vectors: $(cat log)"
grep -q '^[1-9][0-9]* [1-9][0-9]*$' log.cards || fail "not both cards: $(cat log.cards)"
python3 - cpu.json card.json <<'P' || fail "losses differ"
import json, sys
a, b = ([m.get("value", 0) for m in json.load(open(name))["value"]["metrics"] if m["name"] == "loss"]
        for name in sys.argv[1:])
assert len(a) == len(b) == 4 and all(abs(u - v) <= 1e-3 * v for u, v in zip(a, b)), (a, b)
P
