"""Completion as a user has it: a key pressed in bash, zsh and fish at a terminal."""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import tempfile
import time
import unittest

from harness import BINARY

ROOT = pathlib.Path(__file__).parents[2]
TIMEOUT_S = 120


class Completion(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="eqloom-completion-"))
        self.addCleanup(shutil.rmtree, self.dir)
        shutil.copytree(ROOT / "jobs", self.dir / "jobs")
        (self.dir / "bin").mkdir()
        (self.dir / "bin/eqloom").symlink_to(pathlib.Path(BINARY).resolve())
        self.env = {"PATH": f"{self.dir / 'bin'}:/usr/bin:/bin", "HOME": str(self.dir), "PS1": "$ ",
                    "TERM": "dumb", "LANG": "C.UTF-8"}

    def type(self, shell, first, line, wanted):
        """What stands on the terminal after a line and a key, once `wanted` does."""
        pid, fd = pty.fork()
        if pid == 0:
            os.chdir(self.dir)
            os.execve(shell[0], shell, self.env)
        seen, started = "", time.monotonic()

        def until(pattern):
            nonlocal seen
            while not re.search(pattern, seen):
                self.assertLess(time.monotonic() - started, TIMEOUT_S, seen)
                if select.select([fd], [], [], 0.1)[0]:
                    seen += os.read(fd, 4096).decode(errors="replace").replace("\a", "")
        try:
            os.write(fd, (first + "; echo re''ady\n").encode())
            until("\nready|\rready")
            seen = ""
            os.write(fd, (line + "\t").encode())
            until(wanted)
        finally:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
            os.close(fd)

    CASES = [("eqloom run jobs/q", "jobs/quickstart.yaml"), ("eqloom simp", "eqloom simplify"),
             ("eqloom run jobs/quickstart.yaml trained-ev", "trained-eval"),
             ("eqloom run --dura", "--durable")]

    def test_bash(self):
        for line, wanted in self.CASES:
            self.type(["/bin/bash", "--norc", "--noprofile", "-i"],
                      f". {ROOT}/docs/eqloom.bash", line, re.escape(wanted))

    @unittest.skipUnless(shutil.which("zsh"), "no zsh")
    def test_zsh(self):
        for line, wanted in self.CASES:
            self.type([shutil.which("zsh"), "-f", "-i"],
                      f"fpath=({ROOT}/docs $fpath); autoload -U compinit; compinit -u -D", line,
                      re.escape(wanted))

    @unittest.skipUnless(shutil.which("fish"), "no fish")
    def test_fish(self):
        for line, wanted in self.CASES:
            done = subprocess.run(["fish", "--no-config", "-c",
                                   f"source {ROOT}/docs/eqloom.fish; complete -C '{line}'"],
                                  cwd=self.dir, env=self.env, capture_output=True, text=True)
            words = [w.split("\t")[0] for w in done.stdout.splitlines()]
            self.assertIn(wanted.split()[-1], words, done.stderr)


if __name__ == "__main__":
    unittest.main()
