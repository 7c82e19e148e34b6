"""Writes the shipped rule files as C arrays. Usage: embed.py OUTPUT FILE...; the names that messages
show are those below the project, jobs/rules/..."""
import pathlib
import sys


def main():
    output, files = sys.argv[1], sorted(sys.argv[2:], key=lambda f: pathlib.Path(f).name)
    lines = ['/* Made by ops/rules/embed.py from jobs/rules. */', '#include "ops/rules/rule.h"', '']
    entries = []
    shown = [pathlib.Path(f).as_posix().split("jobs/rules/")[-1] for f in files]
    for i, name in enumerate(files):
        path = pathlib.Path(name)
        data = path.read_bytes()
        lines.append(f"static const char text{i}[] = {{")
        for at in range(0, len(data), 20):
            lines.append("    " + " ".join(f"{byte}," for byte in data[at:at + 20]))
        lines.append("    0,\n};")
        entries.append(f'    {{"jobs/rules/{shown[i]}", text{i}, sizeof text{i} - 1}},')
    lines += ["", "static const struct source_text files[] = {", *entries, "};", "",
              "size_t rules_library(const struct source_text **out)", "{", "    *out = files;",
              "    return sizeof files / sizeof *files;", "}", ""]
    pathlib.Path(output).write_text("\n".join(lines), encoding="ascii")


main()
