"""Follows docs/new-op.md: its op is compiled as the build compiles its neighbours, put into the table,
linked in place of the table that there is, and its job runs. Usage: test_new_op.py SOURCE_ROOT BUILD"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from test_pages import blocks_of


def compile_like(build, neighbour, source, output):
    """With the command of another source."""
    commands = json.loads((build / "compile_commands.json").read_text())
    [entry] = [c for c in commands if c["file"].endswith(neighbour) and c["output"].startswith("eqloom.p")
               or c["file"].endswith(neighbour) and "registry" not in neighbour]
    command = entry["command"].replace(entry["output"], str(output))
    subprocess.run(command.replace(" -c " + entry["file"], f" -c {source}"), shell=True, cwd=build, check=True)


def main():
    root, build = (pathlib.Path(arg).resolve() for arg in sys.argv[1:3])
    blocks = list(blocks_of(root / "docs/new-op.md"))
    files = {b.path: b.text for b in blocks if b.path}
    listed = next(b.text for b in blocks if "X(op_first)" in b.text).strip()
    with tempfile.TemporaryDirectory(prefix="eqloom-op-") as place:
        place = pathlib.Path(place)
        for path, text in files.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_text(text)
        table = (root / "ops/registry.c").read_text()
        table = table.replace("X(op_generate)", f"{listed} X(op_generate)", 1)
        (place / "registry.c").write_text(table)
        compile_like(build, "ops/corpus/op_split.c", place / "ops/corpus/op_first.c", place / "first.o")
        compile_like(build, "ops/registry.c", place / "registry.c", place / "registry.o")
        link = subprocess.run(["ninja", "-C", str(build), "-t", "commands", "eqloom"], check=True,
                              capture_output=True, text=True).stdout.splitlines()[-1]
        link = re.sub(r"-o eqloom\b", f"-o {place}/eqloom", link)
        link = link.replace("eqloom.p/ops_registry.c.o", f"{place}/registry.o {place}/first.o")
        subprocess.run(link, shell=True, cwd=build, check=True)
        eqloom = lambda *args: subprocess.run([place / "eqloom", *args], cwd=place, check=True,
                                              capture_output=True, text=True).stdout
        assert "first" in eqloom("ops"), "the op is in the table"
        eqloom("run", "jobs/first.yaml")
        shown = [json.loads(line) for line in eqloom("export", "few/few", "-f", "jsonl").splitlines()]
        before = [json.loads(line) for line in eqloom("export", "few/clusters", "-f", "jsonl").splitlines()]
        assert len(shown) == len(before) == 20, len(shown)
        assert [c["members"] for c in shown] == [c["members"][:2] for c in before]
        assert max(len(c["members"]) for c in before) > 2
        eqloom("show", "few/few")


main()
