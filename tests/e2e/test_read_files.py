"""What is read of files and of standard input: the table tests/reading/files.txt. An entry is the name
of a file, what reads it, and its bytes as an expression of Python; below it, indented, what comes of it:
clusters (`read`), what is said on the way (`note`), or why it is refused.

    bom.tsv | format: pairs | b"\\xef\\xbb\\xbfx\\t+ x 0\\n"
        read    x = + x 0

What reads a file is the op import-clusters with these parameters, or, as `op: rules`, another source;
`$ explain -` is a command that gets the bytes as its standard input, `$ run JOB` one that finds the file.
EQLOOM_UPDATE_GOLDEN=1 rewrites what stands below the entries."""
import bz2
import gzip
import io
import json
import lzma
import os
import pathlib
import re
import subprocess
import unittest
import zipfile

from harness import BINARY, TIMEOUT_S, ProjectTest

TABLE = pathlib.Path(__file__).parents[1] / "reading/files.txt"
TEXTS = {"rules": "lhs", "templates": "prefix", "import-vectors": "text", "papers": "problems"}


def zipped(*texts):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for i, text in enumerate(texts):
            z.writestr(f"{i}.txt", text)
    return out.getvalue()


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


HELPERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zipped": zipped,
           "flipped": flipped, "json": json.dumps}


def entries(text):
    """(lines of an entry's head, its outcome), with comments as heads that have no outcome."""
    for block in re.split(r"\n{2,}", text.strip("\n")):
        lines = block.split("\n")
        yield ([line for line in lines if not line.startswith("    ")],
               [line[4:] for line in lines if line.startswith("    ")])


class ReadFiles(ProjectTest):
    def said(self, text):
        """The first line of an error, or the notes, without what differs from run to run."""
        kept = [line for line in text.splitlines() if re.search(
            r"error: |leaves out|could not be read|malformed lines? left|, \d+ malformed$|read as|"
            r"^eqloom: <|converts|is converted|name the columns|notation: infix'?$|left out: ", line)]
        return [re.sub(r"^(read: |eqloom: )?(error: )?|job.yaml:\d+:\d+: error: ", "", line)
                for line in kept]

    def of_job(self, name, params):
        op = re.match(r"op: ([\w-]+),? ?", params)
        keys = params[op.end():] if op else params
        op = op[1] if op else "import-clusters"
        files = re.match(r"files: (\[.*?\]),? ?", keys)
        keys = keys[files.end():] if files else keys
        self.p.write("job.yaml", "eqloom: 1\nname: table\nnodes:\n  read:\n" + "".join(
            f"    {line}\n" for line in [f"op: {op}", f"files: {files[1] if files else [name]}",
                                         *filter(None, re.split(r", (?=\w+: )", keys))]))
        made = self.p.eqloom("run", "job.yaml", expect=None)
        out = [f"note    {line}" for line in self.said(made.err) if "error" not in line]
        if made.status:
            return [f"refused {line}" for line in self.said(made.err)[:2]]
        key = TEXTS.get(op)
        for line in self.p.eqloom("export", "table/read", "-f", "jsonl", "-o", "-").out.splitlines():
            x = json.loads(line)
            texts = [m["prefix"] for m in x["members"]] if key is None else [str(x.get(key))]
            out.append("read    " + " = ".join(texts))
        if op == "import-clusters":
            lines = self.p.eqloom("export", "table/read.malformed", "-f", "raw", "-o", "-").out
            out += [f"skipped {line}" for line in lines.splitlines()[1:]]
        return out

    def of_command(self, words, data):
        done = subprocess.run([BINARY, *words], input=data, cwd=self.p.dir, capture_output=True,
                              env=self.p.environment(), timeout=TIMEOUT_S)
        out = []
        for line in done.stdout.decode().splitlines():
            x = json.loads(line)
            shown = x.get("error") or f"{x['from']} ~ {x['to']}" if "verdict" in x else \
                x.get("error") or x["prefix"]
            out.append(f"line    {x.get('line', '')} {x.get('verdict', '')} {shown}")
        return out + [f"note    {line}" for line in self.said(done.stderr.decode())] + \
            [f"status  {done.returncode}"]

    def outcome(self, head):
        name, how, expression = (part.strip() for part in head.split("|", 2))
        data = eval(expression, HELPERS)  # pylint: disable=eval-used
        if how.startswith("$") and name == "-":
            return self.of_command(how[1:].split(), data)
        for path, content in data.items() if isinstance(data, dict) else [(name, data)]:
            path = self.p.dir / path
            path.parent.mkdir(parents=True, exist_ok=True)
            if content is None:
                os.mkfifo(path)
            else:
                path.write_bytes(content)
        if how.startswith("$"):
            return self.of_command(how[1:].split(), b"")
        return self.of_job(name, how)

    def test_the_table(self):
        made, wanted, n = [], TABLE.read_text(encoding="utf-8"), 0
        for heads, _ in entries(wanted):
            block = list(heads)
            if not heads[-1].startswith("#"):
                n += 1
                if "{" in heads[-1].split("|", 2)[2]:  # several files: in a folder of their own
                    self.p = self.project()
                block += [f"    {line.rstrip()}" for line in self.outcome(heads[-1])]
            made.append("\n".join(block))
        text = "\n\n".join(made) + "\n"
        if os.environ.get("EQLOOM_UPDATE_GOLDEN") == "1":
            TABLE.write_text(text, encoding="utf-8")
            return
        self.assertGreaterEqual(n, 50)
        self.maxDiff = None
        self.assertEqual(text, wanted)


if __name__ == "__main__":
    unittest.main()
