"""The commands that look at what runs left: log, ls, tag, lineage, diff, query. All of them on one
store, made once."""
import json
import os
import re
import unittest

from harness import Project


class CommandsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.p = Project()
        cls.addClassCleanup(cls.p.close)
        cls.p.run()

    def ok(self, *args):
        return self.p.eqloom(*args).out

    def lines(self, *args):
        return [json.loads(line) for line in self.ok(*args, "--json").splitlines()]

    def refused(self, *args, status=2):
        return self.p.eqloom(*args, expect=status).err


class LogAndLs(CommandsTest):
    def test_log_sums_runs_up(self):
        (run,) = [r for r in self.lines("log") if r["run"].endswith("/000001")]
        self.assertEqual(run["state"], "done")
        self.assertEqual(run["failed"], 0)
        self.assertGreater(run["nodes_ran"], 3)
        self.assertGreater(run["elements_ran"], 10)
        self.assertEqual(run["elements"], run["elements_ran"] + run["elements_cached"])
        nodes = self.lines("log", run["run"])
        self.assertEqual(len(nodes), run["nodes"])
        self.assertEqual(sum(n["ran"] for n in nodes), run["elements_ran"])
        self.assertRegex(self.ok("log", run["run"]), "node +state +elements +ran +reused +cached")
        # A job's number may be written short; its file names it too.
        short = run["job"] + "/1"
        self.assertEqual(self.ok("log", short), self.ok("log", run["run"]))
        self.assertEqual(self.ok("log", "job.yaml"), self.ok("log", run["job"]))

    def test_a_job_by_name_is_told_its_file(self):
        self.assertIn("job 'small' was last run from job.yaml", self.refused("plan", "small"))

    def test_log_of_nothing(self):
        self.assertIn("no run is called 'nothing'", self.refused("log", "nothing"))

    def test_ls_of_nothing_says_so(self):
        r = self.p.eqloom("ls", "nothing/")
        self.assertEqual(r.out, "")
        self.assertIn("no name begins with 'nothing/'", r.err)


class Tags(CommandsTest):
    def test_tag_untag(self):
        ids = self.p.ids()
        name, other = [n for n in ids if "/" in n][:2]
        self.ok("tag", "v1", name)
        self.assertEqual(self.p.ids()["tag/v1"], ids[name])
        self.ok("tag", "v1", name)  # the same again
        self.assertIn("is taken", self.refused("tag", "v1", other))
        self.ok("tag", "--force", "v1", other)
        self.assertEqual(self.p.ids()["tag/v1"], ids[other])
        self.assertIn("did you mean 'v1'", self.refused("untag", "v11"))
        self.ok("untag", "v1")
        self.assertEqual(self.p.ids(), ids)
        self.assertIn("cannot be a ref", self.refused("tag", "a b", name))
        self.assertIn("'nothing'", self.refused("tag", "v1", "nothing"))

    def test_a_tag_keeps_what_it_names(self):
        p = Project()
        self.addCleanup(p.close)
        p.run("seeds")
        (name,) = [n for n in p.ids() if n.endswith("/seeds")]
        old = p.ids()[name]
        p.eqloom("tag", "kept", name)
        p.edit("templates/" + os.listdir(p.dir / "templates")[0], "take: 14", "take: 9")
        p.run("seeds")
        self.assertNotEqual(p.ids()[name], old)
        p.eqloom("gc", "--keep-runs", "0")
        p.eqloom("export", "tag/kept", "-f", "jsonl")
        p.eqloom("fsck")
        p.eqloom("untag", "kept")
        p.eqloom("gc", "--keep-runs", "0")
        p.eqloom("show", old, expect=2)


class Lineage(CommandsTest):
    def element(self, ref, i=0):
        return self.lines("show", ref)[0]["elements"][i]

    def egraphs_of(self, cluster):
        return {i for item in self.lines("lineage", cluster) if item["kind"] == "egraph"
                for i in item["ids"]}

    def test_up_to_files_and_seeds(self):
        up = self.lines("lineage", self.element("small/clusters"))
        self.assertEqual(up[0]["made_by"]["op"], "extract")
        self.assertEqual(up[0]["made_by"]["params"]["seed"], "7")
        kinds = [item["kind"] for item in up]
        self.assertIn("egraph", kinds)
        self.assertIn("expr", kinds)
        files = {item["name"] for item in up if item["kind"] == "file"}
        self.assertTrue(any(f.startswith("rules/") for f in files), files)
        self.assertTrue(any(f.startswith("templates/") for f in files), files)

    def test_down_to_everything_that_used_it(self):
        below = self.lines("lineage", "--down", self.element("small/rules", 2))  # add-comm
        names = {item["name"] for item in below}
        for node in ["model@pooling=max", "tfidf-eval", "report", "report.html"]:
            self.assertIn("small/" + node, names)
        self.assertNotIn("small/vocabulary", names)
        # What one element led to is that element's own, as far as maps go.
        egraph = self.element("small/egraphs")
        (clusters,) = [i for i in self.lines("lineage", "-d", egraph) if i["kind"] == "cluster"]
        self.assertEqual(len(clusters["ids"]), 1)
        self.assertEqual(self.egraphs_of(clusters["ids"][0]), {egraph})

    def test_a_rule_leads_to_where_it_matched(self):
        def ids_of(items, kind):
            return {i for item in items if item["kind"] == kind for i in item["ids"]}
        def name_of(rule):
            return f"{rule['group']}/{rule['name']}"
        show = lambda ref: self.lines("show", ref)[0]["value"]
        egraphs = {i: {r["rule"] for r in show(i)["rules"]}
                   for i in self.lines("show", "small/egraphs")[0]["elements"]}
        clusters = {i: self.egraphs_of(i)
                    for i in self.lines("show", "small/clusters")[0]["elements"]}
        rules = {name_of(show(i)): i for i in self.lines("show", "small/rules")[0]["elements"]}
        counts = {name: sum(name in matched for matched in egraphs.values()) for name in rules}
        by_count = sorted(rules, key=lambda name: counts[name])
        few = next(name for name in by_count if counts[name])
        self.assertLess(counts[few], len(egraphs))
        for name in {by_count[0], few, by_count[-1]}:
            below = self.lines("lineage", "--down", rules[name])
            expected = {i for i, matched in egraphs.items() if name in matched}
            self.assertEqual(ids_of(below, "egraph"), expected, name)
            self.assertEqual(ids_of(below, "cluster"),
                             {i for i, of in clusters.items() if of & expected})
            self.assertEqual("checkpoint" in {i["kind"] for i in below}, bool(expected))
            text = self.ok("lineage", "--down", rules[name])
            for egraph in sorted(expected)[:4]:
                self.assertIn(egraph[:12], text)
        # And back: the rules that matched, and no others, each down to its text.
        egraph = max(egraphs, key=lambda i: len(egraphs[i]))
        up = self.lines("lineage", egraph)
        self.assertEqual({i["name"] for i in up if i["kind"] == "rule" and len(i["ids"]) == 1
                          and not i["elements"]}, egraphs[egraph])
        self.assertLessEqual({rules[name] for name in egraphs[egraph]}, ids_of(up, "rule"))

    def test_up_and_down_agree(self):
        report = self.p.ids()["small/report"]
        for item in self.lines("lineage", report):
            if item["kind"] == "file" or item["above"] or item["ids"] == [report]:
                continue
            below = self.lines("lineage", "--down", item["ids"][0])
            self.assertIn([report], [i["ids"] for i in below], item)

    def test_forms(self):
        text = self.ok("lineage", "report")
        self.assertIn("(above)", text)
        self.assertIn("nothing was made with it", self.ok("lineage", "--down", "report"))


class Why(CommandsTest):
    def test_elements_without_an_action_of_their_own(self):
        rule = self.lines("show", "small/rules")[0]["elements"][0]
        text = self.ok("why", rule)
        self.assertRegex(text, r"element   of collection [0-9a-f]{8}  small/")
        self.assertIn("made by   op rules", text)
        self.assertIn("from      files: ", text)

    def test_a_checkpoint_on_the_way_is_told_by_its_segment(self):
        for checkpoint in self.lines("query", "checkpoint", ".value.step == 4"):
            pooling = re.search(r"pooling=(\w+)", self.ok("show", checkpoint["id"]))[1]
            text = self.ok("why", checkpoint["id"])
            self.assertRegex(text, rf"segment   .*pooling={pooling} .*batch=8 .*steps 2-4\n")
            self.assertIn(f"node model@pooling={pooling}: ran", text)
            self.assertIn("last run  small/000001 (done): made in this run", text)


class Query(CommandsTest):
    def ids(self, *args):
        return [f["id"] for f in self.lines("query", *args)]

    def test_query_agrees_with_show(self):
        ids = self.lines("show", "small/clusters")[0]["elements"]
        sizes = {i: len(self.lines("show", i)[0]["value"]["members"]) for i in ids}
        middle = sorted(sizes.values())[len(sizes) // 2]
        program = f".value.members | length | select(. >= {middle})"
        found = self.lines("query", "cluster", program, "--job", "small", "--node", "clusters")
        self.assertEqual([f["id"] for f in found], [i for i in ids if sizes[i] >= middle])
        for f in found:
            self.assertEqual(f["yields"], sizes[f["id"]])
        # Clusters, merged and parts hold the same: each is named once.
        everywhere = self.ids("cluster", "--job", "small")
        self.assertEqual(len(everywhere), len(set(everywhere)))
        few = self.p.eqloom("query", "cluster", "--node", "clusters", "--limit", "2")
        self.assertEqual(len(few.out.splitlines()), 2)
        self.assertIn("and more", few.err)

    def test_what_a_program_yields(self):
        sines = self.lines("query", "expr", '.value.prefix | test("\\\\bsin\\\\b")')
        self.assertTrue(sines)
        for f in sines:
            self.assertIn("sin(", f["label"])
            self.assertIs(f["yields"], True)
        infix = self.lines("query", "expr", '.value.infix | test("sin")')
        self.assertEqual([f["id"] for f in infix], [f["id"] for f in sines])
        latex = self.lines("query", "expr", ".value.latex", "--latex")
        self.assertIn(r"\sin", " ".join(f["yields"] for f in latex))
        shown = self.p.eqloom("show", sines[0]["id"], "--latex").out
        self.assertRegex(shown, r"(?m)^latex: .*\\sin")
        self.assertRegex(self.p.eqloom("show", sines[0]["id"]).out, r"(?m)^infix: .*sin\(")
        self.assertEqual(len(self.ids("checkpoint", ".value.step == 6")), 2)  # two poolings
        self.assertIn("no cluster was found", self.p.eqloom("query", "cluster", ".value.unsound").err)
        text = self.ok("query", "checkpoint", ".value.metrics[-1].name")
        self.assertRegex(text, '^[0-9a-f]{12}  step \\d+  "\\w+"\n')
        for program, yields in [(".missing", None), ("empty", None), (".bytes > 1e9", None),
                                ('.bytes, .kind | type == "string"', True),
                                ("{kind}", {"kind": "checkpoint"}), (".kind | length", 10)]:
            self.assertEqual([f["yields"] for f in self.lines("query", "checkpoint", program)],
                             [] if yields is None else [yields] * len(self.ids("checkpoint")), program)
        # Any output that is neither false nor null selects.
        self.assertEqual(self.ids("checkpoint", "false, null, 1"), self.ids("checkpoint"))

    def test_egraphs_as_pictures_and_grammars(self):
        egraph = self.lines("show", "small/egraphs")[0]["elements"][0]
        classes = len(self.lines("show", egraph)[0]["value"]["class_sizes"])
        dot = self.ok("show", egraph, "--dot")
        self.assertTrue(dot.startswith("digraph egraph {") and dot.endswith("}\n"))
        self.assertEqual(dot.count("subgraph cluster_"), classes)
        self.assertEqual(dot.count("penwidth=3"), 1)  # the root
        grammar = self.ok("show", egraph, "--grammar").splitlines()
        self.assertEqual(len(grammar), classes)
        for line in grammar:
            self.assertRegex(line, r"^e\d+ -> ")
        self.assertIn("write an egraph, and this is collection",
                      self.refused("show", "small/egraphs", "--dot"))

    def test_op_and_time(self):
        every = self.ids("checkpoint")
        self.assertEqual(self.ids("checkpoint", "--op", "train", "--since", "2020-01-01"), every)
        self.assertEqual(self.ids("checkpoint", "--op", "report"), [])
        self.assertEqual(self.ids("checkpoint", "--until", "2020-01-01T10:00"), [])
        for kind in ("cluster", "expr"):  # expressions of a source have no action of their own
            self.assertEqual(self.ids(kind, "--since", "2020-01-01"), self.ids(kind))

    def test_refusals(self):
        err = self.refused("query", "cluster", ".value.members >")
        self.assertIn("error: jq cannot read the program: syntax error", err)
        self.assertNotIn("Unix shell", err)
        err = self.refused("query", "checkpoint", ".value.step.loss")
        self.assertIn("error: jq: Cannot index number with", err)
        self.assertRegex(err, "the record is [0-9a-f]{12}")
        self.assertIn("module not found", self.refused("query", "expr", 'import "no" as n; .'))
        self.assertIn("did you mean 'train'?", self.refused("query", "cluster", "--op", "trian"))
        self.assertIn("did you mean 'cluster'?", self.refused("query", "clusters"))
        self.assertIn("takes a time", self.refused("query", "rule", "--since", "2026-06-31"))
        self.assertIn("small/nothing", self.refused("query", "rule", "--job", "small", "--node",
                                                    "nothing"))


class Diff(unittest.TestCase):
    """Two runs that differ in a template and in the steps of training."""

    @classmethod
    def setUpClass(cls):
        cls.p = Project()
        cls.addClassCleanup(cls.p.close)
        cls.p.run()
        for node in ["clusters", "model@pooling=mean", "seeds"]:
            cls.p.eqloom("tag", "old/" + node, "small/" + node)
        cls.p.edit("templates/" + os.listdir(cls.p.dir / "templates")[0], "take: 14", "take: 12")
        cls.p.run("--set", "steps=8")

    def diff(self, a, b, expect=3):
        out = self.p.eqloom("diff", a, b, "--json", expect=expect).out
        return [json.loads(line) for line in out.splitlines()]

    def elements(self, ref):
        return json.loads(self.p.eqloom("show", ref, "--json").out)["elements"]

    def test_collections(self):
        before, after = self.elements("tag/old/seeds"), self.elements("small/seeds")
        events = self.diff("tag/old/seeds", "small/seeds")
        self.assertEqual({e["id"] for e in events if e["event"] == "removed"},
                         set(before) - set(after))
        self.assertEqual({e["id"] for e in events if e["event"] == "added"},
                         set(after) - set(before))
        self.assertEqual(events[-1], {"event": "summary", "same": False})
        # The other way round, added is removed.
        back = self.diff("small/seeds", "tag/old/seeds")
        self.assertEqual({e["id"] for e in back if e["event"] == "added"},
                         {e["id"] for e in events if e["event"] == "removed"})

    def test_messages(self):
        fields = {e["field"]: e for e in self.diff("old/model@pooling=mean",
                                                   "small/model@pooling=mean")
                  if e["event"] == "field"}
        self.assertEqual((fields["step"]["before"], fields["step"]["after"]), ("6", "8"))
        self.assertIn("metrics.loss", fields)
        self.assertNotIn("architecture", fields)
        text = self.p.eqloom("diff", "old/model@pooling=mean", "small/model@pooling=mean",
                             expect=3).out
        self.assertRegex(text, r"step +6 +8 +\+2")

    def test_runs(self):
        events = self.diff("small/1", "small/2")
        nodes = {e["node"]: e for e in events if e["event"] == "node"}
        self.assertEqual(nodes["rules"]["verdict"], "same")
        self.assertEqual(nodes["seeds"]["verdict"], "differs")
        changed = self.diff("tag/old/seeds", "small/seeds")
        self.assertEqual([nodes["seeds"][k] for k in ("added", "removed")],
                         [len([e for e in changed if e["event"] == k])
                          for k in ("added", "removed")])
        self.assertRegex(self.p.eqloom("diff", "small/1", "small/2", expect=3).out,
                         r"seeds +differs +\w+ +\w+ +\+\d+ -[1-9]")
        self.assertEqual(nodes["model@pooling=max"]["params"], "steps: 6 -> 8")
        self.assertTrue([e for e in events if e["event"] == "field" and e["of"] == "report"])
        self.assertEqual(self.diff("small/1", "small", 3)[-1], events[-1])

    def test_the_same(self):
        for pair in [("small/1", "small/1"), ("small/report", "small/report")]:
            self.assertIn("the same", self.p.eqloom("diff", *pair).out)

    def test_refusals(self):
        self.assertIn("different kinds",
                      self.p.eqloom("diff", "small/report", "best", expect=2).err)
        self.assertIn("nothing in common",
                      self.p.eqloom("diff", "small/seeds", "small/rules", expect=2).err)
        self.assertIn("no run is called",
                      self.p.eqloom("diff", "small/1", "small/9", expect=2).err)


if __name__ == "__main__":
    unittest.main()
