"""Drives the real binary on a small project in a fresh directory. EQLOOM names the binary."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

BINARY = os.environ.get("EQLOOM", "build/eqloom")
DATA = pathlib.Path(__file__).parent / "small"


class Result:
    def __init__(self, process):
        self.status = process.returncode
        self.out = process.stdout
        self.err = process.stderr

    def events(self):
        return [json.loads(line) for line in self.out.splitlines()]

    def summary(self):
        last = self.events()[-1]
        assert last["event"] == "summary", last
        return last


class Project:
    """A copy of tests/e2e/small with its own store."""

    def __init__(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="eqloom-e2e-"))
        shutil.copytree(DATA, self.dir, dirs_exist_ok=True)
        # Files that changed within the last two seconds are read again: let them be old.
        for path in self.dir.rglob("*"):
            os.utime(path, (time.time() - 100, time.time() - 100))

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)

    def environment(self):
        env = {k: v for k, v in os.environ.items() if not k.startswith("EQLOOM")}
        env["NO_COLOR"] = "1"
        return env

    def start(self, *args, **kwargs):
        return subprocess.Popen([os.path.abspath(BINARY), *args], cwd=self.dir,
                                env=self.environment(), text=True, stdin=subprocess.DEVNULL,
                                **kwargs)

    def eqloom(self, *args, expect=0, timeout=300):
        process = self.start(*args, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            process.stdout_text, process.stderr_text = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            raise
        process.stdout, process.stderr = process.stdout_text, process.stderr_text
        result = Result(process)
        if expect is not None and result.status != expect:
            raise AssertionError(f"eqloom {' '.join(args)}: status {result.status}, wanted "
                                 f"{expect}\n{result.out[-4000:]}\n{result.err[-4000:]}")
        return result

    def run(self, *args, expect=0):
        return self.eqloom("run", "job.yaml", "--json", *args, expect=expect).summary()

    def ids(self):
        """ref -> id of everything the job made."""
        lines = self.eqloom("ls", "--json").out.splitlines()
        return {item["ref"]: item["id"] for item in map(json.loads, lines) if "ref" in item}

    def edit(self, name, old, new):
        path = self.dir / name
        text = path.read_text()
        assert old in text, (name, old)
        path.write_text(text.replace(old, new, 1))

    def write(self, name, text):
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


class ProjectTest(unittest.TestCase):
    def setUp(self):
        self.p = Project()
        self.addCleanup(self.p.close)

    def project(self):
        p = Project()
        self.addCleanup(p.close)
        return p
