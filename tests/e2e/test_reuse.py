"""After an edit of the rules, what the edit cannot have touched is proved to stand, and everything
is as in a run from scratch."""
import json
import unittest

from harness import ProjectTest


class Reuse(ProjectTest):
    def compare_with_scratch(self, edits, least):
        self.p.run()
        other = self.project()
        for project in (self.p, other):
            for edit in edits:
                project.edit(*edit)
        again = self.p.run()
        scratch = other.run()
        self.assertEqual((again["failed"], scratch["failed"]), (0, 0))
        self.assertGreaterEqual(again["elements_reused"], least)
        self.assertEqual(scratch["elements_reused"], 0)
        self.assertEqual(again["elements"], again["elements_ran"] + again["elements_cached"] +
                         again["elements_reused"])
        self.assertEqual(self.p.ids(), other.ids())
        self.p.eqloom("fsck")
        self.assertEqual(self.p.run()["elements_ran"], 0)
        self.assertEqual(self.p.run("--check")["failed"], 0)
        return again

    def test_edited_rule(self):
        self.compare_with_scratch(
            [("rules/algebra.rules", "2 * (sin(?a) * cos(?a))", "(2 * sin(?a)) * cos(?a)")], 1)
        why = self.p.eqloom("why", "job.yaml", "egraphs").out
        self.assertIn("trigonometry/double", why)
        self.assertIn("24 unaffected (2 new or edited rules match nowhere: 1 by an equal "
                      "left side, 1 by the operators)", why)
        # What stands below it was not made again, and that is said where it begins.
        log = self.p.eqloom("log", "small/2", "--json").out
        said = {n["node"]: n["why"] for n in map(json.loads, log.splitlines())}
        self.assertEqual(said["clusters"], "its inputs came out the same: egraphs")
        self.assertEqual(said["merged"], "")
        why = self.p.eqloom("why", "job.yaml", "clusters").out
        self.assertIn("cached: its inputs came out the same: egraphs", why)

    def test_why_of_artifacts_after_an_edit(self):
        def elements(node):
            return json.loads(self.p.eqloom("show", "small/" + node, "--json").out)["elements"]
        def why(artifact):
            return self.p.eqloom("why", artifact).out
        self.p.run()
        before = elements("egraphs")
        self.p.edit("rules/algebra.rules", "tan(?a)         <-> sin(?a)",
                    "tan(?a)         <-> 1 * sin(?a)")
        self.p.run()
        after = elements("egraphs")
        (gone, *_), (new, *_) = set(before) - set(after), set(after) - set(before)
        self.assertIn("not current: its inputs have changed; node egraphs: ran",
                      why(gone))
        self.assertIn("made in this run; node egraphs: ran", why(new))
        stands = why(next(i for i in after if i in before))
        self.assertRegex(stands, "made      in run small/000001")
        self.assertIn("still current; node egraphs: ran",
                      stands)
        self.assertRegex(stands, "reused    in run small/000002: .* match nowhere")
        # Two nodes work with op and parameters of this one: the one that gives it is named.
        self.assertIn("; node test-tokens: ", why(elements("test-tokens")[0]))
        self.assertNotIn("; node train-tokens: ", why(elements("test-tokens")[0]))
        # Where two nodes give the same, both are.
        self.p.edit("job.yaml", "  merged:", "  again: {op: saturate, exprs: seeds, rules: certified,"
                    " iterations: 4, max_nodes: 500}\n  merged:")
        self.p.run()
        self.assertRegex(why(after[0]), "; node egraphs: cached.*; node again: cached")

    def test_added_rule_that_matches_nowhere(self):
        again = self.compare_with_scratch(
            [("rules/algebra.rules", "group trigonometry",
              "group unrelated\nnowhere: asech(acoth(?a)) -> acoth(?a) - acoth(?a) + "
              "asech(acoth(?a))\n\ngroup trigonometry")], 20)
        self.assertLess(again["elements_ran"], 5)


    def test_a_leaf_made_in_the_last_iteration_is_seen(self):
        # y - y becomes 0 in the only iteration, and a later rule of the same iteration sees it.
        self.p.write("rules/algebra.rules", "group g\na-sub: ?a - ?a -> 0\n")
        self.p.write("templates/small.yaml",
                     "templates: 1\ngroups: {g: {templates: ['x + (y - y)']}}\n")
        self.p.edit("job.yaml", "iterations: 4", "iterations: 1")
        self.p.run("egraphs")
        self.p.write("rules/algebra.rules",
                     "group g\na-sub: ?a - ?a -> 0\nb-add: ?a + 0 -> ?a\n")
        self.p.run("egraphs")
        self.assertEqual(self.p.run("egraphs", "--check")["failed"], 0)


if __name__ == "__main__":
    unittest.main()
