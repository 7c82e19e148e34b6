"""Writes KaTeX, glue.js and tree.js as C arrays, and digests of KaTeX with each of the two.
Usage: embed.py OUTPUT KATEX GLUE TREE"""
import hashlib
import pathlib
import sys


def main():
    katex, glue, tree = (pathlib.Path(f).read_bytes() for f in sys.argv[2:5])
    digests = [hashlib.sha256(len(katex).to_bytes(8, "little") + katex + part).hexdigest()
               for part in (glue, tree)]
    lines = ['/* Made by ops/latex/katex/embed.py. */', '#include "ops/latex/katex/katex.h"', '']
    for name, data in ("katex", katex), ("glue", glue), ("tree", tree):
        lines.append(f"static const char {name}[] = {{")
        for at in range(0, len(data), 40):
            lines.append("".join(f"{b if b < 128 else b - 256}," for b in data[at:at + 40]))
        lines.append("    0,\n};")
    lines += ["const struct katex_source katex_source = {", "    katex, sizeof katex - 1,",
              f'    {{glue, sizeof glue - 1, "katex {digests[0][:16]}"}},',
              f'    {{tree, sizeof tree - 1, "katex {digests[1][:16]}"}},', "};", ""]
    pathlib.Path(sys.argv[1]).write_text("\n".join(lines), encoding="ascii")


main()
