"""run.sh and test.sh share build/: whichever came first, and whatever was installed in between, the tests
and the manual page are built once their packages are there, and nothing is configured twice for nothing."""
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
# As if the packages of the tests were not installed.
WITHOUT = {"pkg-config": 'case "$*" in *cmocka*) exit 1 ;; esac',
           "cmake": "exit 1",
           "dpkg-query": 'for name; do shift; case $name in libcmocka-dev | lowdown) ;; *) set -- "$@" "$name" ;; esac; done'}


class Setup(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="eqloom-setup-"))
        self.addCleanup(shutil.rmtree, self.dir)
        shutil.copytree(ROOT, self.dir / "clone", ignore=shutil.ignore_patterns("build*", ".git", ".eqloom", "out"))
        bare = self.dir / "bare"
        bare.mkdir()
        for name, before in WITHOUT.items():
            script = bare / name
            script.write_text(f'#!/bin/sh\n{before}\nexec {shutil.which(name) or name} "$@"\n')
            script.chmod(script.stat().st_mode | stat.S_IXUSR)
        self.bare = f"{bare}:{os.environ['PATH']}"

    def build(self, target, *, bare=False, options="$options"):
        """What the script said, after building the target as run.sh and test.sh do."""
        env = {**os.environ, "PATH": self.bare if bare else os.environ["PATH"]}
        env.pop("CI", None)
        done = subprocess.run(["sh", "-c", f'. ./setup.sh; build_in build "$1" {options} -Dcuda=disabled',
                               self.dir / "clone/setup.sh", target],
                              cwd=self.dir / "clone", env=env, capture_output=True, text=True)
        return done.returncode, done.stderr

    def test_what_is_installed_later_is_built(self):
        code, said = self.build("base/libbase.a", bare=True)
        self.assertEqual(code, 0, said)
        self.assertIn("configuring build\n", said)
        code, said = self.build("tests/base/test_base", bare=True)
        self.assertNotEqual(code, 0, "there are no tests without their package")
        code, said = self.build("tests/base/test_base")
        self.assertEqual(code, 0, said)
        self.assertIn("configuring build again\n", said)

        self.assertEqual(self.build("base/libbase.a"), (0, ""))
        self.assertEqual(self.build("tests/base/test_base"), (0, ""))
        code, said = self.build("base/libbase.a", options="--buildtype=debug")
        self.assertEqual(code, 0, said)
        self.assertIn("configuring build again\n", said)


if __name__ == "__main__":
    unittest.main()
