"""The rules of the house that a script can hold: layers and circles (layers.py), folders and files
that stay small, one base name once, an op per op_NAME.c, one form of errors, the field's words.
Usage: house.py SOURCE_ROOT BUILD_DIR; prints every violation and exits 1 if there is one."""
import collections
import pathlib
import re
import statistics
import sys

import layers

FILES_PER_FOLDER = 22
LINES_PER_FILE = 500
LINES_MEDIAN = 200
# About what there is: a change that needs more raises them, and its commit says what the lines buy.
LINES_TOTAL = 113_000
LINES_TESTS = 36_000

# Words that this code base does without, wherever they stand, as a part of an identifier too.
WORDS = re.compile(r"(?i:(?<![a-z])(mourners?|bur(?:y|ied)|distrust\w*|condemn\w*|fore(?:see\w*|saw)|"
                   r"mend(?:s|ed|ing)?|partners|trails?|doubts?)(?![a-z]))")
STEMS = set("""ahead application digits doubt draws expected finish foresee greatest known machine
    margin mend mourners partners pieces proofs rests rounds side trail turn utils visits
    weight""".split())


def lines_of(path):
    return path.read_text(encoding="utf-8").splitlines()


def without_comments(text):
    """The text with comments and strings blanked, its line breaks kept."""
    pattern = r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'"""
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)


class House:
    def __init__(self, root, build):
        self.root = root
        self.build = build
        self.sources = layers.sources(root)
        self.tests = sorted(p.relative_to(root).as_posix() for p in (root / "tests").rglob("*.[ch]"))
        self.symbols = layers.Symbols(root, build)

    def check_layers(self):
        return layers.check(self.root, self.symbols)

    def check_ops(self):
        """ops/**/op_NAME.c and tool_NAME.c export op_NAME or tool_NAME and nothing else."""
        defined = collections.defaultdict(set)
        for symbol, homes in self.symbols.homes.items():
            for home in homes:
                defined[home].add(symbol)
        faults = []
        for name in self.sources:
            stem = pathlib.Path(name).stem
            if not name.startswith("ops/"):
                continue
            if re.match(r"(op|tool)_", stem) and name.endswith(".h"):
                faults.append(f"{name}: an op or a tool has no header")
            elif re.match(r"(op|tool)_", stem) and defined[name] != {stem}:
                others = layers.some(defined[name] - {stem}) or "nothing"
                faults.append(f"{name}: exports {others}, should export {stem} alone")
        registry = (self.root / "ops/registry.c").read_text()
        for symbol in sorted(set(re.findall(r"\b(?:op|tool)_[a-z0-9_]+", registry))):
            for home in self.symbols.homes.get(symbol, ()):
                if home != "ops/registry.c" and pathlib.Path(home).name != symbol + ".c":
                    faults.append(f"{home}: defines {symbol}, whose file should be {symbol}.c")
        return faults

    def check_sizes(self):
        faults = []
        folders = collections.Counter(layers.folder(name) for name in self.sources)
        for folder, n in sorted(folders.items()):
            if n > FILES_PER_FOLDER:
                faults.append(f"{folder}: {n} files, at most {FILES_PER_FOLDER}")
        lengths = {name: len(lines_of(self.root / name)) for name in self.sources + self.tests}
        for name, n in sorted(lengths.items()):
            if n > LINES_PER_FILE:
                faults.append(f"{name}: {n} lines, at most {LINES_PER_FILE}")
        median = statistics.median(lengths[name] for name in self.sources)
        if median > LINES_MEDIAN:
            faults.append(f"the median file has {median:.0f} lines, at most {LINES_MEDIAN}")
        return faults

    def check_totals(self):
        lengths = {name: len(lines_of(self.root / name)) for name in self.sources + self.tests}
        total = sum(lengths[name] for name in self.sources)
        of_tests = sum(lengths[name] for name in self.tests)
        faults = []
        print(f"{len(self.sources)} files, {total} lines (limit {LINES_TOTAL}); "
              f"tests: {of_tests} lines of C (limit {LINES_TESTS})")
        for what, n, limit in [("lines outside tests", total, LINES_TOTAL),
                               ("lines of C in tests", of_tests, LINES_TESTS)]:
            if n > limit:
                faults.append(f"{what}: {n:.0f}, at most {limit}")
        return faults

    def check_names(self):
        places = collections.defaultdict(set)
        for name in self.sources:
            places[pathlib.Path(name).stem].add(layers.folder(name))
        faults = [f"{stem}: in {', '.join(sorted(found))}"
                  for stem, found in sorted(places.items()) if len(found) > 1]
        return faults + [f"{name}: call it by the field's term" for name in self.sources
                         if pathlib.Path(name).stem in STEMS]

    def check_errors(self):
        """base/err.h: a message at the origin, the code handed up; nobody reads a struct err *."""
        faults = []
        for name in self.sources:
            if name.startswith("base/err."):
                continue
            code = without_comments((self.root / name).read_text(encoding="utf-8"))
            for n, line in enumerate(code.split("\n"), 1):
                if re.search(r"\b(?:e|err|error)\s*->\s*code\b", line):
                    faults.append(f"{name}:{n}: reads the code of a struct err *")
            for found in re.finditer(r"\breturn\b([^;]*);", code):
                if re.search(r"(?:^|[?:])\s*ERR_(?!NOTFOUND\b)[A-Z]+", found.group(1)):
                    n = code.count("\n", 0, found.start()) + 1
                    faults.append(f"{name}:{n}: returns {' '.join(found.group(1).split())} "
                                  "without a message")
        return faults

    def check_words(self):
        pages = [p for pattern in ("*.md", "docs/*.md", "jobs/**/*.yaml", "schemas/*.proto")
                 for p in self.root.glob(pattern)]
        names = self.sources + sorted(p.relative_to(self.root).as_posix() for p in pages)
        return [f"{name}:{n}: {found.group(1)}" for name in names
                for n, line in enumerate(lines_of(self.root / name), 1)
                for found in WORDS.finditer(line)]


def main():
    house = House(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve())
    broken = False
    for name in ["layers", "ops", "sizes", "totals", "names", "errors", "words"]:
        faults = getattr(house, "check_" + name)()
        print(f"== {name}: {sum(not f.startswith(' ') for f in faults)} violations")
        print("".join(f + "\n" for f in faults), end="")
        broken = broken or faults
    # An empty tree would pass anything: refuse that too.
    return 1 if broken or len(house.sources) < 100 or house.symbols.n_files < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
