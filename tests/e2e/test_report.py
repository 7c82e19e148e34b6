"""The report as one opens it from a folder: what it says of its job, and, in a browser, points that
tell what they are, tables that sort and open, and nothing wider than a phone."""
import datetime
import json
import os
import re
import shutil
import unittest

from browser import CHROMIUM, Browser
from harness import ProjectTest

RULES = "".join(f"rule-{i}: ?a * ?b -> (?b * ?a) + 0 * {i}\n" for i in range(30))


def page_of(p):
    return p.dir / "out" / "small" / "report.html"


class Report(ProjectTest):
    def test_job_date_and_parameters(self):
        day = datetime.datetime(2024, 2, 29, 12, tzinfo=datetime.timezone.utc).timestamp()
        for path in self.p.dir.rglob("*.*"):
            os.utime(path, (day, day))
        self.p.run()
        made = self.p.ids()["small/report.html"]
        first = page_of(self.p).read_bytes()
        line = re.search(rb'<p id="job">(.*?)</p>', first).group(1).decode()
        self.assertRegex(line, r"^Job <b>small</b>: .*; inputs of <time>2024-02-29</time>$")
        for name, value in {"seed": 7, "steps": 6}.items():
            self.assertIn(f"{name} {value}", line)
        # The date of a file is no reason to make the report again, and the record does not have it.
        rules = next(self.p.dir.glob("rules/*.rules"))
        os.utime(rules, (day + 86400, day + 86400))
        self.assertEqual(self.p.run()["nodes_ran"], 0)
        self.assertEqual(page_of(self.p).read_bytes(), first.replace(b"2024-02-29", b"2024-03-01"))
        self.assertEqual(self.p.ids()["small/report.html"], made)
        self.p.eqloom("export", "small/report.html", "-o", "record.html", "--format", "raw")
        self.assertNotIn(b"2024-", (self.p.dir / "record.html").read_bytes())

    def test_same_bytes_elsewhere(self):
        other = self.project()
        shutil.copytree(self.p.dir, other.dir, dirs_exist_ok=True)
        self.p.run()
        other.run("-j", "1")
        self.assertEqual(page_of(self.p).read_bytes(), page_of(other).read_bytes())

    def test_a_value_is_text(self):
        self.p.run("--set", "tfidf-eval.label=<b>&")
        page = page_of(self.p).read_text()
        self.assertIn("tfidf-eval.label &lt;b&gt;&amp;", page)
        self.assertNotIn("<b>&", page)

    def test_digits_are_grouped(self):
        """In all that people read of the page: parameters, cards, tables, charts and captions."""
        self.p.write("templates/small.yaml", "templates: 1\nsets: {a: [1..16]}\n"
                     "groups: {g: {templates: ['{a}*x + tan({a.2}*x)']}}\n")
        self.p.edit("job.yaml", "clusters: merged}\nrefs", "clusters: merged, embeddings: tfidf-vectors}\nrefs")
        self.p.run("--set", "seed=1234567")
        page = page_of(self.p).read_text()
        self.assertIn("seed 1&#x202F;234&#x202F;567", page)
        shown = re.sub(r"(?s)<(style|script|template|math|time)\b.*?</\1>|<[^>]*>", " ", page)
        self.assertRegex(shown, r"\d&#x202F;\d{3} +expressions")
        self.assertEqual([], re.findall(r"(?<![\d.&#x])\d{4,}", re.sub("&#x[0-9A-F]+;", ",", shown)))
        # more clusters than there are hues: they are told apart by shape, too
        self.assertGreater(len(set(re.findall(r'<use href="#([^"]+)"', page))), 2)

    def test_what_is_not_seen_is_shown(self):
        """A label that turns the rest of a line, and one that is no text to a terminal."""
        self.p.edit("job.yaml", "label: trained", 'label: "a\\u202Etxt.b\\x9b\\e"')
        self.p.run()
        page = page_of(self.p).read_text()
        self.assertIn("a\\u202etxt.b\\x9b\\x1b", page)
        self.assertNotRegex(page, "[\u202a-\u202e\u2066-\u2069\x80-\x9f\x1b]")


@unittest.skipUnless(CHROMIUM, "there is no chromium")
class InABrowser(ProjectTest):
    def setUp(self):
        super().setUp()
        self.p.edit("rules/algebra.rules", "group arithmetic\n", "group arithmetic\n" + RULES)
        self.p.edit("job.yaml", "clusters: merged}\nrefs", "clusters: merged, egraphs: egraphs, "
                    "embeddings: tfidf-vectors}\nrefs")
        self.p.run()

    def browser(self, **options):
        b = Browser(**options)
        self.addCleanup(b.close)
        b.open(page_of(self.p).as_uri())
        return b

    def test_no_wider_than_a_phone(self):
        for dark in [False, True]:
            b = self.browser(width=400, dark=dark)
            b.run("document.querySelectorAll('details').forEach(d => d.open = true)")
            self.assertEqual(b.run("document.documentElement.scrollWidth"), 400)
            self.assertEqual(b.problems(), [])
            self.assertEqual(b.hosts() - {""}, set())

    def test_points_tell_what_they_are(self):
        b = self.browser()
        b.run("""(() => {
            const svg = document.querySelector('.scatter'); svg.scrollIntoView();
            const at = svg.querySelector('use').getBoundingClientRect();
            window.spot = {x: at.x + at.width / 2, y: at.y + at.height / 2};
        })()""")
        spot = b.run("spot")
        b.call("Input.dispatchMouseEvent", type="mouseMoved", **spot)
        b.until("document.querySelectorAll('.peek math').length > 3")
        text = b.run("document.querySelector('.peek').innerText")
        self.assertRegex(text, r"cluster \d+ of \d+")
        cosines = b.run("[...document.querySelectorAll('.peek td:first-child')].map(x => +x.textContent)")
        self.assertEqual(len(cosines), 5)
        self.assertEqual(cosines, sorted(cosines, reverse=True))
        # Those of its table are marked by lines, and the keyboard goes on from there.
        self.assertEqual(b.run("document.querySelectorAll('.ties line').length"), 5)
        before = b.run("document.querySelector('.peek').innerHTML")
        b.run("document.querySelector('.scatter').focus()")
        b.key("ArrowRight", 39)
        b.until(f"document.querySelector('.peek').innerHTML !== {json.dumps(before)}")
        b.key("Escape", 27)
        b.until("document.querySelector('.peek').innerHTML === ''")
        self.assertEqual(b.problems(), [])

    def test_tables_sort_and_open(self):
        b = self.browser()
        b.run("window.table = [...document.querySelectorAll('table')].at(-1)")
        shown = "[...table.tBodies[0].rows].filter(r => r.offsetHeight).length"
        rows = b.run("table.tBodies[0].rows.length")
        self.assertGreater(rows, 25)
        self.assertEqual(b.run(shown), 25)
        b.run("document.querySelector('.fold').click()")
        self.assertEqual(b.run(shown), rows)
        b.run("table.querySelectorAll('th button')[3].click()")
        matches = b.run("[...table.tBodies[0].rows].map(r => +r.cells[3].textContent.replace('\\u202f', ''))")
        self.assertEqual(matches, sorted(matches))
        self.assertEqual(b.run("table.querySelectorAll('th')[3].getAttribute('aria-sort')"), "ascending")
        b.run("document.querySelector('.fold').click()")
        self.assertEqual(b.run(shown), 25)


if __name__ == "__main__":
    unittest.main()
