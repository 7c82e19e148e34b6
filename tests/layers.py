"""Holds the layer rules of docs/design.md: includes point down only, and each third-party library
is used in its one place. Usage: layers.py SOURCE_ROOT; prints every violation, exits 1 if any."""
import pathlib
import re
import sys

ALLOWED = {
    "base": ["base/"],
    "schemas": ["base/", "schemas/", "*.pb-c.h"],
    "store": ["base/", "schemas/", "store/", "*.pb-c.h"],
    "gpu": ["base/", "gpu/"],
    "engine": ["base/", "schemas/", "store/", "engine/", "*.pb-c.h"],
    "ops": ["base/", "schemas/", "gpu/gpu.h", "engine/op.h", "engine/tool.h", "ops/", "*.pb-c.h"],
}

# Third-party header (a prefix) -> the files that may include it.
HOMES = {
    "rocksdb/": r"store/rocks[\w]*\.[ch]",
    "zstd": r"store/[\w]+\.c",
    "openssl/": r"base/digest\.c",
    "libfyaml": r"base/yaml\.c",
    "jansson": r"engine/.*|ops/.*/(tool_\w+|corpus_json|safetensors)\.c",
    "flint/": r"ops/(expr|rules|egraph)/.*",
    "arb": r"ops/expr/.*",
    "acb": r"ops/expr/.*",
    "gmp": r"ops/(expr|egraph)/.*",
    "dnnl": r"gpu/cpu/\w*dnnl\w*\.c",
    "omp.h": r"gpu/cpu/\w*dnnl\w*\.c",
    "expat": r"ops/.*",
    "microhttpd": r"engine/.*",
    "cuda": r"gpu/cuda/.*",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def fits(header, patterns):
    return any(header.endswith(p[1:]) if p.startswith("*") else header.startswith(p)
               for p in patterns)


def check(root):
    faults = []
    for layer, allowed in ALLOWED.items():
        for path in sorted((root / layer).rglob("*.[ch]")):
            name = path.relative_to(root).as_posix()
            for bracket, header in INCLUDE.findall(path.read_text(encoding="utf-8")):
                if bracket == '"' and not fits(header, allowed):
                    faults.append(f"{name}: includes {header}: {layer}/ may not look there")
                if bracket == "<":
                    for prefix, home in HOMES.items():
                        if header.startswith(prefix) and not re.fullmatch(home, name):
                            faults.append(f"{name}: includes <{header}>, whose home is {home}")
    return faults


def main():
    root = pathlib.Path(sys.argv[1])
    faults = check(root)
    for fault in faults:
        print(fault)
    count = sum(1 for layer in ALLOWED for _ in (root / layer).rglob("*.[ch]"))
    print(f"{count} files, {len(faults)} violations")
    # An empty tree would pass anything: refuse that too.
    return 1 if faults or count < 10 else 0


sys.exit(main())
