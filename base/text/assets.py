"""Writes files as an array of asset.h. Usage: assets.py OUTPUT ARRAY FILE..."""
import pathlib
import sys

TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}


def main():
    files = [pathlib.Path(name) for name in sys.argv[3:]]
    lines = ["/* Made by base/text/assets.py. */", '#include "base/text/asset.h"', ""]
    for i, path in enumerate(files):
        lines.append(f"static const char data{i}[] = {{")
        data = path.read_bytes()
        lines += ["    " + "".join(f"{byte}," for byte in data[at:at + 20]) for at in range(0, len(data), 20)]
        lines.append("    0};")
    lines.append(f"const struct asset {sys.argv[2]}[] = {{")
    lines += [f'    {{"/{path.name}", "{TYPES[path.suffix]}", data{i}, sizeof data{i} - 1}},'
              for i, path in enumerate(files)]
    lines += ["    {0}};", ""]
    pathlib.Path(sys.argv[1]).write_text("\n".join(lines), encoding="ascii")


main()
