"""Who may use whom. By includes: the layers of docs/design.md point down only, and each third-party
library is used in its one place. By symbols of the object files: no files of a folder use each
other in a circle, nor do rooms (folders); a room uses only the rooms that USES lists; between the
layers of SEAMS only what the headers named there declare is used; no public symbol is defined twice.
Usage: layers.py SOURCE_ROOT BUILD_DIR; prints every violation, exits 1 if there is any."""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys

LAYERS = {
    "base": ["base/"],
    "schemas": ["base/", "schemas/", "*.pb-c.h"],
    "store": ["base/", "schemas/", "store/", "*.pb-c.h"],
    "gpu": ["base/", "gpu/"],
    "engine": ["base/", "schemas/", "store/", "engine/", "*.pb-c.h"],
    "ops": ["base/", "schemas/", "gpu/gpu.h", "engine/op.h", "engine/tool.h", "ops/", "*.pb-c.h"],
    "lib": ["base/", "schemas/", "store/", "engine/", "lib/"],
}

# Room -> the other rooms whose symbols it may use. A room that is not listed here may use what its
# layer may.
USES = {}

# (user, used) -> the files whose declarations (a header) or definitions (a .c) are the way between
# these layers. The engine runs ops by the table of ops/registry.c, and ops call it back: these uses
# are no circle.
SEAMS = {
    ("ops", "engine"): ["engine/op.h", "engine/tool.h"],
    ("engine", "ops"): ["ops/registry.c"],
    ("ops", "gpu"): ["gpu/gpu.h"],
}

# Third-party header (a prefix) -> the files that may include it.
HOMES = {
    "rocksdb/": r"store/db/\w+\.[ch]",
    "zstd": r"store/record/\w+\.c",
    "zdict": r"store/record/\w+\.c",
    "openssl/": r"base/digest\.c",
    "png": r"base/io/picture\.c",
    "yaml.h": r"base/text/yaml\.c",
    "sys/wait.h": r"base/process/(process|guard)\.c",
    "spawn.h": r"base/process/(process|guard)\.c",
    "jansson": r"engine/.*|ops/.*/(answer\.c|tool_\w+\.c|queries\.[ch]|expr_texts\.c|corpus_(read|write)\.c|labelled\.c|op_import_vectors\.c|latex_\w+\.[ch]|safetensors\w*\.c)",
    "jq": r"engine/cli/cmd/cmd_query\.c",
    "jv": r"engine/cli/cmd/cmd_query\.c",
    "flint/": r"ops/(expr|rules|egraph)/.*",
    "arb": r"ops/expr/.*",
    "acb": r"ops/expr/.*",
    "calcium/": r"ops/expr/normal/.*",
    "gmp": r"ops/(expr|egraph)/.*",
    "dnnl": r"gpu/cpu/\w*dnnl\w*\.c",
    "omp.h": r"gpu/cpu/\w*dnnl\w*\.c",
    "expat": r"ops/latex/mathml/mathml_tree\.c",
    "archive": r"base/io/unpack\.c",
    "zlib": r"base/io/unpack\.c",
    "uninorm": r"base/text/utf8\.c",
    "duktape": r"ops/latex/katex/katex\.c",
    "hnswlib/": r"ops/latex/study/hnsw\.cpp",
    "iconv": r"ops/latex/source/decode\.c",
    "microhttpd": r"engine/serve/http\.c",
    "cuda": r"gpu/cuda/.*",
    "cublas": r"gpu/cuda/.*",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def fits(header, patterns):
    return any(header.endswith(p[1:]) if p.startswith("*") else header.startswith(p)
               for p in patterns)


def sources(root):
    """Our C and C++ files outside tests, as names below the root."""
    return sorted(path.relative_to(root).as_posix() for layer in LAYERS
                  for pattern in ("*.[ch]", "*.cpp") for path in (root / layer).rglob(pattern))


def includes(root):
    faults = []
    for name in sources(root):
        layer = name.split("/")[0]
        for bracket, header in INCLUDE.findall((root / name).read_text(encoding="utf-8")):
            if bracket == '"' and not fits(header, LAYERS[layer]):
                faults.append(f"{name}: includes {header}: {layer}/ may not look there")
            if bracket == "<":
                for prefix, home in HOMES.items():
                    if header.startswith(prefix) and not re.fullmatch(home, name):
                        faults.append(f"{name}: includes <{header}>, whose home is {home}")
    return faults


class Symbols:
    """What the built objects define and use. uses[file][other]: the symbols of `other` in `file`."""

    def __init__(self, root, build):
        objects = {}
        for entry in json.loads((build / "compile_commands.json").read_text()):
            name = os.path.relpath(build / entry["file"], root)
            if name.split("/")[0] in LAYERS and (build / entry["output"]).exists():
                objects[str(build / entry["output"])] = name
        listing = subprocess.run(["nm", "--extern-only", *objects], check=True,
                                 capture_output=True, text=True).stdout
        self.homes = collections.defaultdict(set)
        wanted = collections.defaultdict(set)
        name = None
        for line in listing.splitlines():
            if line.endswith(":") and line[:-1] in objects:
                name = objects[line[:-1]]
                continue
            *_, letter, symbol = line.split() or ("-", "")
            if letter == "U":
                wanted[name].add(symbol)
            elif letter in "TDBR" and not symbol.startswith("__"):
                self.homes[symbol].add(name)
        self.n_files = len(set(objects.values()))
        self.uses = {name: collections.defaultdict(set) for name in objects.values()}
        for name, symbols in wanted.items():
            for symbol in symbols:
                for home in self.homes.get(symbol, ()):
                    if home != name:
                        self.uses[name][home].add(symbol)

    def clashes(self):
        return [f"{symbol} is defined in {', '.join(sorted(homes))}"
                for symbol, homes in sorted(self.homes.items()) if len(homes) > 1]


def folder(name):
    return name.rsplit("/", 1)[0]


def circles(edges):
    """The strongly connected components of more than one node (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(edges.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            component = stack[at:]
            del stack[at:]
            if len(component) > 1:
                found.append(sorted(component))

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return found


def some(symbols):
    names = sorted(symbols)
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def file_circles(symbols):
    faults = []
    edges = {name: {other for other in used if folder(other) == folder(name)}
             for name, used in symbols.uses.items()}
    for component in circles(edges):
        faults.append(f"{folder(component[0])}: {len(component)} files use each other in a circle:")
        for name in component:
            for other in sorted(edges[name] & set(component)):
                faults.append(f"    {name} -> {other}: {some(symbols.uses[name][other])}")
    return faults


def room_uses(symbols):
    rooms = collections.defaultdict(lambda: collections.defaultdict(list))
    for name, used in symbols.uses.items():
        rooms[folder(name)]
        for other in used:
            if folder(other) != folder(name):
                rooms[folder(name)][folder(other)].append((name, other))
    return rooms


def describe(symbols, pairs):
    return [f"    {name} -> {other}: {some(symbols.uses[name][other])}"
            for name, other in sorted(pairs)]


def seams(root, symbols):
    faults = []
    for (user, used), files in SEAMS.items():
        open_words = set(re.findall(r"\w+", "\n".join((root / f).read_text() for f in files)))
        for name, others in sorted(symbols.uses.items()):
            if name.split("/")[0] != user:
                continue
            for other, found in sorted(others.items()):
                if other.split("/")[0] == used and found - open_words:
                    faults.append(f"{name} -> {other}: {some(found - open_words)}: not in "
                                  + ", ".join(files))
    return faults


def room_rules(symbols):
    rooms = room_uses(symbols)
    for room, used in rooms.items():
        for other in [o for o in used if (room.split("/")[0], o.split("/")[0]) in SEAMS]:
            del used[other]
    faults = []
    for component in circles({room: set(used) for room, used in rooms.items()}):
        faults.append(f"rooms use each other in a circle: {', '.join(component)}:")
        for room in component:
            for other in sorted(set(rooms[room]) & set(component)):
                faults += describe(symbols, rooms[room][other])
    for room, allowed in USES.items():
        if room not in rooms:
            faults.append(f"USES in layers.py lists {room}, where there are no sources")
        for other in sorted(set(rooms.get(room, ())) - set(allowed)):
            faults.append(f"{room} may not use {other}:")
            faults += describe(symbols, rooms[room][other])
    return faults


def check(root, symbols):
    return (includes(root) + symbols.clashes() + seams(root, symbols) + file_circles(symbols)
            + room_rules(symbols))


def main():
    root, build = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    faults = check(root, Symbols(root, build))
    print("".join(f + "\n" for f in faults), end="")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
