"""check-rules keeps its verdicts: an edited rule is the only one that is checked again, jobs and
checks find each other's, and a store that is absent, held or damaged only costs the work."""
import fcntl
import json
import pathlib
import shutil
import unittest

from harness import ProjectTest

LIBRARY = pathlib.Path(__file__).parents[2] / "jobs/rules"
PLAIN = "group g\nzero: ?a + 0 -> ?a\none: ?a * 1 -> ?a\n"
FALSE = "root: sqrt(?a^2) -> ?a\n"


class CheckRules(ProjectTest):
    def check(self, *args, expect=0):
        result = self.p.eqloom("check-rules", "--json", *args, expect=expect)
        *rules, summary = result.events()
        self.assertEqual(summary["rules"], len(rules))
        self.assertEqual(summary["checked"], sum(not rule["known"] for rule in rules))
        self.assertEqual(summary["known"], sum(rule["known"] for rule in rules))
        self.err = result.err
        return {f"{r['group']}/{r['name']}": r for r in rules}, summary

    def counts(self, *args, expect=0):
        _, summary = self.check(*args, expect=expect)
        return summary["checked"], summary["known"]

    def verdicts(self, ref="check-rules/verdicts"):
        out = self.p.eqloom("export", "--store", "kept", ref, "--format", "jsonl", "-o", "-").out
        return [json.loads(line) for line in out.splitlines()]

    def test_one_edited_rule_of_the_library(self):
        shutil.copytree(LIBRARY, self.p.dir / "library")
        files = [str(f.relative_to(self.p.dir)) for f in sorted(self.p.dir.glob("library/**/*.rules"))]
        before, summary = self.check(*files, "--store", "kept")
        self.assertGreaterEqual(summary["rules"], 800)
        self.assertEqual(summary["known"], 0)
        self.assertEqual(self.counts(*files, "--store", "kept"), (0, summary["rules"]))
        # The library that is built in is these files.
        self.assertEqual(self.counts("--store", "kept"), (0, summary["rules"]))
        self.p.edit("library/trigonometry.rules", "sin-cos: ", "sin-cos: 0 + ")
        self.p.edit("library/powers.rules", "\n", "\n# a comment changes no rule\n\n")
        after, summary = self.check(*files, "--store", "kept")
        self.assertEqual(summary["checked"], 1)
        self.assertEqual([name for name, rule in after.items() if not rule["known"]],
                         ["trigonometry.pythagorean/sin-cos"])
        for name, rule in before.items():
            if name != "trigonometry.pythagorean/sin-cos":
                self.assertEqual((rule["verdict"], rule["points"], rule.get("remark")),
                                 (after[name]["verdict"], after[name]["points"],
                                  after[name].get("remark")), name)

    def test_refuted_rules_are_known_with_witness_and_guard(self):
        self.p.write("my.rules", PLAIN + FALSE)
        first, summary = self.check("my.rules", "--store", "kept", expect=3)
        self.assertEqual(summary["checked"], 3)
        again, summary = self.check("my.rules", "--store", "kept", expect=3)
        self.assertEqual(summary["known"], 3)
        for rule in [*first.values(), *again.values()]:
            del rule["known"]
        self.assertEqual(first, again)
        self.assertTrue(first["g/root"]["witness"] and first["g/root"]["guard"])
        self.assertEqual([r["name"] for r in self.verdicts()], ["one", "root", "zero"])

    def test_other_points_or_seeds_are_other_questions(self):
        self.p.write("my.rules", PLAIN)
        self.assertEqual(self.counts("my.rules", "--store", "kept"), (2, 0))
        self.assertEqual(self.counts("my.rules", "--store", "kept", "--points", "65"), (2, 0))
        self.assertEqual(self.counts("my.rules", "--store", "kept", "--seed", "2"), (2, 0))
        self.assertEqual(self.counts("my.rules", "--store", "kept", "--fresh"), (2, 0))
        self.assertEqual(self.counts("my.rules", "--store", "kept"), (0, 2))

    def test_jobs_and_checks_share(self):
        self.p.run("certified")
        _, summary = self.check("rules/algebra.rules", "--points", "8")
        self.assertEqual(summary["checked"], 0)
        self.p.write("rules/algebra.rules", PLAIN + FALSE)
        self.assertEqual(self.counts("rules/algebra.rules", "--points", "8", expect=3), (3, 0))
        # The false rule is kept as a job has it that allows it, the others as one that does not.
        unsound = self.p.run("certified", "--set", "certified.allow_unsound=true")
        self.assertEqual((unsound["elements_cached"], unsound["elements_ran"]), (1, 2))
        self.p.write("rules/algebra.rules", PLAIN)
        sound = self.p.run("certified")
        self.assertEqual((sound["elements_cached"], sound["elements_ran"]), (2, 0))

    def test_gc_keeps_the_last_list(self):
        self.p.write("my.rules", PLAIN)
        self.p.write("other.rules", "group g\ntwice: ?a + ?a -> 2*?a\n")
        self.check("my.rules", "--store", "kept")
        self.check("other.rules", "--store", "kept")
        self.p.eqloom("gc", "--store", "kept")
        self.assertEqual(self.counts("other.rules", "--store", "kept"), (0, 1))
        self.assertEqual(self.counts("my.rules", "--store", "kept"), (2, 0))
        self.p.eqloom("fsck", "--store", "kept")

    def test_without_a_store_nothing_is_made(self):
        self.p.write("my.rules", PLAIN)
        self.assertEqual(self.counts("my.rules"), (2, 0))
        self.assertFalse((self.p.dir / ".eqloom").exists())

    def test_a_store_that_is_held_costs_the_keeping_only(self):
        self.p.write("my.rules", PLAIN)
        self.check("my.rules", "--store", "kept")
        self.p.write("more.rules", PLAIN + "two: ?a + ?a -> 2*?a\n")
        with open(self.p.dir / "kept/lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertEqual(self.counts("my.rules", "--store", "kept"), (0, 2))
            self.assertNotIn("not kept", self.err)
            self.assertEqual(self.counts("more.rules", "--store", "kept"), (1, 2))
            self.assertIn("verdicts are not kept: ", self.err)
        self.assertEqual(self.counts("more.rules", "--store", "kept"), (1, 2))
        self.assertEqual(self.counts("more.rules", "--store", "kept"), (0, 3))


if __name__ == "__main__":
    unittest.main()
