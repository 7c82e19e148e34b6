"""What 'meson install' brings: a program that runs the installed jobs, a manual page, completion, and
a Debian package that asks for the same libraries as setup.sh. BUILD_ROOT names the build folder."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
# What setup.sh installs that every Debian builder has.
NOT_TO_BUILD = {"gcc", "g++", "libc6-dev", "ninja-build"}


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp(prefix="eqloom-install-"))
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        subprocess.run(["meson", "install", "-C", os.environ["BUILD_ROOT"], "--no-rebuild", "--quiet",
                        "--destdir", str(cls.dir)], check=True, stdout=subprocess.DEVNULL)
        cls.program = next(cls.dir.rglob("bin/eqloom"))
        cls.prefix = cls.program.parents[1]

    def run_program(self, *arguments):
        return subprocess.run([self.program, *arguments], cwd=self.dir, capture_output=True, text=True)

    def test_a_copy_of_the_installed_jobs_runs(self):
        shutil.copytree(self.prefix / "share/eqloom/jobs", self.dir / "jobs")
        for job in sorted((self.dir / "jobs").glob("*.yaml")):
            plan = self.run_program("--store", str(self.dir / "store"), "plan", str(job))
            if "apt-get install texlive" in plan.stderr:
                print(f"{job.name} is left out: TeX is not installed")
                continue
            self.assertEqual(plan.returncode, 0, plan.stderr)
        run = self.run_program("--store", str(self.dir / "store"), "run", "jobs/quickstart.yaml", "rules")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("rules: ran", run.stdout + run.stderr)

    def test_the_library_is_where_the_loader_looks(self):
        """Below /usr/local; Meson alone would guess lib64 where dpkg-dev is not installed."""
        self.assertIn("'libdir=lib'", (ROOT / "meson.build").read_text())
        folder = next(self.prefix.rglob("libeqloom.so.0")).parent.relative_to(self.prefix)
        self.assertRegex(str(folder), r"^lib(/[\w-]+-linux-gnu)?$")
        self.assertTrue((self.prefix / folder / "pkgconfig/eqloom.pc").exists())

    def test_pages_lead_to_pages_that_are_there(self):
        doc = self.prefix / "share/doc/eqloom"
        for page in ["tutorial.md", "research.md", "teaching.md", "serve.md", "operators.md", "expressions.md"]:
            self.assertEqual((doc / page).read_bytes(), (ROOT / "docs" / page).read_bytes())

    def test_the_schema_is_the_programs(self):
        self.assertEqual((self.prefix / "share/eqloom/jobs/eqloom.schema.json").read_text(),
                         self.run_program("schema").stdout)

    def test_completion_is_where_bash_looks(self):
        script = ('. "$1"; COMP_WORDS=("$2" pl); COMP_CWORD=1; _eqloom; echo "${COMPREPLY[@]}"')
        installed = self.prefix / "share/bash-completion/completions/eqloom.bash"
        out = subprocess.run(["bash", "-c", script, "bash", installed, self.program],
                             capture_output=True, text=True)
        self.assertEqual(out.stdout.split(), ["plan"], out.stderr)

    def test_completions_are_where_zsh_and_fish_look(self):
        zsh = next((self.prefix / "share/zsh").glob("*/_eqloom"))
        self.assertTrue(zsh.read_text().startswith("#compdef eqloom\n"))
        self.assertTrue((self.prefix / "share/fish/vendor_completions.d/eqloom.fish").exists())

    def test_the_manual_page_is_installed(self):
        if not shutil.which("lowdown"):
            self.skipTest("lowdown, which makes the manual page, is not installed")
        self.assertIn(".TH", (self.prefix / "share/man/man1/eqloom.1").read_text())

    def test_the_library_its_header_and_its_modules(self):
        self.assertIn("eql_open", next(self.prefix.rglob("include/eqloom.h")).read_text())
        self.assertIn("-leqloom", next(self.prefix.rglob("pkgconfig/eqloom.pc")).read_text())
        library, module = (next(self.dir.rglob(name)) for name in ["libeqloom.so", "eqloom.py"])
        out = subprocess.run([sys.executable, "-c", "import eqloom; print(eqloom.explain('2x', 'x + x')['verdict'])"],
                             cwd=self.dir, capture_output=True, text=True,
                             env=os.environ | {"PYTHONPATH": str(module.parent), "EQLOOM_LIBRARY": str(library)})
        if "AddressSanitizer" in out.stderr:
            self.skipTest("Python is not sanitized")
        self.assertEqual(out.stdout, "proved\n", out.stderr)

    def test_rules_templates_and_schemas_are_beside_the_jobs(self):
        jobs = self.prefix / "share/eqloom/jobs"
        for name in ["rules/trigonometry.rules", "templates/quickstart.yaml", "templates.schema.json", "quickstart.yaml"]:
            self.assertEqual((jobs / name).read_bytes(), (ROOT / "jobs" / name).read_bytes())

    def test_the_image_is_built_as_run_sh_builds(self):
        """The Dockerfile has no list of packages of its own."""
        lines = (ROOT / "Dockerfile").read_text().replace("\\\n", "").splitlines()
        steps = [line.split(None, 1) for line in lines if line and not line.startswith("#")]
        self.assertEqual([name for name, _ in steps], ["FROM", "COPY", "RUN", "ENV", "WORKDIR", "ENTRYPOINT"])
        self.assertRegex(steps[0][1], "^debian:12")
        self.assertTrue(steps[2][1].startswith("/src/run.sh --version "))
        self.assertIn("&& ldconfig ", re.sub(r"\s+", " ", steps[2][1]))
        subprocess.run(["sh", "-n", "-c", steps[2][1]], check=True)

    def test_the_debian_package_is_built_with_the_libraries_of_setup(self):
        setup = re.search(r'build_packages="([^"]*)"', (ROOT / "setup.sh").read_text())[1].split()
        control = re.search(r"Build-Depends: (.*?)\n\S", (ROOT / "debian/control").read_text(), re.S)[1]
        needed = {re.match(r"[\w.+-]+", item.strip())[0] for item in control.split(",")}
        self.assertEqual(set(setup) - NOT_TO_BUILD - needed, set())


if __name__ == "__main__":
    unittest.main()
