#!/bin/bash
# test_kit.sh BUILD DOUBLE SOURCE: kit.sh and card.sh with the double in place of a card; then each part is
# made to fail.
set -eu
[ -e "$2" ] || { echo "skipped: run 'ninja cuda-tests' first"; exit 77; }
[ -e "$1/eqloom-cuda.so" ] && [ -e "$1/tests/ops/learn/bench_learn" ] || { echo "skipped: no back end"; exit 77; }
fail() {
    echo "FAILED: $*" >&2
    exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tree"
(cd "$3" && tar -cf - jobs tests/cuda tests/bench) | tar -C "$work/tree" -xf -
cd "$work/tree"
tests/cuda/kit.sh "$1" >"$work/log" || fail "kit.sh: $(cat "$work/log")"
export EQLOOM_CUDA=$2 CARD_SIZES=16/32/1 CARD_SECONDS=0.1 CARD_PATIENCE=9
export CARD_SETS='--set steps=4 --set model.batch=16 --set model.d_model=32 --set model.d_ff=64
    --set seeds.limit=8 --set more-seeds.limit=8'
OUT=$work/well tests/cuda/card.sh a >"$work/log" 2>&1 || true # there is no PyTorch with CUDA, and no nvidia-smi
check() { python3 - "$@" <<'P' || fail "$* $(cat "$work/log")"
import json, sys
lines = [json.loads(x) for x in open(sys.argv[1] + "/results.jsonl")]
parts = {x["part"]: x.get("status") for x in lines if "part" in x}
if sys.argv[2] == "well":
    print(parts)
    wrong = {n for n, s in parts.items() if s} - {"machine"}
    assert not any(n for n in wrong if not n.startswith("PyTorch")), wrong
    for n in ("doctor", "quickstart, one", "two trainings are equal", "data of the quickstart"):
        assert parts[n] == 0, n
    steps = [json.loads(x) for x in open(sys.argv[1] + "/steps.jsonl")]
    assert [x["kernels"] for x in steps] == ["cuda", "cuda"], steps
    assert len([json.loads(x) for x in open(sys.argv[1] + "/quickstart.jsonl")]) == 2
    assert any(x.get("commit") for x in lines)
else:
    made = [s for s in parts.values() if s is not None]
    assert len(made) >= int(sys.argv[3]) and all(s == 7 for s in made), parts
P
}
check "$work/well" well
for script in a b; do
    CARD_BREAK=all OUT=$work/bad-$script tests/cuda/card.sh $script >"$work/log" 2>&1 && fail "all parts of $script fail"
    check "$work/bad-$script" bad $([ $script = a ] && echo 8 || echo 5)
done
CARD_BREAK=doctor OUT=$work/one tests/cuda/card.sh a >"$work/log" 2>&1 && fail "doctor fails"
grep -q '"part": "doctor", "status": 7' "$work/one/results.jsonl" || fail "doctor: $(cat "$work/log")"
grep -q '"part": "quickstart, one", "status": 0' "$work/one/results.jsonl" || fail "after doctor: $(cat "$work/log")"
EQLOOM_CUDA=none OUT=$work/none tests/cuda/card.sh a >"$work/log" 2>&1 && fail "there is no card"
grep -q '^no card' "$work/log" || fail "no card: $(cat "$work/log")"
