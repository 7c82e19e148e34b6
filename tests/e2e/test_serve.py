"""`eqloom serve`: what pages say, against what commands print; requests that mean harm; and pages in a
browser, where there is one."""
import html
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
import unittest
import urllib.parse

from browser import CHROMIUM, Browser
from harness import BINARY, TIMEOUT_S, Project

INDEX = """
  corpus-tokens:  {op: tokenize, clusters: merged, vocabulary: vocabulary}
  corpus-vectors: {op: embed, batches: corpus-tokens, checkpoint: "model@pooling=mean"}
  index:          {op: index, embeddings: corpus-vectors, checkpoint: "model@pooling=mean"}
refs:"""
PAGES = ["/", "/search?q=sin(x)%5E2", "/explain?a=sin(x)%5E2&b=1-cos(x)%5E2", "/names", "/job?name=small",
         "/node?ref=small/egraphs", "/run?name=small/1", "/runs?a=small/1&b=small/1", "/record?ref=small/clusters",
         "/record?ref=small/report", "/record?ref=best", "/lineage?ref=best", "/lineage?ref=small/rules&down=1",
         "/read?a=sin%202x"]


class Server:
    def __init__(self, project, *args):
        self.process = project.start("serve", "--port", "0", *args, stdout=subprocess.PIPE)
        self.address = self.process.stdout.readline().strip().rstrip("/")
        self.port = int(self.address.rsplit(":", 1)[1])

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(timeout=TIMEOUT_S)
        self.process.stdout.close()
        return status

    def raw(self, data, read=True):
        with socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT_S) as s:
            s.sendall(data)
            answer = b""
            while read and (more := s.recv(1 << 16)):
                answer += more
            return answer

    def ask(self, target, method="GET", host=None, headers=()):
        """Status, headers, body."""
        lines = [f"{method} {target} HTTP/1.1", f"Host: {host or '127.0.0.1:%d' % self.port}",
                 "Connection: close", *headers, "", ""]
        head, _, body = self.raw("\r\n".join(lines).encode("utf-8", "surrogateescape")).partition(b"\r\n\r\n")
        first, *rest = head.decode().split("\r\n")
        fields = {line.split(":", 1)[0].lower(): line.split(":", 1)[1].strip() for line in rest}
        return int(first.split()[1]), fields, body.decode("utf-8")


def address(path, **fields):
    return path + "?" + urllib.parse.urlencode(fields, quote_via=urllib.parse.quote)


class Base(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.p = Project()
        cls.addClassCleanup(cls.p.close)
        cls.p.edit("job.yaml", "\nrefs:", INDEX)
        cls.p.eqloom("run", "job.yaml")
        cls.p.eqloom("tag", "index", "small/index")
        cls.server = Server(cls.p)
        cls.addClassCleanup(cls.server.process.wait)
        cls.addClassCleanup(cls.server.process.stdout.close)
        cls.addClassCleanup(cls.server.process.kill)

    def page(self, target, status=200):
        got, headers, body = self.server.ask(target)
        self.assertEqual(got, status, body)
        self.assertIn("default-src 'none'", headers["content-security-policy"])
        self.assertNotIn("unsafe", headers["content-security-policy"])
        return body

    def lines(self, *args, expect=0):
        return [json.loads(line) for line in self.p.eqloom(*args, "--json", expect=expect).out.splitlines()]


class Pages(Base):
    def test_neighbours_are_those_of_the_command(self):
        body = self.page("/search?q=sin(x)%5E2&neighbours=5")
        [answer] = self.lines("search", "sin(x)^2", "-k", "5")
        rows = re.findall(r"<tr><td>([\d.-]+)</td>.*?class=\"verdict (\w+)\"[^>]*>", body)
        self.assertEqual(rows, [(f"{x['similarity']:.4f}", x["verdict"]) for x in answer["neighbours"]])
        self.assertGreaterEqual(body.count("<math"), 6)
        self.assertIn("eqloom search --neighbours=5 -- 'sin(x)^2'", html.unescape(body))

    def test_latex_is_read(self):
        body = self.page(address("/search", q=r"\sin^2 x", neighbours="1"))
        self.assertIn("<h2>Nearest to <math", body)
        self.assertEqual(body.split("<h2>")[1].split("</h2>")[0],
                         self.page("/search?q=sin(x)%5E2&neighbours=1").split("<h2>")[1].split("</h2>")[0])

    def test_proofs_step_by_step(self):
        body = self.page(address("/explain", a="tan(x)*cos(x)", b="sin(x)"))
        [answer] = self.lines("explain", "tan(x)*cos(x)", "sin(x)")
        self.assertIn('class="verdict proved"', body)
        self.assertEqual(re.findall(r'<span class="rule">([^<,]*)', body), [s["rule"] for s in answer["steps"]])
        refuted = self.page(address("/explain", a="sin(x)", b="x"))
        self.assertIn('class="verdict refuted"', refuted)
        [answer] = self.lines("explain", "sin(x)", "x", expect=3)
        self.assertIn(answer["witness"], refuted)
        self.assertIn("for x:real", self.page(address("/explain", a="sqrt(x^2)", b="abs(x)", domain="x:real")))

    def test_two_domains(self):
        body = self.page(address("/explain", a="sqrt(x^2)*sqrt(y^2)", b="abs(x)*abs(y)", domain="x:real, y:real"))
        self.assertIn("--domain=x:real --domain=y:real", body)

    def test_what_is_read_is_said(self):
        body = self.page("/read?a=sin%202x")
        [answer] = self.lines("read", "sin 2x")
        for text in [answer["prefix"], answer["latex"], *answer["notes"]]:
            self.assertIn(html.escape(text, quote=False).replace('"', "&quot;"), body)

    def test_graph_and_staleness(self):
        body = self.page("/job?name=small")
        nodes = self.lines("status", "job.yaml")
        self.assertEqual(body.count('class="node '), len(nodes))
        self.assertEqual(body.count('<path class="edge"'), sum(len(n["inputs"]) for n in nodes))
        self.assertIn("All is up to date", body)
        rules = next(self.p.dir.glob("rules/*.rules"))
        text = rules.read_text()
        try:
            rules.write_text(text + "\nextra: cosh(-?a) -> cosh(?a)\n")
            stale = self.page("/job?name=small")
            self.assertIn("nodes would run again", stale)
            self.assertIn('class="node stale"', stale)
            [status] = [n for n in self.lines("status", "job.yaml") if n["node"] == "rules"]
            self.assertIn(html.escape(status["why"], quote=False), stale)
        finally:
            rules.write_text(text)

    def test_file_names_beyond_ascii(self):
        path = self.p.dir / "rules" / "größen.rules"
        path.write_text("extra: cosh(-?a) -> cosh(?a)\n")
        try:
            self.assertIn("größen.rules", self.page("/node?ref=small/rules"))
        finally:
            path.unlink()

    def test_runs_have_curves(self):
        body = self.page("/run?name=small/1")
        self.assertEqual(body.count('aria-label="loss, from'), 2)  # of both variants of the model
        self.assertIn('class="curve second"', self.page("/runs?a=small/1&b=small/1"))

    def test_two_runs_say_what_changed(self):
        self.p.eqloom("run", "job.yaml", "--set", "steps=8")
        try:
            body = self.page("/runs?a=small/1&b=small/2")
            changes = self.lines("diff", "small/1", "small/2", expect=None)
            fields = [x for x in changes if x["event"] == "field"]
            self.assertTrue(fields)
            figures = body.split("<h2>Figures</h2>")[1].split("</table>")[0]
            self.assertEqual(re.findall(r'<th scope="row">(.*?)</th><td>(.*?)</td><td>(.*?)</td><td>(.*?)</td>', figures),
                             [(x["of"], x["field"], x["before"], x["after"]) for x in fields])
            [node] = [x for x in changes if x.get("node") == "model@pooling=max"]
            self.assertIn(html.escape(node["params"]), body)
        finally:
            self.p.eqloom("run", "job.yaml")

    def test_records_clusters_lineage(self):
        [cluster] = self.lines("show", "small/clusters", "--limit", "1")
        body = self.page("/record?ref=" + cluster["elements"][0])
        [record] = self.lines("show", cluster["elements"][0])
        self.assertEqual(body.count("<math"), len(record["value"]["members"]) + 1)
        self.assertIn("made by", body)
        lineage = self.page("/lineage?ref=small/clusters")
        for item in self.lines("lineage", "small/clusters"):
            self.assertIn(item["ids"][0], lineage)
        names = self.page("/names")
        for item in self.lines("ls"):
            self.assertIn(item["id"], names)

    def test_lineage_says_of_what_and_leads_back(self):
        up, down = self.page("/lineage?ref=best"), self.page("/lineage?ref=small/rules&down=1")
        self.assertIn("<h1>What best is made from</h1>", up)
        self.assertIn('<a href="/lineage?ref=best&amp;down=1">What is made with it</a>', up)
        self.assertIn("<h1>What is made with small/rules</h1>", down)
        self.assertIn('<a href="/lineage?ref=small/rules">What it is made from</a>', down)
        self.assertIn('<a href="/record?ref=small/rules">The record</a>', down)
        self.assertIn("small/eval<wbr>@pooling=mean</a>", down)

    def test_pages_are_well_formed(self):
        from html.parser import HTMLParser

        class Balance(HTMLParser):
            def __init__(self):
                super().__init__()
                self.open, self.faults, self.ids = [], [], []

            def handle_starttag(self, tag, attrs):
                self.ids += [v for k, v in attrs if k == "id"]
                if any(k.startswith("on") or k == "style" for k, _ in attrs):
                    self.faults.append(attrs)
                if tag not in ("meta", "wbr", "link", "input", "br", "li"):
                    self.open.append(tag)

            def handle_startendtag(self, tag, attrs):
                pass

            def handle_endtag(self, tag):
                if tag != "li" and (not self.open or self.open.pop() != tag):
                    self.faults.append(tag)
        for target in PAGES:
            check = Balance()
            body = self.page(target)
            check.feed(body)
            self.assertEqual((check.faults, check.open), ([], []), target)
            self.assertEqual(len(check.ids), len(set(check.ids)), target)
            for part in ['<html lang="en">', "<main ", "<nav aria-label", "<h1>", "<footer>"]:
                self.assertEqual(body.count(part), 1, (target, part))

    def test_what_is_missing(self):
        self.page("/nothing", 404)
        self.page("/record?ref=nothing", 422)
        self.page("/job?name=nothing", 404)
        self.page(address("/explain", a="x+", b="x"), 422)


class Beside(Base):
    def test_a_run_goes_on_undisturbed(self):
        held = self.p.hold()
        try:
            body = self.page("/")
            self.assertIn("data-live", body)
            run = re.search(r'/run\?name=([^"]*)', body).group(1)
            for _ in range(5):
                self.assertIn("data-live", self.page("/run?name=" + run))
            self.assertIsNone(held.poll())
        finally:
            held.send_signal(signal.SIGINT)
            self.assertEqual(held.wait(timeout=TIMEOUT_S), 130)
        self.assertIn("interrupted", self.page("/run?name=" + run))
        self.assertNotIn("data-live", self.page("/"))
        self.p.eqloom("fsck")

    def test_it_ends_at_a_signal(self):
        server = Server(self.p)
        slow = socket.create_connection(("127.0.0.1", server.port))
        slow.sendall(b"GET /explain?a=x&b=")
        self.assertEqual(server.close(), 0)
        slow.close()

    def test_a_port_that_is_taken(self):
        done = self.p.eqloom("serve", "--port", str(self.server.port), expect=1)
        self.assertIn("cannot listen", done.err)
        self.assertIn("numeric", self.p.eqloom("serve", "--address", "evil.example", expect=2).err)


class Harm(Base):
    def status(self, *args, **kwargs):
        return self.server.ask(*args, **kwargs)[0]

    def test_hosts_and_origins(self):
        for host in ["localhost", f"localhost:{self.server.port}", "127.0.0.1", "[::1]:1", "192.0.2.1:80"]:
            self.assertEqual(self.status("/style.css", host=host), 200, host)
        for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "127.0.0.1:80:80", "[::1",
                     "localhost:x", "[" + "1" * 500 + "]", "a" * 5000, "1", "[localhost]"]:
            self.assertEqual(self.status("/", host=host), 421, host)
        self.assertEqual(self.status("/style.css", headers=["Origin: http://evil.example"]), 403)
        self.assertEqual(self.status("/style.css", headers=["Origin: null"]), 403)
        self.assertEqual(
            self.status("/style.css", headers=["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"]), 403)
        self.assertEqual(
            self.status("/style.css", headers=["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"]), 200)

    def test_only_reading(self):
        before = self.lines("ls")
        for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "GETX"]:
            self.assertEqual(self.status("/", method=method, headers=["Content-Length: 0"]), 405, method)
        self.assertEqual(self.status("/", method="POST", headers=["Content-Length: 5", "", "abcde"]), 405)
        self.assertEqual(self.lines("ls"), before)

    def test_requests_that_are_none(self):
        for data in [b"\0" * 1000 + b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\r\n" * 999,
                     b"GET / HTTP/1.1\r\nHost: " + b"a" * 100000 + b"\r\n\r\n",
                     b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
                     b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 9999 + b"\r\n"]:
            try:
                answer = self.server.raw(data)
            except OSError:
                answer = b""  # hung up on
            self.assertRegex(answer.split(b"\r\n")[0], rb"^$|^HTTP/1.[01] (4|5)\d\d")
        self.page("/read?a=x")

    def test_texts_stay_texts(self):
        markup = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>&amp;\u202etxt\x9b"
        for target in [address("/search", q=markup), address("/explain", a=markup, b=markup, domain=markup),
                       address("/read", a=markup, language=markup), address("/record", ref=markup),
                       address("/job", name=markup), address("/run", name=markup), address("/node", ref=markup),
                       address("/runs", a=markup, b=markup), address("/lineage", ref=markup),
                       address("/names", prefix=markup), "/" + urllib.parse.quote(markup)]:
            body = self.server.ask(target)[2]
            self.assertNotIn("<script>alert", body, target)
            self.assertNotIn("<img", body, target)
            self.assertNotRegex(body, "[\u202a-\u202e\x80-\x9f]", target)

    def test_no_option_and_no_file_by_a_field(self):
        secret = self.p.dir / "secret"
        secret.write_text("password: hunter2\n")
        for name in ["secret", "./secret", str(secret), "small/../secret", "../" * 9 + "etc/passwd", "--help",
                     "--store=/", "-o", "--raw"]:
            for path, field in [("/job", "name"), ("/run", "name"), ("/node", "ref"), ("/record", "ref"),
                                ("/lineage", "ref"), ("/names", "prefix"), ("/read", "a"), ("/search", "q"),
                                ("/search?q=x&index=", "")]:
                target = address(path, **{field: name}) if field else path + urllib.parse.quote(name)
                body = self.server.ask(target)[2]
                for text in ["hunter2", "root:", "usage:"]:
                    self.assertNotIn(text, body, target)

    def test_bad_text(self):
        for query in ["%00", "%ff", "%c0%af", "%ed%a0%80", "a%00b"]:
            self.assertEqual(self.status("/read?a=" + query), 400, query)
        self.assertEqual(self.status("/read?" + "&".join(f"x{i}=1" for i in range(100))), 400)
        for query in ["%", "%zz", "%1", "&&&", "=", "a=%&a=x", "?", "a=" + "(" * 20000]:
            self.assertIn(self.status("/read?" + query), (200, 422), query)

    def test_what_takes_long_is_ended(self):
        started = time.monotonic()
        text = "(" * 5 + "x+1" + ")^9" * 5
        status, _, body = self.server.ask(address("/explain", a=text, b=text + "+sin(1/10^40)", effort="1"))
        self.assertIn(status, (200, 503), body)
        self.assertLess(time.monotonic() - started, 120)

    def slow(self, n):
        """Connections that send a byte a second of a request that never ends, again and again."""
        stop = threading.Event()

        def drip():
            open_ = []
            while not stop.is_set():
                open_ += [socket.create_connection(("127.0.0.1", self.server.port)) for _ in range(n - len(open_))]
                alive = []
                for s in open_:
                    try:
                        s.sendall(b"G" if s not in begun else b"E")
                        begun.add(s)
                        alive.append(s)
                    except OSError:
                        s.close()
                open_ = alive
                stop.wait(1)
            for s in open_:
                s.close()
        begun = set()
        thread = threading.Thread(target=drip)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(stop.set)

    def test_slow_connections_keep_nobody_out(self):
        self.slow(400)
        for _ in range(20):
            started = time.monotonic()
            self.assertEqual(self.status("/style.css"), 200)
            self.assertEqual(self.status("/read?a=x"), 200)
            self.assertLess(time.monotonic() - started, 5)
            time.sleep(0.3)

    def test_a_request_takes_its_time_in_all(self):
        with socket.create_connection(("127.0.0.1", self.server.port)) as s:
            s.settimeout(0.5)
            started = time.monotonic()
            with self.assertRaises(OSError):
                while time.monotonic() - started < 30:
                    s.sendall(b"G")
                    try:
                        if not s.recv(1):
                            raise OSError
                    except socket.timeout:
                        pass
            self.assertGreater(time.monotonic() - started, 8)
            self.assertLess(time.monotonic() - started, 20)

    def test_who_takes_no_answer_makes_room(self):
        request = b"GET /style.css HTTP/1.1\r\nHost: localhost\r\n\r\n"
        lazy = []
        try:
            for _ in range(400):
                s = socket.socket()
                s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                s.connect(("127.0.0.1", self.server.port))
                s.sendall(request * 50)
                lazy.append(s)
            self.assertEqual(self.status("/style.css"), 200)
        finally:
            for s in lazy:
                s.close()

    def test_a_connection_serves_many_requests(self):
        request = b"GET /icon.svg HTTP/1.1\r\nHost: localhost\r\n\r\n"
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=TIMEOUT_S) as s:
            for _ in range(3):
                s.sendall(request)
                answer = s.recv(1 << 16)
                self.assertTrue(answer.startswith(b"HTTP/1.1 200 "), answer)
                length = int(re.search(rb"Content-Length: (\d+)", answer).group(1))
                while len(answer.partition(b"\r\n\r\n")[2]) < length:
                    answer += s.recv(1 << 16)

    def test_bodies_are_refused_at_once(self):
        for method, length, status in [("POST", "1000000000", 405), ("GET", "1000000000", 413), ("HEAD", "7", 413),
                                       ("GET", "0", 200)]:
            with socket.create_connection(("127.0.0.1", self.server.port), timeout=5) as s:
                s.sendall(f"{method} /style.css HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n".encode())
                answer = s.recv(1 << 16)
                self.assertIn(f" {status} ", answer.split(b"\r\n")[0].decode())
                if length == "0":
                    continue
                self.assertIn(b"\r\nConnection: close\r\n", answer)
                sent = 0
                with self.assertRaises(OSError):
                    while sent < 100 << 20:
                        sent += s.send(bytes(1 << 16))
        self.assertEqual(self.status("/", method="GET", headers=["Transfer-Encoding: chunked", "", "1", "a", "0"]), 413)
        # A body is not read as another request.
        for lengths in ["5\r\nContent-Length: 0", "0\r\nContent-Length: 5"]:
            status = self.status("/style.css", headers=[f"Content-Length: {lengths}", "", "abcde"])
            self.assertIn(status, (400, 413))
        hidden = b"GET /style.css HTTP/1.1\r\nHost: localhost\r\n\r\n"
        answer = self.server.raw(b"GET /style.css HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s"
                                 % (len(hidden), hidden))
        self.assertEqual(answer.count(b"HTTP/1.1 "), 1)

    def test_many_at_once(self):
        results = []

        def ask():
            results.append(self.status(address("/explain", a="sin(x)^2", b="1-cos(x)^2")))
        threads = [threading.Thread(target=ask) for _ in range(40)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(TIMEOUT_S)
        self.assertEqual(len(results), 40)
        self.assertLessEqual(set(results), {200, 503})
        self.assertEqual(self.status("/style.css"), 200)


@unittest.skipUnless(CHROMIUM, "there is no chromium")
class InBrowser(Base):
    def browser(self, **kwargs):
        browser = Browser(**kwargs)
        self.addCleanup(browser.close)
        return browser

    def test_typing_gives_readings_and_answers(self):
        b = self.browser()
        b.open(self.server.address + "/search")
        self.assertEqual(b.run("document.activeElement.id"), "q")
        b.type("sin x")
        b.until("document.querySelector('#q-read math')")
        b.until("document.querySelectorAll('#answer tbody tr').length === 10")
        self.assertIn("q=sin+x", b.run("location.search"))
        b.type(" +")
        b.until("document.querySelector('#q-read.refused')")
        self.assertEqual(b.run("document.getElementById('answer').ariaLive"), "polite")
        self.assertEqual(b.problems(), [])
        self.assertEqual(b.hosts(), {f"127.0.0.1:{self.server.port}"})

    def test_tables_sort_by_key(self):
        b = self.browser()
        b.open(self.server.address + "/job?name=small")
        names = "[...document.querySelectorAll('.sorts')][0].tBodies[0].innerText.match(/^\\S+/gm)"
        before = b.run(names)
        b.run("document.querySelector('.sorts th button').focus()")
        b.key("Enter", 13)
        b.run("document.querySelector('.sorts th button').click()")
        self.assertEqual(b.run("document.querySelector('.sorts th').ariaSort") in ("ascending", "descending"), True)
        self.assertNotEqual(b.run(names), before)
        self.assertEqual(sorted(b.run(names)), sorted(before))
        self.assertEqual(b.problems(), [])

    def test_what_matters_is_in_view_on_a_phone(self):
        b = self.browser(width=400)
        for target, cells in [("/search?q=sin(x)%5E2", "td:has(.verdict)"), ("/job?name=small", "tbody th + td.state")]:
            b.open(self.server.address + target)
            right = b.run(f"Math.max(...[...document.querySelectorAll('{cells}')].map(e => e.getBoundingClientRect().right))")
            self.assertTrue(0 < right <= 400, (target, right))

    def test_keyboard(self):
        """Tab goes from the skip link through all that can be used, in the order of the page, each in
        view with a ring around it; Enter on the skip link leads to the content."""
        stop = """(() => { const e = document.activeElement, box = e.getBoundingClientRect(), s = getComputedStyle(e);
            const all = [...document.querySelectorAll("*")];
            return {place: all.indexOf(e), name: e.tagName, ring: s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2,
                    seen: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth}; })()"""
        usable = ("[...document.querySelectorAll('a[href], button, input, summary, .scroll')].filter(e => e.checkVisibility()"
                  " && !(e.type === 'radio' && !e.checked)).length")
        b = self.browser()
        for target in PAGES:
            b.open(self.server.address + target)
            b.run("document.body.setAttribute('tabindex', '-1'), document.body.focus()")
            stops, wanted = [], b.run(usable)
            for _ in range(min(wanted, 40)):
                b.key("Tab", 9)
                stops.append(b.run(stop))
            places = [s["place"] for s in stops]
            self.assertEqual(places, sorted(set(places)), (target, stops))
            self.assertEqual([s for s in stops if not s["ring"] or not s["seen"]], [], target)
        b.open(self.server.address + "/names")
        b.run("document.body.setAttribute('tabindex', '-1'), document.body.focus()")
        b.key("Tab", 9)
        self.assertEqual(b.run("document.activeElement.className"), "skip")
        b.key("Enter", 13)
        b.until("document.activeElement.id === 'main'")

    def test_screen_readers(self):
        """The tree that they get: landmarks, one first heading and no level left out, and a name for all
        that can be used and for each picture, table and progress bar."""
        named = {"link", "button", "textbox", "checkbox", "radio", "image", "img", "progressbar", "region", "navigation",
                 "search", "searchbox", "DisclosureTriangle", "columnheader", "rowheader"}
        b = self.browser()
        b.call("Accessibility.enable")
        for target in PAGES:
            b.open(self.server.address + target)
            tree = [n for n in b.call("Accessibility.getFullAXTree")["nodes"] if not n["ignored"]]
            roles = [n["role"]["value"] for n in tree]
            for landmark in ["main", "banner", "contentinfo", "navigation"]:
                self.assertEqual(roles.count(landmark), 1, (target, landmark))
            nameless = [n["role"]["value"] for n in tree if n["role"]["value"] in named and
                        not n.get("name", {}).get("value", "").strip()]
            self.assertEqual([r for r in nameless if r not in ("columnheader", "search")], [], target)
            levels = [p["value"]["value"] for n in tree if n["role"]["value"] == "heading"
                      for p in n["properties"] if p["name"] == "level"]
            self.assertEqual(levels[:1], [1], target)
            self.assertTrue(all(b - a <= 1 for a, b in zip(levels, levels[1:])), (target, levels))
            self.assertEqual(b.run("document.documentElement.lang"), "en")
            self.assertTrue(b.run("document.title").endswith(" - eqloom") or target == "/", target)
            loose = b.run("[...document.querySelectorAll('th:not([scope])')].map(e => e.outerHTML)")
            self.assertEqual(loose, [], target)

    def test_nothing_overflows_on_a_phone(self):
        for dark in [False, True]:
            b = self.browser(width=400, dark=dark)
            for target in PAGES:
                b.open(self.server.address + target)
                self.assertLessEqual(b.run("document.documentElement.scrollWidth"), 400, target)
                self.assertEqual(b.problems(), [], target)

    def test_contrast(self):
        """Texts against what is behind them: 4.5 to 1, as WCAG asks."""
        script = """(() => {
            const light = text => { const c = text.match(/[\\d.]+/g).map(Number);
                const [r, g, b] = c.map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
                return .2126 * r + .7152 * g + .0722 * b; };
            const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
                if (!c.startsWith("rgba(0, 0, 0, 0")) return c; } return "rgb(255, 255, 255)"; };
            return [...document.querySelectorAll("main *, header *, footer *")].filter(e => e.offsetParent &&
                [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())).map(e => {
                const x = light(getComputedStyle(e).color), y = light(behind(e));
                return [(Math.max(x, y) + .05) / (Math.min(x, y) + .05), e.outerHTML.slice(0, 80)]; })
                .filter(([ratio]) => ratio < 4.5); })()"""
        for dark in [False, True]:
            b = self.browser(dark=dark)
            for target in PAGES:
                b.open(self.server.address + target)
                self.assertEqual(b.run(script), [], target)

    def test_a_page_follows_its_run(self):
        held = self.p.hold()
        try:
            b = self.browser()
            b.open(self.server.address + "/")
            run = b.run("document.querySelector('main table a').textContent")
            b.open(self.server.address + "/run?name=" + run)
            said = "document.querySelector('[role=status]')"
            before = b.run(f"window.said = {said}, document.querySelector('main h1 ~ p:nth-of-type(3)').textContent")
            b.until(f"document.querySelector('main h1 ~ p:nth-of-type(3)').textContent !== {json.dumps(before)}")
            b.until(f"/; now model@pooling=m/.test({said}.textContent)")   # trainings are no maps: they run all the same
            done, of = b.run(f"(m => [+m[2], +m[1]])(/ of (\\d+) nodes ran, (\\d+) done/.exec({said}.textContent))")
            self.assertLess(0, done)
            self.assertLess(done, of)
            self.assertEqual(b.run("[document.querySelector('progress').value, document.querySelector('progress').max]"), [done, of])
            states = {e["node"]: e["state"] for e in self.lines("log", run)}
            self.assertEqual(states["model@pooling=mean"], "running")
            self.assertEqual(states["eval@pooling=mean"], "waiting")
        finally:
            held.send_signal(signal.SIGINT)
            held.wait(timeout=TIMEOUT_S)
        b.until("document.querySelector('[role=status]')?.textContent.startsWith('interrupted')")
        self.assertTrue(b.run(f"window.said === {said}"))  # what is said again is one element
        self.assertEqual(b.problems(), [])


if __name__ == "__main__":
    unittest.main()
