"""Plants small faults in a room (a folder), one at a time, and tells which of them the tests find: a
comparison, a constant, a condition or a sign is changed, an error or a statement is dropped.

plant.py ROOM [--seed N] [--faults N] [--at FILE[:LINE]] [--again] [--unit] [--in DIR]

All happens in a copy of the working tree below DIR (build-plant), with a build of its own; tests run where
they see only their own processes, and can write nothing but DIR and a /tmp of their own (unshare; Linux).
A fault is tried on the unit tests of the room and then, without --unit, on those of FURTHER; tests that fail
without a fault are left out. DIR/ROOM.json keeps what was found. --at names a file, or plants all faults of
a line; --again tries those once more that nothing found. A fault whose object file is the same as before
changes nothing."""
import argparse
import collections
import fnmatch
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

# By room, as far as a prefix goes: the tests that also drive it, cheap ones first.
FURTHER = {
    "base": "store engine-run job cli e2e-commands e2e-errors e2e-exec e2e-files e2e-signals",
    "store": "engine-* e2e-corruption e2e-damage e2e-told e2e-commands e2e-packs e2e-writers e2e-crash",
    "engine": "e2e-incremental e2e-commands e2e-errors e2e-table e2e-everyday e2e-reuse e2e-chains e2e-told",
    "engine/cli": "e2e-readers e2e-completion e2e-schemas",
    "engine/exec": "e2e-exec",
    "engine/export": "e2e-schemas e2e-semvec e2e-import",
    "engine/remote": "e2e-remote e2e-hostile_remote e2e-packs",
    "engine/serve": "e2e-serve",
    "engine/session": "e2e-progress e2e-signals e2e-contradiction",
    "gpu": "nn-* learn-golden learn-training learn-gradient",
    "ops/corpus": "e2e-files e2e-import e2e-commands e2e-errors",
    "ops/egraph": "extract* rules-* e2e-saturate e2e-explain e2e-reuse e2e-contradiction",
    "ops/eval": "e2e-eed e2e-metrics e2e-semvec e2e-examine e2e-report",
    "ops/expr": "latex-reading rules-* egraph-facts egraph-standing templates e2e-explain e2e-forms e2e-operators",
    "ops/extract": "extract* egraph-canonical e2e-edits e2e-incremental e2e-explain",
    "ops/images": "latex-* e2e-images",
    "ops/latex": "e2e-papers e2e-read_files e2e-equations",
    "ops/learn": "nn-* e2e-chains e2e-generalise e2e-seq2seq e2e-train_graphs e2e-train_images",
    "ops/nn": "learn-golden learn-gradient learn-generate learn-*_network learn-training e2e-semvec",
    "ops/rules": "egraph-soundness e2e-operators e2e-explain e2e-commands",
    "ops/search": "eval-* e2e-search e2e-metrics",
}

TOKEN = re.compile(r"""
    (?P<skip>/\*.*?\*/|//[^\n]*|^[ \t]*\#(?:\\\n|[^\n])*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'|\s+)
    |(?P<number>0[xX][0-9a-fA-F.]+(?:[pP][-+]?\d+)?\w*|\d[\d.]*(?:[eE][-+]?\d+)?\w*)|(?P<name>[A-Za-z_]\w*)
    |(?P<sign>->|\+\+|--|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)""", re.S | re.M | re.X)
SWAPPED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
           "+": "-", "-": "+", "+=": "-=", "-=": "+=", "fmin": "fmax", "fmax": "fmin", "fminf": "fmaxf",
           "fmaxf": "fminf", "true": "false", "false": "true"}
KEYWORDS = {"return", "goto", "case", "default", "else", "do", "while", "if", "for", "switch", "sizeof", "assert"}
# What a test runs in: $0 is the folder that it may write.
ALONE = """mount --bind "$0" "$0"; mount --bind "$0/tmp" /tmp
while read -r _ at _; do
    case $at in
    "$0" | /tmp | /proc* | /sys* | /dev | /dev/pts) ;;
    *) mount -o remount,ro,bind "$at" 2>/dev/null || true ;;
    esac
done </proc/self/mounts
cd "$1"; shift; exec "$@" """
# The lines that hold the fault, as they are and as they are to be.
Fault = collections.namedtuple("Fault", "file line kind old new")


def tokens_of(text):
    """(kind, text, offset) of what is code in the bodies of functions: from '{' to '}' in the first column."""
    bodies = [m.span() for m in re.finditer(r"^\{.*?^\}", text, re.S | re.M)]
    found, k = [], 0
    for m in TOKEN.finditer(text):
        while k < len(bodies) and bodies[k][1] <= m.start():
            k += 1
        if k < len(bodies) and bodies[k][0] <= m.start() and m.lastgroup != "skip":
            found.append((m.lastgroup, m.group(), m.start()))
    return found


def closing(tokens, i):
    """The place of the bracket that closes the one at i."""
    depth = 0
    for k in range(i, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[k][1], 0)
        if depth == 0:
            return k
    return len(tokens) - 1


def changed_number(text, rng):
    if m := re.fullmatch(r"(\d+)([uUlL]*)", text):
        n = int(m[1]) + (1 if m[1] == "0" or rng.random() < .5 else -1)
        return f"{n}{m[2]}" if not (len(m[1]) > 1 and m[1][0] == "0") else None
    if m := re.fullmatch(r"([\d.]+)(?:e([-+]?\d+))?(f?)", text):
        return f"{m[1]}e{int(m[2] or 0) + 2}{m[3]}" if m[2] else f"{float(m[1]) + 1}{m[3]}"
    if m := re.fullmatch(r"0x([0-9a-fA-F]+)(\w*)", text):
        return f"0x{int(m[1], 16) + 1:x}{m[2]}"
    return None


def faults_in(file, text, rng):
    tokens, faults = tokens_of(text), []

    def add(kind, start, end, new):
        first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
        faults.append(Fault(file, text.count("\n", 0, start) + 1, kind, text[first:last],
                            text[first:start] + new + text[end:last]))

    tokens.append(("", "", len(text)))
    in_assert = -1
    for i, (group, token, at) in enumerate(tokens[:-1]):
        before = tokens[i - 1] if i else ("", "", 0)
        if token in ("assert", "static_assert", "enum"):
            in_assert = next((k for k in range(i, len(tokens)) if tokens[k][1] == ";"), i)
        if i <= in_assert:
            continue
        end = at + len(token)
        if group == "number" and (new := changed_number(token, rng)):
            add("constant", at, end, new)
        elif token in ("+", "-", "+=", "-="):
            if before[0] in ("name", "number") and before[1] not in KEYWORDS or before[1] in (")", "]"):
                add("sign", at, end, SWAPPED[token])
        elif token in ("&&", "||"):
            add("logic", at, end, SWAPPED[token])
        elif token in SWAPPED:
            add("value" if group == "name" else "comparison", at, end, SWAPPED[token])
        elif token == "if" and tokens[i + 1][1] == "(":
            last = closing(tokens, i + 1)
            start, stop = tokens[i + 1][2] + 1, tokens[last][2]
            condition, then = text[start:stop], text[stop + 1:stop + 40].lstrip(" \n{")
            if re.search(r"\bcode\b|\berr_up\(", condition) or re.match(r"return err_up|goto out", then):
                add("error", start, stop, f"({condition}) && 0")
            else:
                add("condition", start, stop, f"!({condition})")
        if text[text.rfind("\n", 0, at) + 1:at].strip() == "" and before[1] in (";", "{", "}", ")", "else", ":"):
            stop = next((k for k in range(i, len(tokens)) if tokens[k][1] in (";", "{")), i)
            plain = group == "name" and token not in KEYWORDS or token in ("*", "++", "--")
            is_statement = tokens[i + 1][1] in ("(", "=", ".", "->", "[", "++", "--", "+=", "-=", "*=", "|=")
            frees = re.match(r"\w*(free|close|reset|clear)\w*\(", text[at:])
            if tokens[stop][1] == ";" and (token in ("break", "continue") or
                                           plain and (is_statement or token == "*") and not frees):
                add("statement", at, tokens[stop][2], "")
    return faults


def sample(root, names, n, rng):
    """n faults, each kind as often as another, as far as there are any."""
    by_kind = collections.defaultdict(list)
    for name in names:
        for fault in faults_in(name, (root / name).read_text(), rng):
            by_kind[fault.kind].append(fault)
    for some in by_kind.values():
        rng.shuffle(some)
    chosen = []
    while len(chosen) < n and by_kind:
        kind = rng.choice(sorted(by_kind))
        chosen.append(by_kind[kind].pop())
        if not by_kind[kind]:
            del by_kind[kind]
    return chosen


class Copy:
    """The working tree and its build below a folder of their own."""

    def __init__(self, origin, folder):
        self.folder, self.tree, self.build = folder, folder / "tree", folder / "build"
        self.update(origin)
        if not (self.build / "build.ninja").exists():
            env = dict(os.environ, **({"CC_LD": "lld"} if shutil.which("ld.lld") else {}))
            subprocess.run(["meson", "setup", "--buildtype=release", self.build, self.tree], check=True, env=env,
                           stdout=subprocess.DEVNULL)
        self.tests = {t["name"]: t for t in self.introspect("--tests")}
        self.targets = {t["id"]: os.path.relpath(t["filename"][0], self.build) for t in self.introspect("--targets")}
        self.objects = collections.defaultdict(list)
        for unit in json.loads((self.build / "compile_commands.json").read_text()):
            source = os.path.relpath(self.build / unit["file"], self.tree)
            self.objects[source].append(unit["output"])
        self.times = {}
        self.finds = collections.Counter()

    def update(self, origin):
        listed = subprocess.run(["git", "-C", origin, "ls-files", "-zco", "--exclude-standard"], check=True,
                                capture_output=True, text=True).stdout.split("\0")
        names = [n for n in listed if n and os.path.lexists(origin / n)]
        for old in [p for p in self.tree.rglob("*") if p.is_file() and p.suffix in (".c", ".h", ".py")]:
            if old.relative_to(self.tree).as_posix() not in set(names):
                old.unlink()
        for name in names:
            source, copy = origin / name, self.tree / name
            if not copy.exists() or source.read_bytes() != copy.read_bytes():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, copy, follow_symlinks=True)
                shutil.copymode(source, copy)

    def introspect(self, what):
        return json.loads(subprocess.run(["meson", "introspect", what, self.build], check=True,
                                         capture_output=True).stdout)

    def make(self, targets):
        return subprocess.run(["ninja", "-C", self.build, *targets], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)

    def needs(self, names):
        return sorted({self.targets[d] for n in names for d in self.tests[n]["depends"]} |
                      {os.path.relpath(p, self.build) for n in names for p in self.tests[n]["cmd"][:1]
                       if p.startswith(str(self.build))})

    def run(self, name, limit):
        """Whether a test passes within so many seconds."""
        test = self.tests[name]
        tmp = self.folder / "tmp"
        shutil.rmtree(tmp, ignore_errors=True)
        tmp.mkdir()
        alone = ["unshare", *([] if os.getuid() == 0 else ["--map-root-user"]), "--pid", "--mount", "--fork",
                 "--kill-child", "--mount-proc", "sh", "-ec", ALONE, str(self.folder),
                 test["workdir"] or str(self.build), *test["cmd"]]

        def bound():
            resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
            resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 30, 2 << 30))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        env = dict(os.environ, **test["env"], PYTHONDONTWRITEBYTECODE="1")
        started = time.monotonic()
        process = subprocess.Popen(alone, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=bound)
        try:
            status = process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            status = -1
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        return status == 0, time.monotonic() - started

    def measure(self, names):
        """Those that pass without a fault; their times become limits."""
        passing = []
        for name in names:
            if name not in self.times:
                passed, seconds = self.run(name, self.tests[name]["timeout"])
                self.times[name] = seconds if passed else None
                if not passed:
                    print(f"plant: {name} fails without a fault, and is left out", flush=True)
            if self.times[name] is not None:
                passing.append(name)
        return passing

    def first_failing(self, names):
        for name in sorted(names, key=lambda n: self.times[n] / (1 + 4 * self.finds[n])):
            if not self.run(name, 4 * self.times[name] + 10)[0]:
                self.finds[name] += 1
                return name
        return None


def unit_tests(copy, room):
    """Those of the folder of tests that mirrors the room, or the nearest above it."""
    parts = room.split("/")
    while parts:
        inside = str(copy.build / "tests" / "/".join(parts)) + "/"
        names = [n for n, t in copy.tests.items() if any(s.endswith(":unit") for s in t["suite"]) and
                 t["cmd"][0].startswith(inside) and not n.endswith("-base")]
        if names:
            return names
        parts.pop()
    return []


def further_tests(copy, room, units):
    patterns = " ".join(FURTHER[p] for p in sorted(FURTHER, key=len, reverse=True)
                        if room == p or room.startswith(p + "/")).split()
    found = [n for p in patterns for n in copy.tests if fnmatch.fnmatch(n, p) and not n.endswith("-base")]
    return [n for n in dict.fromkeys(found) if n not in units]


def planted(text, fault):
    """The text with the fault in those of its lines that are nearest to where they were; or None."""
    places = [m.start() for m in re.finditer("^" + re.escape(fault.old) + "$", text, re.M)]
    if not places:
        return None
    at = min(places, key=lambda p: abs(text.count("\n", 0, p) + 1 - fault.line))
    return text[:at] + fault.new + text[at + len(fault.old):]


def difference(fault):
    return "\n".join(f"    {sign} {line.strip()}" for sign, lines in (("-", fault.old), ("+", fault.new))
                     for line in lines.split("\n"))


def try_fault(copy, fault, units, further):
    """(verdict, the test that found it)"""
    path = copy.tree / fault.file
    text = path.read_text()
    objects = copy.objects[fault.file]
    copy.make(objects)
    same = [(copy.build / o).read_bytes() for o in objects]
    try:
        path.write_text(planted(text, fault))
        if copy.make(objects).returncode:
            return "does not compile", ""
        if same == [(copy.build / o).read_bytes() for o in objects]:
            return "same code", ""
        for verdict, names in [("unit", units), ("further", further)]:
            if copy.make(copy.needs(names)).returncode:
                return "does not compile", ""
            if name := copy.first_failing(names):
                return verdict, name
        return "missed", ""
    finally:
        path.write_text(text)


def main():
    options = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    options.add_argument("room")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--faults", type=int, default=20)
    options.add_argument("--at")
    options.add_argument("--again", action="store_true")
    options.add_argument("--unit", action="store_true")
    options.add_argument("--in", dest="folder", type=pathlib.Path)
    o = options.parse_args()
    origin = pathlib.Path(__file__).resolve().parent.parent
    folder = (o.folder or origin / "build-plant").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    room = o.room.strip("/")
    log = folder / (room.replace("/", "-") + ".json")
    known = [(Fault(*f), *v) for f, *v in json.loads(log.read_text())] if log.exists() else []
    copy = Copy(origin, folder)
    at, _, line = (o.at or "").partition(":")
    names = sorted(p.relative_to(origin).as_posix() for p in (origin / room).glob("*.c"))
    names = [n for n in names if not at or n == at or pathlib.Path(n).name == at]
    if o.again:
        faults = [f for f, verdict, _ in known if verdict == "missed"]
        faults = [f for f in faults if planted((copy.tree / f.file).read_text(), f)]
        known = [k for k in known if k[1] != "missed"]
    else:
        faults = sample(copy.tree, names, 10 ** 9 if line else o.faults, random.Random(o.seed))
        faults = [f for f in faults if (not line or f.line == int(line)) and f not in [k[0] for k in known]]
    units = unit_tests(copy, room)
    further = [] if o.unit else further_tests(copy, room, units)
    built = copy.make(copy.needs(units + further))
    if built.returncode:
        sys.exit(built.stdout[-3000:])
    units, further = copy.measure(units), copy.measure(further)
    verdicts = collections.Counter()
    for fault in faults:
        verdict, by = try_fault(copy, fault, units, further)
        verdicts[verdict] += 1
        print(f"{fault.file}:{fault.line}: {fault.kind}: {verdict} {by}", flush=True)
        if verdict == "missed":
            print(difference(fault), flush=True)
        known.append((fault, verdict, by))
        log.write_text(json.dumps(known, indent=1))
    print(f"{room}: " + ", ".join(f"{verdicts[v]} {v}" for v in
                                  ("unit", "further", "missed", "same code", "does not compile")))


if __name__ == "__main__":
    main()
