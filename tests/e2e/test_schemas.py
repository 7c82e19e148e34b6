"""The shipped jobs and templates are plain YAML, fit their schemas, and say where these are; what the
program refuses, the schemas refuse where they can."""
import copy
import json
import pathlib
import re
import subprocess
import unittest

from harness import BINARY

try:
    import jsonschema
    import yaml
except ImportError as absent:
    raise unittest.SkipTest(f"{absent.name} is not installed")

ROOT = pathlib.Path(__file__).parents[2]
FILES = sorted((ROOT / "jobs").rglob("*.yaml"))


def schema(what):
    text = subprocess.run([BINARY, "schema", what], capture_output=True, text=True, check=True)
    return jsonschema.Draft202012Validator(json.loads(text.stdout))


class Schemas(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.schemas = {"eqloom": schema("jobs"), "templates": schema("templates")}

    def validator(self, document):
        return self.schemas["eqloom" if "eqloom" in document else "templates"]

    def test_shipped_files(self):
        self.assertGreater(len(FILES), 12)
        for path in FILES:
            with self.subTest(path=path.name):
                document = yaml.safe_load(path.read_text())
                self.assertEqual([f"{list(e.path)}: {e.message}" for e in
                                  self.validator(document).iter_errors(document)], [])

    def test_editors_find_the_schema(self):
        for path in FILES:
            line = path.read_text().splitlines()[0]
            name = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", line)[1]
            is_job = "eqloom" in yaml.safe_load(path.read_text())
            if "start" in path.parts:  # written by `eqloom init` beside the schemas
                continue
            found = path.parent / name
            self.assertEqual(found.name, ["templates.schema.json", "eqloom.schema.json"][is_job])
            kept = subprocess.run([BINARY, "schema", ["templates", "jobs"][is_job]],
                                  capture_output=True, text=True, check=True).stdout
            self.assertEqual(found.read_text(), kept)

    def test_mistakes(self):
        job = yaml.safe_load((ROOT / "jobs/quickstart.yaml").read_text())
        templates = yaml.safe_load((ROOT / "jobs/templates/quickstart.yaml").read_text())
        group = next(iter(templates["groups"]))
        for document, path, value in [
                (job, ["eqloom"], 2), (job, ["nodes", "model", "stepps"], 1),
                (job, ["nodes", "model", "heads"], "many"), (job, ["nodes", "rules"], {"op": "none"}),
                (job, ["nodes", "rules"], {"op": "rules"}), (job, ["notes"], {}),
                (templates, ["templates"], 2), (templates, ["groups", group, "take"], 0),
                (templates, ["groups", group, "template"], []), (templates, ["variables"], {"x": "R"}),
                (templates, ["sets", "1"], [1]), (templates, ["groups", group], {"take": 3})]:
            wrong = copy.deepcopy(document)
            at = wrong
            for key in path[:-1]:
                at = at[key]
            at[path[-1]] = value
            with self.subTest(path=path):
                self.assertFalse(self.validator(document).is_valid(wrong))
        job["nodes"]["rules"] = {"op": "rules", "from": "program"}
        self.assertTrue(self.schemas["eqloom"].is_valid(job))

    def test_what_there_is_no_schema_of(self):
        done = subprocess.run([BINARY, "schema", "rules"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("schemas of jobs and of templates", done.stderr)


if __name__ == "__main__":
    unittest.main()
