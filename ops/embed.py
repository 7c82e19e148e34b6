"""Writes files of jobs/ as C arrays: op_builtins of engine/op.h, the shipped rules first.
Usage: embed.py OUTPUT FILE..."""
import pathlib
import sys


def name_of(path):
    """What stands below jobs/rules or jobs/templates; of the job of `eqloom init` start/..."""
    text = path.as_posix()
    if "/start/" in text:
        return "start/" + text.split("/start/")[-1]
    return text.split("/rules/")[-1] if path.suffix in (".rules", ".operators") else path.name


def main():
    output = pathlib.Path(sys.argv[1])
    files = sorted(map(pathlib.Path, sys.argv[2:]), key=lambda f: ("/start/" in str(f), f.suffix != ".rules", f.name))
    lines = ["/* Made by ops/embed.py from files of jobs/. */",
             '#include "engine/op.h"', ""]
    entries = []
    for i, path in enumerate(files):
        data = path.read_bytes()
        lines.append(f"static const char text{i}[] = {{")
        for at in range(0, len(data), 20):
            lines.append("    " + " ".join(f"{byte}," for byte in data[at:at + 20]))
        lines.append("    0,\n};")
        entries.append(f'    {{"builtin:{name_of(path)}", text{i}, sizeof text{i} - 1}},')
    lines += ["", "const struct source_text op_builtins[] = {", *entries, "    {0},", "};", ""]
    output.write_text("\n".join(lines), encoding="utf-8")


main()
