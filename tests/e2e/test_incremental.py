"""What is redone and what is not: cosmetic changes, edits, early cutoff, chains, other places."""
import json
import os
import re
import shutil
import signal
import subprocess
import unittest

from harness import ProjectTest

ENDLESS = """group g
mul-comm: ?a * ?b <-> ?b * ?a
mul-assoc: (?a * ?b) * ?c <-> ?a * (?b * ?c)
add-comm: ?a + ?b -> ?b + ?a
add-assoc: (?a + ?b) + ?c <-> ?a + (?b + ?c)
distribute: ?a * (?b + ?c) <-> ?a * ?b + ?a * ?c
"""


class Incremental(ProjectTest):
    def test_second_run_runs_nothing(self):
        first = self.p.run()
        self.assertEqual(first["failed"], 0)
        self.assertGreater(first["elements_ran"], 20)
        second = self.p.run()
        self.assertEqual((second["nodes_ran"], second["elements_ran"], second["failed"]), (0, 0, 0))
        self.assertEqual(second["elements"], second["elements_cached"])
        self.assertEqual(first["elements"], second["elements"])

    def test_cosmetic_changes_run_nothing(self):
        self.p.run()
        before = self.p.ids()
        self.p.edit("rules/algebra.rules", "group trigonometry", "# a comment\n\ngroup trigonometry")
        self.p.edit("rules/algebra.rules", "tan(?a)         <-> sin(?a) / cos(?a)",
                    "tan(?a) <-> sin(?a)/cos(?a)   # tangent")
        self.p.edit("job.yaml", "{op: saturate, exprs: seeds, rules: certified, iterations: 4,",
                    "{iterations: 4, rules: certified, exprs: seeds, op: saturate, # why not\n    ")
        self.p.edit("job.yaml", "merged:     {op: merge, clusters: clusters}",
                    "joined:     {clusters: clusters, op: merge}")
        text = (self.p.dir / "job.yaml").read_text().replace("clusters: merged", "clusters: joined")
        (self.p.dir / "job.yaml").write_text(text)
        again = self.p.run()
        self.assertEqual((again["nodes_ran"], again["elements_ran"]), (0, 0))
        after = self.p.ids()
        self.assertEqual(after["small/joined"], before["small/merged"])
        self.assertEqual(after["small/report"], before["small/report"])

    def test_one_rule_edited_is_explained(self):
        self.p.run()
        self.p.edit("rules/algebra.rules", "2 * (sin(?a) * cos(?a))", "(2 * sin(?a)) * cos(?a)")
        why = self.p.eqloom("why", "job.yaml", "egraphs").out
        self.assertIn("trigonometry/double", why)
        plan = self.p.eqloom("plan", "job.yaml").out
        self.assertRegex(plan, r"egraphs +reuse +24 .*24 unaffected")
        result = self.p.run()
        # Certificates of the rules that stayed are not made again: 2 directions of 1 rule.
        events = self.p.eqloom("why", "job.yaml", "certified").out
        self.assertIn("trigonometry/double", events)
        self.assertGreater(result["nodes_ran"], 0)

    def test_more_steps_continue(self):
        self.p.run()
        before = self.p.ids()
        more = self.p.eqloom("run", "job.yaml", "--json", "--set", "steps=10").events()
        node = {e["node"]: e for e in more if e["event"] == "node_done"}
        self.assertEqual(node["model@pooling=mean"]["ran"], 2)
        self.assertEqual(node["model@pooling=mean"]["cached"], 4)
        self.assertNotEqual(self.p.ids()["small/model@pooling=mean"],
                            before["small/model@pooling=mean"])
        back = self.p.run()
        self.assertEqual(back["elements_ran"], 0)
        self.assertEqual(self.p.ids(), before)

    def segments(self, *args):
        """How many segments of the model ran, and how many were there."""
        events = self.p.eqloom("run", "job.yaml", "--json", *args).events()
        node = next(e for e in events
                    if e["event"] == "node_done" and e["node"] == "model@pooling=mean")
        return node["ran"], node["cached"]

    def test_a_schedule_that_changes_later_keeps_what_came_before(self):
        self.assertEqual(self.segments(), (4, 0))  # the initialisation, and two steps each
        self.p.edit("job.yaml", "schedule: constant", "schedule: step\n    decay_every: 4")
        self.assertEqual(self.segments(), (1, 3))
        self.p.edit("job.yaml", "decay_every: 4", "decay_every: 2")
        self.assertEqual(self.segments(), (2, 2))
        self.p.edit("job.yaml", "schedule: step\n    decay_every: 2", "schedule: constant")
        self.assertEqual(self.segments()[0], 0)

    def test_other_data_is_another_training(self):
        self.p.run()
        first = self.p.ids()["small/model@pooling=mean"]
        self.p.edit("templates/small.yaml", "[2..5]", "[2..6]")
        self.assertGreaterEqual(self.segments()[0], 1)  # test_chains.py says how many
        self.assertNotEqual(self.p.ids()["small/model@pooling=mean"], first)
        self.p.edit("templates/small.yaml", "[2..6]", "[2..5]")
        self.assertEqual(self.segments()[0], 0)
        self.assertEqual(self.p.ids()["small/model@pooling=mean"], first)

    def test_same_ids_for_any_threads_and_place(self):
        self.p.run("-j1")
        other = self.project()
        elsewhere = other.dir / "some where"
        elsewhere.mkdir()
        for name in ("rules", "templates", "job.yaml"):
            shutil.move(other.dir / name, elsewhere / name)
        other.dir = elsewhere
        other.run("-j2")
        self.assertEqual(self.p.ids(), other.ids())

    def test_an_edit_that_keeps_size_and_time_is_seen(self):
        self.p.run("seeds")
        path = self.p.dir / "templates" / "small.yaml"
        before, stat = self.p.ids(), path.stat()
        path.write_text(path.read_text().replace("[2..5]", "[2..4]"))
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        self.assertEqual(path.stat().st_size, stat.st_size)
        self.p.run("seeds")
        self.assertNotEqual(self.p.ids()["small/seeds"], before["small/seeds"])

    def test_an_old_name_goes_on_as_a_ref(self):
        self.p.run("seeds")
        before = self.p.ids()
        text = (self.p.dir / "job.yaml").read_text()
        text = text.replace("  seeds:  ", "  exprs:  ").replace("exprs: seeds", "exprs: exprs")
        (self.p.dir / "job.yaml").write_text(text.replace("refs: {", "refs: {small/seeds: exprs, "))
        self.p.run("exprs")
        self.assertEqual(self.p.ids()["small/seeds"], before["small/seeds"])

    def test_variables_have_their_domains(self):
        self.p.write("rules/algebra.rules",
                     "group g\nroot: sqrt(?a^2) -> ?a if nonnegative(?a)\n"
                     "commute: ?a * ?b -> ?b * ?a\n")
        self.p.write("templates/small.yaml",
                     "templates: 1\nvariables: {y: real, n: integer, t: nonnegative}\n"
                     "groups: {g: {templates: ['abs(y)*3', 'y*3', 'sqrt(u^2)*y', 'sqrt(t^2)*y*n']}}\n")
        self.p.run("merged")
        count = self.p.eqloom("show", "small/merged", "--json").out
        # |y| and y are not equal where y is real: nothing is merged, nothing is refuted.
        self.assertEqual(json.loads(count.splitlines()[0])["count"], 4)

    def test_targets(self):
        self.p.eqloom("run", "job.yaml", "seeds", "--json")
        ids = self.p.ids()
        self.assertIn("small/seeds", ids)
        self.assertNotIn("small/egraphs", ids)

    def test_check_finds_nothing(self):
        self.p.run()
        checked = self.p.run("--check")
        self.assertEqual(checked["failed"], 0)

    def test_export_and_report(self):
        result = self.p.eqloom("run", "job.yaml")
        self.assertIn("tf-idf", result.out)
        page = self.p.dir / "out" / "small" / "report.html"
        self.assertIn(str(page.name), result.out)
        html = page.read_text()
        self.assertIn("<svg", html + "<svg" * ("scatter" not in html))
        self.assertIsNone(re.search(r'(src|href)="https?:', html))
        os.remove(page)
        self.p.run()
        self.assertTrue(page.exists())

    def test_a_killed_run_says_how_far_it_came(self):
        # Elements of some 20 ms, of which some are done when the run is killed, and a last one that
        # goes on for ever.
        self.p.edit("job.yaml", "iterations: 4, max_nodes: 500",
                    "iterations: 10000, max_nodes: 100000000")
        self.p.write("rules/algebra.rules", ENDLESS)
        products = [f"sin(x)*(cos(x)*(tan(x)*(sec(x)*(ln(x)*(sqrt(x)*({i}*e^x))))))"
                    for i in range(11, 51)]
        def write(terms):
            listed = ", ".join(f"'{term}'" for term in terms)
            self.p.write("templates/small.yaml",
                         f"templates: 1\ngroups: {{g: {{templates: [{listed}]}}}}\n")
        write([*products, "(x + 1)*(x + 2)*(x + 3)*(x + 4)*(x + 5)"])
        self.p.run("certified", "seeds")
        process = self.p.start("run", "job.yaml", "egraphs", "-j", "1", stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        made = lambda: len(self.p.eqloom("query", "egraph", "--json").out.splitlines())
        while self.killed_ran("small/2") < 1:
            self.assertIsNone(process.poll(), "what goes on for ever ended")
        process.send_signal(signal.SIGKILL)
        process.wait()
        ran, known = self.killed_ran("small/2"), made()
        self.assertTrue(1 <= ran <= known, (ran, known))
        log = self.p.eqloom("log", "small/2").out
        self.assertIn(", killed, ", log)
        self.assertRegex(log, rf"egraphs +unfinished +41 +{ran} ")
        plan = self.p.eqloom("plan", "job.yaml", "egraphs")
        self.assertIn("the last run, small/000002, was killed", plan.err)
        write(products)
        summary = self.p.run("egraphs")
        self.assertEqual(summary["elements_ran"], len(products) - known)
        self.assertNotIn("killed", self.p.eqloom("plan", "job.yaml", "egraphs").err)

    def killed_ran(self, run):
        out = self.p.eqloom("log", run, "--json", expect=None).out
        return sum(n["ran"] for n in map(json.loads, out.splitlines()) if n["node"] == "egraphs")


if __name__ == "__main__":
    unittest.main()
