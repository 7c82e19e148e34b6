"""`eqloom init`, and the files that the program brings: builtin:NAME."""
import json
import os
import subprocess
import unittest

from harness import BINARY, ProjectTest

RULES = """eqloom: 1
name: named
nodes:
  rules: {op: rules, files: [%s]}
"""


class Init(ProjectTest):
    def test_the_job_runs_as_it_is_written(self):
        self.p.eqloom("init", "my")
        self.assertEqual(sorted(str(f.relative_to(self.p.dir / "my"))
                                for f in (self.p.dir / "my").rglob("*") if f.is_file()),
                         ["eqloom.schema.json", "job.yaml", "rules/mine.rules",
                          "templates.schema.json", "templates/mine.yaml"])
        schema = json.loads((self.p.dir / "my/eqloom.schema.json").read_text())
        self.assertEqual(schema["title"], "eqloom job")
        plan = self.p.eqloom("plan", "my/job.yaml").out
        self.assertIn("report", plan)
        done = self.p.eqloom("run", "my/job.yaml", "seeds", "rules")
        self.assertIn("rules: ran", done.err)

    def test_the_current_directory(self):
        inner = self.p.dir / "inner"
        inner.mkdir()
        for arguments in ([], ["deep/er/"]):
            done = subprocess.run([os.path.abspath(BINARY), "init", *arguments], cwd=inner,
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((inner / "job.yaml").exists())
        self.assertTrue((inner / "deep/er/rules/mine.rules").exists())

    def test_nothing_is_replaced(self):
        self.p.write("job.yaml", "mine")
        done = self.p.eqloom("init", expect=2)
        self.assertIn("job.yaml already exists", done.err)
        self.assertEqual((self.p.dir / "job.yaml").read_text(), "mine")
        self.assertFalse((self.p.dir / "eqloom.schema.json").exists())

    def count(self, names):
        self.p.write("job.yaml", RULES % names)
        self.p.eqloom("run", "job.yaml")
        return json.loads(self.p.eqloom("show", "named/rules", "--json").out)["count"]

    def test_builtin_files(self):
        one = self.count("builtin:powers")
        self.assertEqual(self.count("builtin:powers.rules"), one)
        self.assertGreater(self.count('"builtin:*.rules"'), one)
        self.assertGreater(self.count("builtin:semvec/boolean"), 1)
        self.p.write("job.yaml", RULES % "builtin:power")
        done = self.p.eqloom("plan", "job.yaml", expect=2)
        self.assertIn("job.yaml:4:30: error: there is no built-in file 'builtin:power'", done.err)
        self.assertIn("did you mean 'builtin:powers'?", done.err)


if __name__ == "__main__":
    unittest.main()
