"""Too little memory, too small a limit on file sizes, an allocation that fails: one line that begins
with 'eqloom: error:' says so, what was stored stays whole, and the next run ends with the ids of an
undisturbed one. EQLOOM_TEST_LIMITS sets how many allocations are made to fail; EQLOOM_SHIM_MEMORY
names the library that does it."""
import os
import resource
import signal
import subprocess
import unittest

from harness import BINARY, TIMEOUT_S, ProjectTest

SHIM = os.environ.get("EQLOOM_SHIM_MEMORY", "build/tests/e2e/libshim_memory.so")
TRIES = int(os.environ.get("EQLOOM_TEST_LIMITS", "10"))
MIB = 1 << 20


def is_sanitized():
    with open(BINARY, "rb") as f:
        return b"__asan_init" in f.read()


class Limits(ProjectTest):
    def setUp(self):
        super().setUp()
        self.p.run()
        self.wanted = self.p.ids()

    def limited(self, p, limit, value, env=None, command=("run", "job.yaml", "-j", "2")):
        """A run under a limit: (resource, bytes) or none."""
        def preexec():
            if limit is not None:
                resource.setrlimit(limit, (value, value))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        return subprocess.run([os.path.abspath(BINARY), *command], cwd=p.dir,
                              env=p.environment() | (env or {}), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
                              preexec_fn=preexec)

    def one_line(self, made, allow_abort):
        """It ended well, or badly with one line; True for the latter."""
        if made.returncode == 0:
            return False
        allowed = (1, -signal.SIGABRT) if allow_abort else (1,)
        self.assertIn(made.returncode, allowed, made.stderr)
        # An op without memory fails its element, maybe each of several; all else ends the run.
        lines = made.stderr.splitlines()
        errors = [x for x in lines if x.startswith("eqloom: error:")]
        failed = [x for x in lines if x.startswith("FAILED ")]
        self.assertLessEqual(len(errors), 1, made.stderr)
        self.assertTrue(errors or failed, made.stderr)
        return True

    def goes_on(self, p):
        self.assertEqual(p.run()["failed"], 0)
        self.assertEqual(p.ids(), self.wanted)
        p.eqloom("fsck")
        p.close()

    @unittest.skipIf(is_sanitized(), "sanitizers need address space of their own")
    def test_address_space(self):
        stopped = 0
        least = 16  # with which its libraries can be loaded, those of this machine
        while self.limited(self.p, resource.RLIMIT_AS, least * MIB, command=["--version"]).returncode:
            least += 4
        for more in (4, 12, 22, 32, 42, 52, 70, 100, 240, 4000):
            mib = least + more
            with self.subTest(mib=mib):
                q = self.project()
                stopped += self.one_line(self.limited(q, resource.RLIMIT_AS, mib * MIB), True)
                self.goes_on(q)
        self.assertGreater(stopped, 1)

    def test_file_sizes(self):
        stopped = 0
        for kib in (1, 5, 20, 60, 150, 250, 4000):
            with self.subTest(kib=kib):
                q = self.project()
                made = self.limited(q, resource.RLIMIT_FSIZE, kib << 10)
                if self.one_line(made, False):
                    stopped += 1
                    self.assertIn("File too large", made.stderr)
                self.goes_on(q)
        self.assertGreater(stopped, 2)

    @unittest.skipIf(is_sanitized(), "sanitizers have an allocator of their own")
    def test_allocations_that_fail(self):
        shim = {"LD_PRELOAD": os.path.abspath(SHIM), "EQLOOM_SHIM_BYTES": str(64 << 10)}
        count = self.p.dir / "calls"
        self.limited(self.project(), None, 0, shim | {"EQLOOM_SHIM_COUNT": str(count)})
        n = int(count.read_text())
        self.assertGreater(n, TRIES)
        stopped = 0
        for i in range(TRIES):
            at = 1 + i * (n - 1) // TRIES
            env = shim | {"EQLOOM_SHIM_AT": str(at)}
            if i % 2:
                env["EQLOOM_SHIM_LASTS"] = "1"
            with self.subTest(at=at, of=n, lasts=i % 2):
                q = self.project()
                stopped += self.one_line(self.limited(q, None, 0, env), True)
                self.goes_on(q)
        self.assertGreater(stopped, TRIES // 2)


if __name__ == "__main__":
    unittest.main()
