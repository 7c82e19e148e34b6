"""Shared caches that mean harm, or are broken: whatever a server on loopback or a program named ssh
does, the run ends in time with the same results, says once what is wrong, and keeps nothing of it."""
import http.server
import os
import shutil
import socket
import ssl
import subprocess
import threading
import time
import unittest

from harness import BINARY, ProjectTest

PATIENCE_S = 2
LONGEST_S = 60  # a run of the project takes some seconds
MOST_BYTES = 64 << 20  # that a run leaves
LIST = b"<ListBucketResult>%s</ListBucketResult>"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def say(self, body, status=200):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, parts, pause_s=0.0):
        """A body whose end nobody is told."""
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        for part in parts:
            self.wfile.write(part)
            self.wfile.flush()
            time.sleep(pause_s)
        self.close_connection = True

    def answer(self):
        self.server.asked += 1
        try:
            if self.command == "PUT":
                self.server.put(self)
            elif "list-type" in self.path:
                self.server.list(self)
            else:
                self.server.get(self)
        except OSError:
            self.close_connection = True

    do_GET = do_PUT = answer


def always(part):
    while True:
        yield part


def empty(handler):
    handler.say(LIST % b"")


def taken(handler):
    handler.rfile.read(int(handler.headers["Content-Length"]))
    handler.say(b"")


class HostileRemote(ProjectTest):
    def setUp(self):
        super().setUp()
        self.p.run()
        self.ids = self.p.ids()

    def run_with(self, address, **env):
        """What a fresh store's run says, with this shared cache."""
        q = self.project()
        env = q.environment() | {"EQLOOM_REMOTE_PATIENCE": str(PATIENCE_S)} | env
        started = time.monotonic()
        made = subprocess.run([os.path.abspath(BINARY), "run", "job.yaml", "--remote", address], cwd=q.dir, env=env,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LONGEST_S, check=False)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertLess(time.monotonic() - started, LONGEST_S)
        self.assertEqual(q.ids(), self.ids)
        size = sum(f.stat().st_size for f in (q.dir / ".eqloom").rglob("*") if f.is_file())
        self.assertLess(size, MOST_BYTES)
        return made.stderr

    def said_once(self, said, what):
        self.assertRegex(said, what)
        self.assertEqual(said.count("the shared cache: "), 1, said)

    # ---- S3 ----

    def serve(self, list=empty, get=None, put=taken, context=None):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        server.asked, server.list, server.get, server.put = 0, list, get, put
        if context:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server

    def from_s3(self, server, scheme="http"):
        return self.run_with("s3://results", AWS_ENDPOINT_URL=f"{scheme}://127.0.0.1:{server.server_address[1]}")

    def keys(self):
        """A list in which every pack is, as a bucket of a run would have it."""
        place = self.p.dir / "packs"
        place.mkdir()
        self.p.eqloom("run", "job.yaml", "--remote", str(place))
        names = [f.relative_to(place).as_posix() for f in place.rglob("*.pack")]
        shutil.rmtree(place)

        def answer(handler):
            folder = handler.path.split("prefix=")[1].replace("%2F", "/")
            handler.say(LIST % b"".join(b"<Key>%s</Key>" % n.encode() for n in names if n.startswith(folder)))
        return answer

    def test_s3_that_lists_without_end(self):
        slow = self.serve(list=lambda h: h.stream(always(b"xx"), 1))
        self.said_once(self.from_s3(slow), "cannot be looked up in the shared cache: curl.*(slow|bytes per second)")
        silent = self.serve(list=lambda h: time.sleep(LONGEST_S))
        self.said_once(self.from_s3(silent), "curl.*(slow|bytes per second)")
        flood = self.serve(list=lambda h: h.stream(always(b"<Key>%s</Key>" % (b"x" * 1000) * 1000)))
        self.said_once(self.from_s3(flood), "curl sends more than 67.1 MB")
        pages = self.serve(list=lambda h: h.say(LIST % b"<NextContinuationToken>more</NextContinuationToken>"))
        self.said_once(self.from_s3(pages), "a list of more than 200 pages")
        self.assertEqual(pages.asked, 200)
        token = self.serve(list=lambda h: h.say(
            LIST % b"<NextContinuationToken>%s</NextContinuationToken>" % (b"a" * 5000)))
        self.said_once(self.from_s3(token), "continuation token is too long")

    def test_s3_whose_answers_are_none(self):
        for status, what in [(403, "403"), (500, "500"), (301, "does not answer with a list"), (200, "a list")]:
            odd = self.serve(list=lambda h, status=status: h.say(b"<html>welcome</html>", status))
            self.said_once(self.from_s3(odd), what)
        for status in (301, 403):
            deaf = self.serve(put=lambda h, status=status: (h.rfile.read(int(h.headers["Content-Length"])),
                                                            h.say(b"moved", status)))
            self.said_once(self.from_s3(deaf), f"cannot be put into the shared cache: curl.*{status}")

    def test_s3_that_sends_packs_without_end(self):
        keys = self.keys()
        nothing = self.serve(list=keys, get=lambda h: h.stream(always(bytes(1 << 20))))
        self.said_once(self.from_s3(nothing), "cannot be pulled from the shared cache: curl does not send a pack")
        slow = self.serve(list=keys, get=lambda h: h.stream(always(b"eqpack\n\1"), 1))
        self.said_once(self.from_s3(slow), "curl.*(slow|bytes per second)")
        headers = self.serve(list=keys, get=lambda h: [h.wfile.write(b"HTTP/1.1 200 OK\r\n")] + [
            h.wfile.write(b"x: y\r\n") for _ in always(0)])
        self.said_once(self.from_s3(headers), "cannot be pulled from the shared cache: curl")

    def test_s3_that_does_not_take_packs(self):
        deaf = self.serve(put=lambda h: time.sleep(LONGEST_S))
        self.said_once(self.from_s3(deaf), "cannot be put into the shared cache: curl.*slow")

    def test_tls_says_what_failed(self):
        key, certificate = self.p.dir / "key.pem", self.p.dir / "certificate.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1", "-days",
                        "9", "-keyout", key, "-out", certificate], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.said_once(self.from_s3(self.serve(context=context), "https"), "self-signed certificate")
        self.said_once(self.from_s3(self.serve(), "https"), r"curl: \(35\) .*SSL")

    # ---- ssh ----

    def from_ssh(self, script):
        """A program named ssh that does this."""
        folder = self.p.dir / "bin"
        folder.mkdir(exist_ok=True)
        (folder / "ssh").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "ssh").chmod(0o755)
        return self.run_with("ssh://nobody/srv", PATH=f"{folder}:{os.environ['PATH']}")

    def test_ssh_that_is_silent(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            said = self.run_with(f"ssh://127.0.0.1:{silent.getsockname()[1]}/srv")
        self.said_once(said, "cannot be looked up in the shared cache: ssh moves less than 4096 bytes per second")
        alive = self.p.dir / "alive"
        self.said_once(self.from_ssh(f"while sleep 0.2; do echo >> {alive}; done & wait"), "ssh moves less than")
        before = alive.read_text()
        time.sleep(1)
        self.assertEqual(alive.read_text(), before)

    def test_ssh_that_talks_without_end(self):
        self.said_once(self.from_ssh("while echo x; do sleep 1; done"), "ssh moves less than")
        self.said_once(self.from_ssh("yes"), "ssh sends more than 67.1 MB")
        self.said_once(self.from_ssh("yes warning >&2"), "ssh moves less than")
        self.said_once(self.from_ssh("printf 'Hello\\nno entry\\n' >&2; exit 255"), "ssh ended with status 255: no entry\n")

    def test_ssh_that_sends_no_packs(self):
        keys = self.p.dir / "keys"
        place = self.p.dir / "packs"
        place.mkdir()
        self.p.eqloom("run", "job.yaml", "--remote", str(place))
        keys.write_text("".join(f.name + "\n" for f in place.rglob("*.pack")))
        answer = f'for last; do :; done; case $last in *ls*) cat {keys} ;; *cat*) %s ;; esac'
        self.said_once(self.from_ssh(answer % "cat /dev/zero"), "ssh does not send a pack")
        self.said_once(self.from_ssh(answer % "printf 'eqpack\\n\\001'; sleep 1000"), "ssh moves less than")

    def test_ssh_that_takes_no_packs(self):
        said = self.from_ssh('for last; do :; done; case $last in *mkdir*) sleep 1000 ;; esac')
        self.said_once(said, "cannot be put into the shared cache: ssh moves less than")

    def test_patience_is_a_number(self):
        for text in ["0", "-1", "3601", "2s", " 2", "1e3"]:
            env = self.p.environment() | {"EQLOOM_REMOTE_PATIENCE": text}
            made = subprocess.run([os.path.abspath(BINARY), "run", "job.yaml", "--remote", "."], cwd=self.p.dir, env=env,
                                  capture_output=True, text=True, check=False)
            self.assertEqual(made.returncode, 2, text)
            self.assertIn("EQLOOM_REMOTE_PATIENCE must be a number of seconds from 1 to 3600", made.stderr)


if __name__ == "__main__":
    unittest.main()
