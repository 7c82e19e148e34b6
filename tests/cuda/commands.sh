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
# A call that fails, for good, or crashes: its check is reported, and the checks after it are made.
total=$(grep -Ec '^  (ok|WRONG) ' doctor)
for fault in fail:900 crash:900; do
    EQLOOM_DOUBLE_FAULT=$fault EQLOOM_CUDA=$double "$eqloom" doctor >faulty && fail "$fault was not noticed"
    [ "$(grep -Ec '^  (ok|WRONG) ' faulty)" = "$total" ] || fail "$fault: $(cat faulty)"
    [ "$(grep -c '^  ok ' faulty)" -ge $((total / 2)) ] || fail "$fault: too many fail: $(cat faulty)"
    EQLOOM_DOUBLE_FAULT=$fault EQLOOM_CUDA=$double "$eqloom" doctor --json | python3 -c '
import json, sys
cards = json.load(sys.stdin)["cards"]
assert all(0 < sum("error" in c for c in x["ops"]) < len(x["ops"]) / 2 for x in cards), cards' || fail "$fault: --json"
done
EQLOOM_DOUBLE_FAULT=hang:900 EQLOOM_CUDA=$double "$eqloom" doctor --patience 5 >faulty && fail "a hang was not noticed"
[ "$(grep -Ec '^  (ok|WRONG) ' faulty)" = "$total" ] || fail "a hang: $(cat faulty)"
[ "$(grep -c 'no answer in 5 seconds' faulty)" -ge 4 ] || fail "a hang: $(cat faulty)"
"$eqloom" doctor --patience 5x >/dev/null 2>log && fail "--patience 5x"
EQLOOM_DOUBLE_FAULT=crash:1 EQLOOM_CUDA=$double "$eqloom" doctor --json | python3 -c '
import json, sys
assert "signal 11" in json.load(sys.stdin)["error"]' || fail "a crash of the driver"
EQLOOM_DOUBLE_NO_POOL=1 EQLOOM_CUDA=$double "$eqloom" doctor >/dev/null || fail "without a pool of memory"
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
grep -q "not auto, cpu, cuda" log || fail "a device of no such name: $(cat log)"
EQLOOM_CUDA=$double "$eqloom" --store store embed --device cuda --model small/model@pooling=mean 'x + 1' 2>log |
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

python3 - cpu.json card.json <<'P' || fail "losses differ"
import json, sys
a, b = ([m.get("value", 0) for m in json.load(open(name))["value"]["metrics"] if m["name"] == "loss"]
        for name in sys.argv[1:])
assert len(a) == len(b) == 4 and all(abs(u - v) <= 1e-3 * v for u, v in zip(a, b)), (a, b)
P

# Vectors of a model that the CPU has trained, by both cards in turns: graphs, trees and pictures.
both() {
    EQLOOM_CUDA=$double EQLOOM_DOUBLE_LOG=$work/log.cards "$eqloom" --store store run "$@" --allow-outside >log 2>&1 ||
        fail "run $*: $(cat log)"
    grep -q '^[1-9][0-9]* [1-9][0-9]*$' log.cards || fail "run $*: not both cards: $(cat log.cards)"
}
both "$source/jobs/papers.yaml" vectors --set steps=4 --set d=8 --set model.log_every=1 --set model.device=cpu
both "$source/jobs/semvec.yaml" eqnet-unseen --set 'sets=[POLY5]' --set eqnet-steps=2 --set eqnet.device=cpu
PYTHONPATH=$source/tests/e2e python3 - job <<'P'
import pathlib, sys
import test_seq2seq, test_train_images
folder = pathlib.Path(sys.argv[1])
test_train_images.fill(folder)
(folder / "seq.yaml").write_text(test_seq2seq.JOB + """  corpus-tokens:  {op: tokenize, clusters: merged, vocabulary: vocabulary}
  corpus-vectors: {op: embed, batches: corpus-tokens, checkpoint: writer}
  index:          {op: index, embeddings: corpus-vectors, checkpoint: writer}
""")
P
both job/t.yaml vectors --set steps=2 --set model.device=cpu
# Two trainings have a card each.
both job/job.yaml model -j 2 --set steps=40

# Commands: what a card answers is what the CPU does.
EQLOOM_CUDA=none "$eqloom" --store store run job/seq.yaml writer index >log 2>&1 || fail "seq2seq: $(cat log)"
for command in "generate --model seq/writer -b 3 --max-tokens 8" "search --index seq/index -k 3"; do
    for device in cpu cuda cuda:1; do
        rm -f log.cards
        EQLOOM_CUDA=$double EQLOOM_DOUBLE_LOG=$work/log.cards "$eqloom" --store store $command --device $device 'sin(x) + 1' \
            >answer.$device 2>log || fail "$command --device $device: $(cat log)"
        case $device in
        cpu) [ ! -e log.cards ] || grep -q '^0 0$' log.cards || fail "$command: a card" ;;
        cuda) grep -q '^[1-9][0-9]* 0$' log.cards || fail "$command: not the first card: $(cat log.cards)" ;;
        cuda:1) grep -q '^0 [1-9][0-9]*$' log.cards || fail "$command: not the second card: $(cat log.cards)" ;;
        esac
        [ -s answer.$device ] || fail "$command --device $device: no answer"
        python3 - answer.cpu answer.$device <<'P' || fail "$command --device $device: another answer"
import re, sys
a, b = (re.split(r"(-?\d+\.\d+)", open(name).read()) for name in sys.argv[1:])
assert len(a) == len(b) and a[::2] == b[::2], (a, b)
assert all(abs(float(u) - float(v)) < 0.01 for u, v in zip(a[1::2], b[1::2])), (a, b)
P
    done
    if EQLOOM_CUDA=none "$eqloom" --store store $command --device cuda 'x' >log 2>&1; then
        fail "$command: a card that is not there"
    fi
    grep -q 'no card: the CUDA back end' log || fail "$command: a card that is not there: $(cat log)"
done
