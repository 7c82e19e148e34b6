"""Drives the real binary on a small project in a fresh directory. EQLOOM names the binary,
EQLOOM_SHIM_IO the library that makes disks fail. No verdict depends on how fast the machine is, or on
which of two processes is faster: TIMEOUT_S is there to end what hangs."""
import json
import os
import pathlib
import pty
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import unittest

BINARY = os.environ.get("EQLOOM", "build/eqloom")
DATA = pathlib.Path(__file__).parent / "small"
SHIM_IO = os.environ.get("EQLOOM_SHIM_IO", "build/tests/e2e/libshim_io.so")
TIMEOUT_S = 900
PROGRESS = rb"\x1b\[\d+A\r\x1b\[J"  # what erases progress lines


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


class Moments:
    """Random moments in the course of a command. How long it takes is learnt as it goes: the machine
    may have been busier, or idler, when it was measured."""

    def __init__(self, rng, command):
        started = time.monotonic()
        command()
        self.rng, self.length = rng, time.monotonic() - started

    def strike(self, process, number=signal.SIGKILL):
        """Sends the signal at such a moment; True if it came before the end."""
        started = time.monotonic()
        try:
            process.wait(timeout=self.rng.uniform(0.002, self.length))
            self.length = min(self.length, time.monotonic() - started)
            return False
        except subprocess.TimeoutExpired:
            self.length *= 1.1
            process.send_signal(number)
            process.wait(timeout=TIMEOUT_S)
            return True


class Project:
    """A copy of tests/e2e/small, or of another folder, with its own store."""

    def __init__(self, data=DATA):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="eqloom-e2e-"))
        shutil.copytree(data, self.dir, dirs_exist_ok=True)
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

    def failing(self, at, kinds, *args, **more):
        """A command whose call number `at` of these kinds fails (shim_io.c; 0: none does), and how
        many calls there were: None if it was killed."""
        count = self.dir / "calls"
        count.unlink(missing_ok=True)
        env = self.environment() | {
            "LD_PRELOAD": os.path.abspath(SHIM_IO), "EQLOOM_SHIM_AT": str(at),
            "EQLOOM_SHIM_KINDS": kinds, "EQLOOM_SHIM_COUNT": str(count),
            "EQLOOM_SHIM_DIR": str((self.dir / ".eqloom").resolve()),
            "ASAN_OPTIONS": "verify_asan_link_order=0"} | more
        made = subprocess.run([os.path.abspath(BINARY), *args], cwd=self.dir, env=env,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=TIMEOUT_S, check=False)
        return made, int(count.read_text()) if count.exists() else None

    def hold(self, *args):
        """A run that goes on for ever, once it has the store and heeds signals."""
        process = self.start("run", "job.yaml", "--set", "steps=1000000", *args,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while True:
            log = self.eqloom("log", "--json", expect=None)
            if log.status == 0 and log.out and log.events()[0]["state"] == "running":
                return process
            assert process.poll() is None, f"the run ended with {process.returncode}"
            time.sleep(0.05)

    def eqloom(self, *args, expect=0, timeout=TIMEOUT_S):
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

    def on_terminal(self, *args):
        """What a terminal gets."""
        master, slave = pty.openpty()
        process = subprocess.Popen([os.path.abspath(BINARY), *args], cwd=self.dir, stdin=slave,
                                   env=self.environment(), stdout=slave, stderr=slave)
        os.close(slave)
        seen = b""
        try:
            while part := os.read(master, 1 << 16):
                seen += part
        except OSError:
            pass  # Linux: the other end is closed
        os.close(master)
        process.wait(timeout=TIMEOUT_S)
        return seen

    def run(self, *args, expect=0):
        return self.eqloom("run", "job.yaml", "--json", *args, expect=expect).summary()

    def ids(self, expect=0):
        """ref -> id of everything the job made."""
        lines = self.eqloom("ls", "--json", expect=expect).out.splitlines()
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


def places(n, count):
    """So many numbers from 1 to n, as far apart as can be, both ends among them."""
    return sorted({1 + i * (n - 1) // max(1, count - 1) for i in range(count)})


def read_npy(path):
    """The rows of a float32 matrix."""
    data = pathlib.Path(path).read_bytes()
    header = data[10:128].decode()
    rows, columns = (int(n) for n in header.split("(")[1].split(")")[0].split(","))
    numbers = struct.unpack(f"<{rows * columns}f", data[128:])
    return [list(numbers[i * columns:(i + 1) * columns]) for i in range(rows)]


class ProjectTest(unittest.TestCase):
    def setUp(self):
        self.p = Project()
        self.addCleanup(self.p.close)

    def project(self):
        p = Project()
        self.addCleanup(p.close)
        return p

    def hold(self):
        process = self.p.hold()
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process
