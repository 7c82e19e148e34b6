"""Input that means harm: files, names, packs and places of output made to hang, to fill memory, to
write elsewhere or to command the terminal. Each command ends soon, with at most one error.
EQLOOM_TEST_TEXTS sets how many texts are made up besides FRAGMENTS, EQLOOM_TEST_SEED which."""
import hashlib
import json
import os
import platform
import random
import re
import resource
import shutil
import signal
import stat
import struct
import subprocess
import time
import unittest

from harness import PROGRESS, BINARY, TIMEOUT_S, ProjectTest

CPU_S, MEMORY = 20, (4 << 30) + os.cpu_count() * (128 << 20)  # threads have address space of their own
TEXTS = int(os.environ.get("EQLOOM_TEST_TEXTS", "100"))
SEED = int(os.environ.get("EQLOOM_TEST_SEED", time.time_ns() & 0xFFFFFFFF))
with open(BINARY, "rb") as binary:
    SANITIZED = b"__asan_init" in binary.read()  # sanitizers need address space of their own
FRAGMENTS = [
    b"%| \xc0\x80", b"%| \xe0\x80\x80", b"%| \xed\xa0\x80", b"%| \xf4\x90\x80\x80", b"\xff", b"\xc3",
    b"\x1b]0;owned\x07", b"\x00", b"[" * 5000, b"{" * 5000, b"(" * 5000, b"-" * 5000, b"sin(" * 3000,
    b"a: " * 500, b"&a " * 1000, b"*a", b"<<: {a: b}", b"!!python/object:os.system ls", b"%YAML 9.9\n---",
    b"---\n---\n", b"? ? ? ?", b"|9\n x", b'"\\uD800"', b'"\\x00"', b"a" * 100000, b"9" * 5000,
    b"1e999999999", b"${x}" * 500, b"${a${b}}", b"$" * 999, b"${", b"\xef\xbb\xbf", b"\xe2\x80\xae",
    b"\r\r\r", b"'" * 999, b"x^x^x^x^" * 300, b"d/d" * 300, b"d/dsin(x)", b"?a" * 2000, b"{a.9999999999}",
    b"[0..99999999999]", b"../" * 999, b"/dev/zero", b"@" * 300, b"%s%n%s%n", b"~",
]


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytes([n]))


def field(number, wire, body):
    return varint(number << 3 | wire) + (varint(len(body)) + body if wire == 2 else body)


class Hostile(ProjectTest):
    def bounded(self, *args, expect=(0, 1, 2, 3, 4), **more):
        def limits():
            resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if not SANITIZED:
                resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        made = subprocess.run([os.path.abspath(BINARY), *args], cwd=more.pop("cwd", self.p.dir),
                              env=self.p.environment(), input=more.pop("input", b""), capture_output=True,
                              timeout=TIMEOUT_S, check=False, preexec_fn=limits)
        self.assertIn(made.returncode, expect, made.stderr[-2000:])
        self.assertLessEqual(len(re.findall(rb"(?m)^\S*?:? ?error: ", made.stderr)), 1)
        return made

    def places(self):
        """Where a text is read: the file, a text around it, what is good there, and a command."""
        job, rules, templates = ((self.p.dir / name).read_bytes() for name in
                                 ("job.yaml", "rules/algebra.rules", "templates/small.yaml"))
        return [("x", b"%s", job, ("plan", "x")),
                ("x", b"eqloom: 1\nname: x\nparams: {a: %s}\nnodes:\n"
                      b"  s: {op: templates, files: [templates/*.yaml]}\n", b"[1, {b: c}]", ("plan", "x")),
                ("x", b"group g\nr: %s -> x\n", b"?a * (?b + ?c)", ("check-rules", "x")),
                ("x", b"%s", rules, ("check-rules", "--points", "1", "x")),
                ("templates/small.yaml", b"templates: 1\nsets: {a: [1]}\ngroups: {g: {templates: [%s]}}\n",
                 b'"sin({a} * x)"', ("plan", "job.yaml", "seeds")),
                ("templates/small.yaml", b"%s", templates, ("plan", "job.yaml", "seeds"))]

    def told_once(self, *command):
        """Wrong input: one line says what, and all of it can be read."""
        made = self.bounded(*command)
        errors = re.findall(rb"(?m)^.*\berror: \S", made.stderr)
        self.assertEqual(len(errors), made.returncode == 2, made.stderr[-2000:])

    def test_texts(self):
        """Every fragment at each place where a text is read."""
        for path, form, _, command in self.places():
            if form != b"%s" or path == "x" and command[0] == "plan":
                for fragment in FRAGMENTS:
                    (self.p.dir / path).write_bytes(form % fragment)
                    with self.subTest(command=command, fragment=fragment[:20]):
                        self.told_once(*command)
        self.stream(FRAGMENTS)
        for fragment in FRAGMENTS[::9]:
            if b"\0" not in fragment:
                with self.subTest(place="argument", fragment=fragment[:20]):
                    self.bounded("explain", "--", fragment, "x")

    def stream(self, texts):
        """Each as an expression; an answer for each."""
        lines = [re.sub(rb"[\0\n\r\t]", b" ", text) for text in texts]
        made = self.bounded("explain", "--max-nodes", "300", "-", expect=(0, 1),
                            input=b"".join(line + b"\tx\n" for line in lines))
        answers = [json.loads(line) for line in made.stdout.splitlines()]
        self.assertEqual([a["line"] for a in answers], [*range(1, len(lines) + 1)])
        for answer in answers:
            with self.subTest(line=lines[answer["line"] - 1][:80]):
                self.assertEqual(answer["verdict"] == "malformed", "error" in answer)

    def test_made_up_texts(self):
        """Good ones, with pieces cut out, repeated, and changed for fragments or other bytes."""
        print(f"seed {SEED}, {TEXTS} texts")
        rng = random.Random(SEED)
        places = self.places()

        def spoiled(text):
            for _ in range(rng.randint(1, 4)):
                at = rng.randrange(len(text) + 1)
                end = min(len(text), at + rng.choice((0, 1, 5, 40)))
                piece = rng.choice((b"", text[at:end] * rng.choice((2, 9, 300)), rng.choice(FRAGMENTS),
                                    bytes([rng.randrange(256)]), text[end:end + 30] + text[at:end]))
                text = text[:at] + piece + text[end:]
            return text
        for i in range(TEXTS):
            path, form, good, command = places[i % len(places)]
            before = (self.p.dir / path).read_bytes() if path != "x" else b""
            text = form % spoiled(good)
            (self.p.dir / path).write_bytes(text)
            with self.subTest(i=i, command=command, text=text[:200]):
                self.told_once(*command)
            (self.p.dir / path).write_bytes(before)
        self.stream([spoiled(b"sin(x)^2 + d(x, ln(x * y)) / sqrt(1 - z)") for _ in range(TEXTS)])

    def test_sizes(self):
        node = "nodes:\n  s: {op: templates, files: [%s]%s}\n"
        head = "eqloom: 1\nname: x\n"
        for text, message in [
                (head + "params:\n  p0: 1\n" + "".join(f"  p{i}: ${{p{i - 1}}}\n" for i in
                                                        range(1, 30000)) + node % ("x", ""),
                 "more than 1000 parameters"),
                (head + node % ("x", ", matrix: {seed: [" + ",".join(map(str, range(100000))) + "]}"),
                 "more than 4096 nodes"),
                (head + node % ("'" + "*/../" * 60 + "x'", ""), "after a wildcard"),
                (head + node % ("'" + "*/" * 60 + "x'", ""), "parts with wildcards"),
                (head + "params: {a: &a 1, b: [" + "*a," * 60000 + "]}\n" + node % ("x", ""), "error: ")]:
            with self.subTest(message=message):
                self.p.write("x.yaml", text)
                started = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
                self.assertIn(message, self.bounded("plan", "x.yaml", expect=(2,)).stderr.decode())
                self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - started, 3)

    def test_a_pack_of_collections_that_count_too_much(self):
        """128^5 elements: the same record at each place."""
        entries = bytearray()

        def record(kind, number, payload):
            head = b"eqloom/1\0" + kind + b"\0" + b"%u" % 1 + b"\0"
            name = hashlib.sha256(head + struct.pack("<Q", len(payload)) + payload).digest()
            envelope = b"eq\1\0" + struct.pack("<HHQ", number, 1, len(payload)) + payload
            entries.extend(b"R" + name + struct.pack("<I", len(envelope)) + envelope)
            return name
        below = record(b"expr", 1, field(1, 2, b"x"))
        count = 1
        for depth in range(5):
            body = (field(1, 0, varint(depth)) if depth else b"") + field(2, 2, below * 128)
            below = record(b"collection-block", 13,
                           body + (field(3, 2, varint(count) * 128) if depth else b""))
            count *= 128
        top = record(b"collection", 12, field(1, 0, varint(count)) + field(2, 2, b"expr") +
                     field(3, 0, b"\5") + field(4, 2, below) + field(5, 2, varint(count)))
        pack = b"eqpack\n\1" + bytes(entries) + b"N" + top + b"\3big" + b"E"
        (self.p.dir / "x.pack").write_bytes(pack + hashlib.sha256(pack).digest())
        self.bounded("unpack", "x.pack", expect=(0,))
        for command in (["ls"], ["show", "big"], ["show", "big", "--limit", "3"], ["lineage", "big"],
                        ["export", "big", "-o", "x.jsonl"], ["export", "big", "-o", "x.tsv"],
                        ["pack", "big", "-o", "y.pack"], ["fsck"], ["gc"], ["stats"], ["compact"],
                        ["query", "expr"], ["why", "big"], ["diff", "big", "big"]):
            with self.subTest(command=command):
                self.bounded(*command)

    def test_escapes_do_not_reach_a_terminal(self):
        self.p.edit("job.yaml", "label: trained", 'label: "\\e]0;owned\\x07\\x9b31m\\u202Exyz\\u2066"')
        self.p.write("x\x1b[31m.rules", "oops")
        commands = [["run", "job.yaml"], ["run", "job.yaml"], ["show", "small/report"], ["log", "small/1"],
                    ["status", "job.yaml"], ["explain", "\x1b[2Jx", "y"], ["why", "small/eval\x1b[1m"],
                    ["show", "\x1b]0;x\x07"], ["check-rules", "x\x1b[31m.rules"], ["diff", "small/1", "\x1b"],
                    ["lineage", "small/report"], ["run", "\x1b[5A.yaml"], ["ls", "\x1b[7m"],
                    ["plan", "job.yaml", "--set", "\x9b1m\x1b[1m=3"], ["query", "\x1b[1m"],
                    ["export", "small/report", "-f", "jsonl"], ["show", "small/report", "--raw"],
                    ["explain", "x\u202e + \u2066y\ufeff", "y"], ["show", "a\u202eb\u200f"], ["ls", "\u2029\U000e0041"]]
        shown = turned = 0
        for command in commands:
            with self.subTest(command=command):
                seen = re.sub(PROGRESS, b"", self.p.on_terminal(*command))
                self.assertNotRegex(seen.replace(b"\r\n", b"\n"),
                                    rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")
                self.assertNotRegex(seen.decode(), "[\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\U000e0041]")
                shown += b"\\x1b" in seen
                turned += b"\\u202e" in seen
        self.assertGreater(shown, 8)
        self.assertGreater(turned, 3)

    def test_places_of_output(self):
        self.p.run()
        wanted = self.p.eqloom("export", "small/rules", "-f", "jsonl").out
        export = lambda to, **more: self.p.eqloom("export", "small/rules", "-f", "jsonl", "-o", to, **more)
        os.mkfifo(self.p.dir / "pipe")
        with subprocess.Popen(["cat", "pipe"], cwd=self.p.dir, stdout=subprocess.PIPE, text=True) as cat:
            export("pipe")
            self.assertEqual(cat.communicate(timeout=TIMEOUT_S)[0], wanted)
        self.assertTrue(stat.S_ISFIFO(os.stat(self.p.dir / "pipe").st_mode))
        self.assertIn("nobody reads this pipe", export("pipe", expect=1).err)
        self.p.write("target", "old")
        (self.p.dir / "link").symlink_to("target")
        self.assertIn("cannot write link: it is a link", export("link", expect=2).err)
        self.assertEqual((self.p.dir / "target").read_text(), "old")
        self.assertEqual(export("/dev/stdout").out, wanted)
        with open(self.p.dir / "target", "w") as target:  # where /dev/stdout leads to a file
            subprocess.run([os.path.abspath(BINARY), "export", "small/rules", "-f", "jsonl", "-o", "/dev/stdout"],
                           cwd=self.p.dir, stdout=target, stderr=subprocess.DEVNULL, check=True,
                           timeout=TIMEOUT_S)
        self.assertEqual((self.p.dir / "target").read_text(), wanted)
        (self.p.dir / "loose").symlink_to("nowhere")
        export("loose", expect=2)
        (self.p.dir / "loose.tmp").symlink_to("nowhere")  # a name that could be guessed
        (self.p.dir / "loose").unlink()
        export("loose")
        self.assertFalse((self.p.dir / "nowhere").exists())
        (self.p.dir / "loose.tmp").unlink()
        if os.geteuid() == 0:
            try:
                os.mknod(self.p.dir / "null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
                export("null")
                self.assertTrue(stat.S_ISCHR(os.stat(self.p.dir / "null").st_mode))
            except PermissionError:
                pass
        longest = "ü" * 125 + ".html"  # 255 bytes
        export(longest)
        self.assertEqual((self.p.dir / longest).read_text(), wanted)
        self.assertEqual([f for f in os.listdir(self.p.dir) if f.endswith(".tmp")], [])
        elsewhere = self.project()
        shutil.rmtree(self.p.dir / "out")
        (self.p.dir / "out").symlink_to(elsewhere.dir)
        self.assertIn("is a link", self.p.eqloom("run", "job.yaml", expect=2).err)
        self.assertFalse((elsewhere.dir / "small").exists())

    def test_a_store_from_elsewhere(self):
        self.p.run()
        self.p.write("precious", "mine")
        store, copy = self.p.dir / ".eqloom", self.p.dir / "whole"
        shutil.copytree(store, copy)
        for name in ("lock", "db/ACKNOWLEDGED", "db/LISTED", "db/CURRENT", "db/000999.log", "suspect",
                     "damaged", "db"):
            path = store / name
            for make in (lambda: path.symlink_to("../" * len(path.relative_to(store).parents) +
                                                 ("whole/db" if name == "db" else "precious")),
                         lambda: os.mkfifo(path)):
                shutil.rmtree(store)
                shutil.copytree(copy, store)
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
                make()
                with self.subTest(name=name, link=path.is_symlink()):
                    for command in (["run", "job.yaml"], ["gc"], ["ls"], ["fsck"]):
                        self.assertIn("is a link" if path.is_symlink() else "is a pipe",
                                      self.p.eqloom(*command, expect=2).err)
                    self.assertEqual((self.p.dir / "precious").read_text(), "mine")
        if os.geteuid() == 0:
            shutil.rmtree(store)
            shutil.copytree(copy, store)
            os.chown(store, 12345, 12345)
            self.assertIn("belongs to another user", self.p.eqloom("ls", expect=2).err)
            self.p.eqloom("--store", ".eqloom", "ls")

    def test_a_store_that_is_closed_is_not_said_to_be_missing(self):
        self.p.run("rules")
        self.p.dir.chmod(0o755)
        store = self.p.dir / ".eqloom"
        other = {"user": 65534} if os.geteuid() == 0 else {}
        for closed in (store / "db", store):
            closed.chmod(0)
            for command in (["ls"], ["tag", "t", "small/rules"], ["fsck"]):
                made = subprocess.run([os.path.abspath(BINARY), "--store", store, *command], cwd=self.p.dir,
                                      env=self.p.environment(), capture_output=True, text=True,
                                      check=False, **other)
                self.assertEqual(made.returncode, 1, made.stdout + made.stderr)
                self.assertIn("Permission denied", made.stderr)
            closed.chmod(0o755)
        self.p.eqloom("fsck")

    def test_a_link_to_a_store(self):
        """Nothing is written beside the place to which it leads."""
        elsewhere = self.p.dir / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "store").mkdir()
        (self.p.dir / ".eqloom").symlink_to("elsewhere/store")
        self.p.run()
        self.assertEqual(os.listdir(elsewhere), ["store"])
        self.assertTrue((self.p.dir / "out/small/report.html").exists())

    @unittest.skipIf(SANITIZED or not os.environ.get("BUILD_ROOT"), "of the release build")
    def test_the_program_is_hardened(self):
        """The program carries no note of IBT and SHSTK while the C library's start files have none, but
        each object of ours does."""
        def readelf(*args):
            return subprocess.run(["readelf", "-W", *args], capture_output=True, text=True, check=True,
                                  timeout=TIMEOUT_S).stdout
        root = os.environ["BUILD_ROOT"]
        with open(os.path.join(root, "compile_commands.json"), encoding="utf-8") as commands:
            ours = [c for c in json.load(commands) if re.match(
                r"(base|schemas|store|gpu|engine|ops|eqloom\.p)/.*\.(c|cpp)\.o$", c["output"])]
        self.assertGreater(len(ours), 100)
        self.assertRegex(readelf("-d", BINARY), r"FLAGS_1\).* NOW.* PIE")
        self.assertIn("GNU_RELRO", readelf("-l", BINARY))
        symbols = readelf("--dyn-syms", BINARY)
        self.assertIn("__stack_chk_fail", symbols)
        if any("_FORTIFY_SOURCE=3" in c["command"] for c in ours):
            self.assertRegex(symbols, r"__\w+_chk\b")
        if any("-fcf-protection" in c["command"] for c in ours) and platform.machine() == "x86_64":
            notes = readelf("-n", *(os.path.join(root, c["output"]) for c in ours))
            self.assertEqual(notes.count("IBT, SHSTK"), len(ours))

    def test_closed_standard_streams(self):
        for closed in (0, 1, 2):
            with self.subTest(closed=closed):
                made = subprocess.run([os.path.abspath(BINARY), "run", "job.yaml", "rules"], cwd=self.p.dir,
                                      env=self.p.environment(), timeout=TIMEOUT_S, check=False,
                                      preexec_fn=lambda: os.close(closed), stdout=subprocess.DEVNULL)
                self.assertIn(made.returncode, (0, 1))
                self.assertEqual((self.p.dir / ".eqloom/lock").read_text(), "")
                self.p.eqloom("fsck")

    def test_odd_directories(self):
        for name in (b"a[b", b"a\\b", b"a*?", b"a\xff\xfe", b"a\nb", b"\x1b[31m"):
            place = os.path.join(os.fsencode(self.p.dir), name)
            shutil.copytree(os.fsencode(self.p.dir / "rules"), os.path.join(place, b"rules"))
            shutil.copytree(os.fsencode(self.p.dir / "templates"), os.path.join(place, b"templates"))
            shutil.copy(os.fsencode(self.p.dir / "job.yaml"), place)
            with self.subTest(name=name):
                self.bounded("run", "job.yaml", "rules", expect=(0,), cwd=place)
                self.bounded("run", os.path.join(place, b"job.yaml"), "seeds", expect=(0,), cwd=place)
                self.assertIn(b"small/rules", self.bounded("ls", cwd=place).stdout)
                for command in (["log"], ["why", "small/rules"], ["status", "job.yaml"], ["fsck"]):
                    self.bounded(*command, expect=(0,), cwd=place)

    def open_when_read(self, process, name):
        """The pipe's end to write to, once the process has begun to read."""
        while process.poll() is None:
            try:
                return os.open(self.p.dir / name, os.O_WRONLY | os.O_NONBLOCK)
            except OSError:  # nobody reads yet
                time.sleep(0.002)
        self.fail(f"ended with {process.returncode}")

    def test_no_files_are_refused_before_they_block(self):
        os.mkfifo(self.p.dir / "fifo.yaml")
        os.mkfifo(self.p.dir / "rules/fifo.rules")
        for command in (["run", "fifo.yaml"], ["plan", "fifo.yaml"], ["check-rules", "rules/fifo.rules"],
                        ["explain", "--rules", "rules/fifo.rules", "x", "x"]):
            with self.subTest(command=command):
                self.assertIn("is a FIFO", self.p.eqloom(*command, expect=2).err)
        self.assertIn("/dev/zero is a device", self.p.eqloom("check-rules", "/dev/zero", expect=2).err)
        self.assertIn("leaves out 1 that is no file (rules/fifo.rules)",
                      self.p.eqloom("run", "job.yaml", "rules").err)
        made = self.p.eqloom("run", "job.yaml", "rules", "--set", "rules.files=rules/fifo.rules",
                             expect=2)
        self.assertIn("is a FIFO, socket or device", made.err)

    def test_a_pipe_of_records_can_be_interrupted(self):
        signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in a shell's background ignore it
        os.mkfifo(self.p.dir / "records")
        process = self.p.start("unpack", "records", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        pipe = self.open_when_read(process, "records")
        process.send_signal(signal.SIGINT)
        self.assertIn(process.wait(timeout=TIMEOUT_S), (130, -signal.SIGINT))
        os.close(pipe)


if __name__ == "__main__":
    unittest.main()
