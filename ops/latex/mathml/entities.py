"""Writes HTML's named characters as a C table, from Python's html.entities. Usage: entities.py OUTPUT"""
import html.entities
import pathlib
import sys

OF_XML = {"lt", "gt", "amp", "quot", "apos"}


def main():
    names = sorted((name[:-1], text) for name, text in html.entities.html5.items()
                   if name.endswith(";") and name[:-1] not in OF_XML)
    # a character that is markup stays a reference
    rows = [(name, "".join(f"&#{ord(c)};" if c in "<>&\"'" else c for c in text)) for name, text in names]
    lines = ["/* Made by ops/latex/mathml/entities.py. */", '#include "ops/latex/mathml/entities.h"', "",
             "const struct entity entity_table[] = {"]
    for name, text in rows:
        lines.append(f'    {{"{name}", "' + "".join(f"\\{b:03o}" for b in text.encode()) + '"},')
    lines += ["};", "const size_t entity_count = sizeof entity_table / sizeof *entity_table;", ""]
    pathlib.Path(sys.argv[1]).write_text("\n".join(lines), encoding="ascii")


main()
