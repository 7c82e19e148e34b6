"""Every indented block of the pages is an example that works. By its text a block is

    $ eqloom plan JOB     commands; what is shown below one is what it prints
    eqloom ls             the same, its output not shown: it must not fail
    eqloom: 1             a job file, which can be planned
    templates: 1          a template file, which gives expressions
    name: a -> b          rules, which are certified

A comment before a block says more: <!-- text --> or <!-- not run --> (no example), <!-- numbers vary -->
(in what is printed), <!-- file PATH --> (written there, for commands that follow), <!-- edit PATH -->
(these rules replace the ones of their names in that file), <!-- fails --> (so it should). "..." in what
is printed stands for anything. Links and names of files are checked, too. The commands of a page run
one after the other in a copy of the jobs, made small, beside a store in which they have run.

Usage: test_pages.py EQLOOM SOURCE_ROOT PAGE..."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

TIMEOUT_S = 600
MARK = re.compile(r"\s*<!--\s*(text|not run|numbers vary|fails|file|edit)(?:\s+(\S+))?\s*-->")


class Block:
    def __init__(self, line, text, mark, path):
        self.line, self.text, self.mark, self.path = line, text, mark, path


def blocks_of(page):
    """Indented blocks after an empty line, a heading or a comment, each with its comment."""
    lines = page.read_text(encoding="utf-8").split("\n")
    blocks, at = [], 0
    while at < len(lines):
        before = lines[at - 1].strip() if at else ""
        if not lines[at].startswith("    ") or before and not re.match(r"#|<!--", before):
            at += 1
            continue
        first = at
        while at < len(lines) and (lines[at].startswith("    ") or not lines[at].strip()):
            at += 1
        text = "\n".join(line[4:] for line in lines[first:at]).rstrip() + "\n"
        before = next((line for line in reversed(lines[:first]) if line.strip()), "")
        found = MARK.fullmatch(before)
        usage = text.startswith("eqloom [") or before == " ".join(["##", *text.split()[1:2]])
        if page.name == "cli.md" and usage:
            continue  # the synopsis of a command
        blocks.append(Block(first + 1, text, *(found.groups() if found else (None, None))))
    return blocks


def dead_names(root, name):
    """Links of a page that lead nowhere, and files that it names and that are not there."""
    files = ["/" + str(pathlib.Path(d, f).relative_to(root)) for d, _, names in os.walk(root)
             for f in names if "/build" not in d and "/.git" not in d]
    text = (root / name).read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#:]+)", text):
        if not (root / name).parent.joinpath(link).exists():
            yield f"{name}: links to {link}, which does not exist"
    for file in re.findall(r"`(?:\./)?([\w/-]+\.(?:c|h|py|proto|sh))`", text):
        if "NAME" not in file and not any(f.endswith("/" + file) for f in files):
            yield f"{name}: names {file}, which does not exist"


def printed_like(shown, numbers_vary):
    """The regular expression of what a page shows."""
    pattern = ""
    for line in shown.rstrip().splitlines():
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
            continue
        line = re.escape(re.sub(r"\s+", " ", line.strip()))
        line = line.replace(r"\.\.\.", ".*").replace(r"\ ", r"\s+")
        if numbers_vary:
            line = re.sub(r"\d+(?:\\\.\d+)?", r"[0-9.]+", line)
        pattern += r"\s*" + line + r"\s*\n"
    return re.compile(pattern + r"\s*")


class Project:
    """A copy of the jobs, cut to seconds, and a store in which they have run."""

    def __init__(self, eqloom, root):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="eqloom-pages-"))
        self.dir = self.top / "eqloom"
        (self.dir / "docs").mkdir(parents=True)
        shutil.copytree(root / "jobs", self.dir / "jobs")
        for job in (self.dir / "jobs").glob("*.yaml"):
            text = re.sub(r"(op: templates, .*?)(, limit: \d+)?\}", r"\1, limit: 48}",
                          job.read_text())
            text = re.sub(r"^  steps: \d+", "  steps: 2", text, flags=re.M)
            job.write_text(re.sub(r"segment: \d+", "segment: 2\n    batch: 16", text))
        (self.top / "bin").mkdir()
        (self.top / "bin" / "eqloom").symlink_to(pathlib.Path(eqloom).resolve())
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("EQLOOM")}
        self.env |= {"PATH": f"{self.top / 'bin'}:{os.environ['PATH']}", "NO_COLOR": "1"}

    def close(self):
        shutil.rmtree(self.top, ignore_errors=True)

    def run(self, command):
        started = time.monotonic()
        command = re.sub(r"steps=\d{3,}", "steps=6", command)
        made = subprocess.run(["sh", "-c", command], cwd=self.dir, env=self.env, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=TIMEOUT_S, check=False)
        if os.environ.get("EQLOOM_PAGES_TIMES"):
            print(f"{time.monotonic() - started:6.2f} s  {command}", file=sys.stderr)
        return made.returncode, made.stdout

    def prepare(self):
        self.run("git init -q && git add -A && git -c user.name=a -c user.email=a commit -qm start")
        (self.dir / "expressions.txt").write_text("sin(x)\ncos(x)^2\n")
        (self.dir / "my.rules").write_text("double: sin(2*?a) -> 2*sin(?a)*cos(?a)\n")
        for command in ["eqloom run jobs/quickstart.yaml", "eqloom run jobs/seq2seq.yaml",
                        "eqloom run jobs/quickstart.yaml --set steps=4",
                        "eqloom tag v0 quickstart/clusters", "eqloom tag writer seq2seq/model"]:
            status, text = self.run(command)
            assert status == 0, f"{command}: {text}"
        status, text = self.run("eqloom ls --json quickstart/egraphs")
        # What stands in examples, and what takes its place here.
        self.instead = {"3fa9": re.search(r'"id":\s*"([0-9a-f]+)"', text).group(1)[:8],
                        "quickstart/12": "quickstart/1", "diff tag/v1": "diff tag/v0",
                        "/mnt/": f"{self.top}/",
                        "eqloom serve": "timeout --preserve-status 5 eqloom serve"}


class Page:
    def __init__(self, project, page):
        self.project, self.page, self.faults, self.n = project, page, [], 0

    def fault(self, block, text):
        self.faults.append(f"{self.page}:{block.line}: {text}")

    def write(self, path, text):
        path = self.project.dir / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def expect(self, block, command, wanted=(0, 3, 4), shown=None):
        status, text = self.project.run(command)
        if status not in wanted:
            self.fault(block, f"{command}: status {status}\n{text}")
        elif shown is not None and not printed_like(shown, block.mark == "numbers vary").fullmatch(
                text if text.endswith("\n") else text + "\n"):
            self.fault(block, f"{command} prints\n{text}where the page shows\n{shown}")

    def commands(self, block):
        """A command begins with "$ " or is a line; with "$ ", what follows is its output."""
        wanted = (1, 2) if block.mark == "fails" else (0, 3, 4)
        for part in re.split(r"^\$ ", block.text, flags=re.M):
            if not part.strip():
                continue
            if block.text.startswith("$ "):
                command, _, shown = part.partition("\n")
                self.expect(block, command, wanted, shown if shown.strip() else None)
                continue
            for command in part.splitlines():
                command = re.sub(r"\s+# .*", "", command)
                for shown, there in self.project.instead.items():
                    command = command.replace(shown, there)
                self.expect(block, command, wanted)

    def edit(self, block):
        path = self.project.dir / block.path
        text = path.read_text()
        for rule in block.text.splitlines():
            name = rule.split(":")[0]
            text, n = re.subn(rf"^{re.escape(name)}:.*$", lambda _: rule, text, flags=re.M)
            if n == 0:
                text += rule + "\n"
        path.write_text(text)

    def example(self, block):
        text = block.text
        if block.mark in ("text", "not run"):
            return
        self.n += 1
        if block.path and re.search(r"^\$ ", text, re.M):
            self.fault(block, f"a command stands in the file {block.path}: words belong between them")
        if block.mark == "edit":
            self.edit(block)
        elif re.match(r"(\$ )?(eqloom|git) ", text):
            self.commands(block)
        elif re.search(r"^eqloom: 1$", text, re.M):
            path = block.path or "jobs/example.yaml"
            self.write(path, text)
            self.expect(block, f"eqloom plan {path}")
        elif re.search(r"^templates: 1$", text, re.M) and not block.path:
            self.write("jobs/templates/example.yaml", text)
            self.write("jobs/example.yaml", "eqloom: 1\nname: example\nnodes:\n  seeds: "
                       "{op: templates, files: [templates/example.yaml]}\n")
            self.expect(block, "eqloom run jobs/example.yaml && eqloom show example/seeds")
        elif re.search(r"^[\w.-]+~?:.* <?-> ", text, re.M):
            self.write(block.path or "example.rules", text)
            if not block.path:
                self.expect(block, "eqloom check-rules example.rules", (0,))
        elif block.path:
            self.write(block.path, text)
        else:
            self.fault(block, f"no known kind of example; see {pathlib.Path(__file__).name}")


def main():
    eqloom, root, *pages = sys.argv[1:]
    project = Project(eqloom, pathlib.Path(root))
    faults, n = [], 0
    try:
        project.prepare()
        for name in pages:
            page = Page(project, name)
            for block in blocks_of(pathlib.Path(root) / name):
                page.example(block)
            faults += page.faults + list(dead_names(pathlib.Path(root), name))
            n += page.n
    finally:
        project.close()
    print("\n".join(faults))
    print(f"{n} examples, {len(faults)} faults")
    return 1 if faults or n == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
