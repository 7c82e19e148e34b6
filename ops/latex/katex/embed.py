"""Writes KaTeX and its scripts as C arrays: mhchem and the files of glue/ as one, and tree.js, with
digests of KaTeX and each of the two. Usage: embed.py OUTPUT KATEX TREE MHCHEM GLUE..."""
import hashlib
import pathlib
import sys


def main():
    katex, tree, mhchem, *files = (pathlib.Path(f).read_bytes() for f in sys.argv[2:])
    glue = (mhchem + b";\nvar eqloom_mathml;\n(function () {\n'use strict';\n" + b"".join(files)
            + b"}());\n")
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
