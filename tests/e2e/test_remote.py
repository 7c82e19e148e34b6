"""The shared cache: what one store made, another takes, by a folder, by ssh and from S3."""
import getpass
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from harness import BINARY, Moments, ProjectTest

KILLS = int(os.environ.get("EQLOOM_TEST_KILLS", "10"))
WAIT_S = 60


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for_port(process, port):
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end and process.poll() is None:
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"{process.args[0]} does not listen")


class Remote(ProjectTest):
    def setUp(self):
        super().setUp()
        self.shared = pathlib.Path(tempfile.mkdtemp(prefix="eqloom-shared-"))
        self.addCleanup(shutil.rmtree, self.shared, ignore_errors=True)
        self.address = str(self.shared)

    def packs(self):
        return sorted(self.shared.rglob("*.pack"))

    def check_taken(self, project, address):
        """All of the first project's results come from there."""
        summary = project.run("--remote", address)
        self.assertEqual((summary["nodes_ran"], summary["elements_ran"]), (0, 0))
        self.assertEqual(project.ids(), self.p.ids())
        project.eqloom("fsck")

    def test_nothing_runs_twice(self):
        said = self.p.eqloom("run", "job.yaml", "--remote", self.address).err
        self.assertRegex(said, r"shared cache: 0 results pulled \(0\.0 MB\), 19 pushed")
        self.assertEqual(len(self.packs()), 19)
        said = self.p.eqloom("run", "job.yaml", "--remote", self.address).err
        self.assertNotIn("shared cache", said)  # there was nothing to give or take
        q = self.project()
        self.check_taken(q, self.address)
        for path in self.packs():  # what is in the store is not taken again
            path.unlink()
        self.assertEqual(q.run("--remote", self.address)["nodes_ran"], 0)
        self.assertEqual(len(self.packs()), 19)

    def test_what_was_taken_is_as_good_as_made(self):
        """An edit costs the same in both stores: witnesses and elements come along."""
        self.p.run("--remote", self.address)
        q = self.project()
        q.run("--remote", self.address)
        costs = []
        for project in (self.p, q):
            project.edit("rules/algebra.rules", "<->", "->")
            costs.append({k: v for k, v in project.run().items() if k.startswith("elements")})
        self.assertEqual(costs[0], costs[1])
        self.assertEqual(self.p.ids(), q.ids())
        self.assertGreater(costs[1]["elements_reused"] + costs[1]["elements_cached"], 0)

    def test_a_longer_training_goes_on(self):
        self.p.run("--remote", self.address)
        q = self.project()
        done = [e for e in q.eqloom("run", "job.yaml", "model", "--json", "--set", "steps=10",
                                    "--remote", self.address).events()
                if e["event"] == "node_done" and e["node"].startswith("model")]
        self.assertEqual([(e["ran"], e["cached"]) for e in done], [(2, 4), (2, 4)])

    def test_damaged_packs(self):
        self.p.run("--remote", self.address)
        seed = random.SystemRandom().randrange(1 << 32)
        rng = random.Random(seed)
        for path in self.packs():
            data = bytearray(path.read_bytes())
            if rng.random() < 0.5:
                data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            else:
                del data[rng.randrange(len(data)):]
            path.write_bytes(data)
        q = self.project()
        made = q.eqloom("run", "job.yaml", "--remote", self.address)
        self.assertIn("cannot be pulled from the shared cache: the pack", made.err, f"seed {seed}")
        self.assertEqual(q.ids(), self.p.ids(), f"seed {seed}")
        q.eqloom("fsck")
        # They were replaced by good ones.
        self.check_taken(self.project(), self.address)

    def test_what_others_put_there(self):
        """Links, pipes and folders among the packs: nothing outside is written, nothing waits, and good
        packs take their place."""
        self.p.run("--remote", self.address)
        self.check_foreign(self.address, self.shared, 2)

    def check_foreign(self, address, shared, links=1):
        self.p.write("precious", "mine")
        precious, folders = self.p.dir / "precious", self.p.dir / "folder"
        folders.mkdir()
        makers = [lambda path: path.symlink_to(precious), lambda path: path.symlink_to("nowhere"),
                  os.mkfifo, lambda path: path.symlink_to("/dev/zero"),
                  lambda path: path.symlink_to(folders)]
        for i, path in enumerate(sorted(shared.rglob("*.pack"))):
            path.unlink()
            makers[i % len(makers)](path)
        q = self.project()
        said = q.eqloom("run", "job.yaml", "--remote", address).err
        self.assertIn("cannot be pulled from the shared cache: ", said)
        self.assertEqual(q.ids(), self.p.ids())
        self.assertEqual((precious.read_text(), os.listdir(folders)), ("mine", []))
        self.assertEqual([p for p in shared.rglob("*.pack") if p.is_symlink() or not p.is_file()], [])
        self.check_taken(self.project(), address)

        folder = sorted(shared.rglob("*.pack"))[0].parent
        elsewhere = self.project().dir / "elsewhere"
        folder.rename(elsewhere)
        before = sorted(os.listdir(elsewhere))
        for target in ("nowhere", elsewhere)[:links]:
            folder.symlink_to(target)
            q = self.project()
            said = q.eqloom("run", "job.yaml", "--remote", address).err
            self.assertIn(f"{folder.name} is a link", said)
            self.assertEqual(q.ids(), self.p.ids())
            folder.unlink()
        self.assertEqual(sorted(os.listdir(elsewhere)), before)
        elsewhere.rename(folder)

    def test_kills(self):
        """Whoever is killed as he gives or takes leaves nothing wrong there or here."""
        seed = random.SystemRandom().randrange(1 << 32)
        self.p.run()
        moments = Moments(random.Random(seed), lambda: self.project().run("--remote", self.address))
        for _ in range(KILLS):
            for path in self.packs()[::2]:
                path.unlink()
            q = self.project()
            moments.strike(q.start("run", "job.yaml", "--remote", self.address,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            q.run("--remote", self.address)
            self.assertEqual(q.ids(), self.p.ids(), f"seed {seed}")
            q.eqloom("fsck")
        self.check_taken(self.project(), self.address)

    def leave(self, shared):
        """What killed ones left beside the packs, and what others may be writing now."""
        folder = next(shared.rglob("*.pack")).parent
        dead, alive = ([folder / f"{c * 64}.pack.{t}.tmp" for c, t in ((0, "0123456789abcdef"), (1, 123))]
                       for _ in range(2))
        alive = [p.with_name(p.name.replace(".pack.", "f.pack.")[1:]) for p in alive]
        for file, directory in (dead, alive):
            file.write_text("half")
            directory.mkdir()
            (directory / "pack").write_text("half")
        old = time.time() - 50 * 3600
        for path in dead:
            os.utime(path, (old, old))
        return dead, alive

    def check_cleared(self, address, shared, kind):
        """By the next result that comes into this folder."""
        dead, alive = self.leave(shared)
        for pack in dead[0].parent.glob("*.pack"):
            pack.unlink()
        self.p.run("--remote", "none", "--set", "seed=9")
        self.p.run("--remote", address)
        self.p.run("--remote", address, "--set", "seed=9")
        self.assertFalse(dead[kind].exists())
        for path in (*alive, dead[1 - kind]):
            self.assertTrue(path.exists(), path)
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def test_what_killed_ones_left_goes(self):
        self.p.run("--remote", self.address)
        self.check_cleared(self.address, self.shared, 0)

    def test_addresses(self):
        for address, said in [
                ("nowhere", "there is no folder nowhere to share results in: create it first"),
                ("ftp://host/path", "ftp://host/path is not an address of a shared cache"),
                ("ssh://host", "ssh://host is not an address of the form ssh://HOST[:PORT]/PATH"),
                ("ssh://-oProxyCommand=x/path", "is not an address of the form"),
                ("s3://", "s3:// is not an address of the form s3://BUCKET[/PREFIX]")]:
            refused = self.p.eqloom("run", "job.yaml", "--remote", address, expect=2)
            self.assertIn(said, refused.err)
            self.assertEqual(refused.err.count("\n"), 1, refused.err)

    def test_where_it_is_named(self):
        (self.p.dir / "here").mkdir()
        self.p.edit("job.yaml", "params:", "remote: ${place}\nparams:")
        self.p.edit("job.yaml", "steps: 6}", "steps: 6, place: here}")
        self.p.run("--remote", "none")
        self.assertEqual(len(list((self.p.dir / "here").rglob("*.pack"))), 0)
        self.p.run()
        self.assertEqual(len(list((self.p.dir / "here").rglob("*.pack"))), 19)
        env = self.p.environment() | {"EQLOOM_REMOTE": self.address}
        subprocess.run([os.path.abspath(BINARY), "run", "job.yaml"], cwd=self.p.dir, env=env, check=True, capture_output=True)
        self.assertEqual(len(self.packs()), 19)

    def test_ssh(self):
        sshd = shutil.which("sshd", path=os.environ["PATH"] + ":/usr/sbin")
        if not sshd or not shutil.which("ssh"):
            self.skipTest("neither ssh nor sshd: apt-get install openssh-server")
        home, port = self.shared / "ssh", free_port()
        (home / "bin").mkdir(parents=True, mode=0o700)
        for key in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", home / key],
                           check=True)
        (home / "known").write_text(
            f"[127.0.0.1]:{port} " + (home / "host.pub").read_text())
        (home / "sshd_config").write_text(
            f"ListenAddress 127.0.0.1\nPort {port}\nHostKey {home}/host\nStrictModes no\n"
            f"AuthorizedKeysFile {home}/user.pub\nPidFile none\nUsePAM no\n"
            "PermitRootLogin prohibit-password\nLogLevel ERROR\n")
        (home / "config").write_text(
            f"Host *\nIdentityFile {home}/user\nUserKnownHostsFile {home}/known\n"
            f"User {getpass.getuser()}\n")
        wrapper = home / "bin" / "ssh"
        wrapper.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {home}/config "$@"\n')
        wrapper.chmod(0o755)
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        server = subprocess.Popen([sshd, "-D", "-e", "-f", home / "sshd_config"],
                                  stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        wait_for_port(server, port)
        path = os.environ["PATH"]
        os.environ["PATH"] = f"{home}/bin:{path}"
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        place = self.shared / "it's shared"
        place.mkdir()
        address = f"ssh://127.0.0.1:{port}{place}"
        self.p.run("--remote", address)
        self.assertEqual(len(list(place.rglob("*.pack"))), 19)
        self.check_taken(self.project(), address)
        self.check_foreign(address, place)
        self.check_cleared(address, place, 1)
        # A place that cannot be had costs a line, not the run.
        shutil.rmtree(place)
        made = self.project().eqloom("run", "job.yaml", "--remote", address)
        self.assertEqual(made.err.count("the shared cache: ssh ended with status"), 1, made.err)
        self.assertIn("19 ran", made.err)

    def test_s3(self):
        python = s3_python()
        if not python:
            self.skipTest("moto's server cannot be installed from PyPI")
        port = free_port()
        # The first three requests make a user; from then on signatures are checked.
        env = os.environ | {"INITIAL_NO_AUTH_ACTION_COUNT": "3"}
        server = subprocess.Popen([python, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
                                  env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        wait_for_port(server, port)
        endpoint = f"http://127.0.0.1:{port}"
        made = subprocess.run([python, "-c", MAKE_USER, endpoint], capture_output=True, text=True,
                              check=True, env=env | {"AWS_ACCESS_KEY_ID": "none",
                                                     "AWS_SECRET_ACCESS_KEY": "none"})
        key, secret = made.stdout.split()
        named = {"AWS_ENDPOINT_URL": endpoint, "AWS_ACCESS_KEY_ID": key,
                 "AWS_SECRET_ACCESS_KEY": secret, "AWS_REGION": "us-east-1"}
        os.environ.update(named)
        for name in named:
            self.addCleanup(os.environ.pop, name)
        for address in ("s3://results/team a/calculus", "s3://results"):
            self.p.run("--remote", address)
            self.check_taken(self.project(), address)
        os.environ["AWS_SECRET_ACCESS_KEY"] = "wrong"
        made = self.project().eqloom("run", "job.yaml", "--remote", "s3://results")
        self.assertEqual(made.err.count("the shared cache: curl ended with status"), 1, made.err)
        self.assertIn("403", made.err)
        self.assertNotIn("wrong", made.err)


MAKE_USER = """
import json, sys, boto3
endpoint = {"endpoint_url": sys.argv[1], "region_name": "us-east-1"}
iam = boto3.client("iam", **endpoint)
iam.create_user(UserName="eqloom")
everything = {"Version": "2012-10-17",
              "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
iam.put_user_policy(UserName="eqloom", PolicyName="all", PolicyDocument=json.dumps(everything))
key = iam.create_access_key(UserName="eqloom")["AccessKey"]
s3 = boto3.client("s3", aws_access_key_id=key["AccessKeyId"],
                  aws_secret_access_key=key["SecretAccessKey"], **endpoint)
s3.create_bucket(Bucket="results")
print(key["AccessKeyId"], key["SecretAccessKey"])
"""


def s3_python():
    """A Python that has moto's server, or None: installed once, beside the build."""
    place = pathlib.Path(os.environ.get("BUILD_ROOT", "build")) / "tests" / "moto"
    python = place / "bin" / "python3"
    works = [python, "-c", "import moto.server, boto3, flask"]
    if python.exists() and subprocess.run(works, capture_output=True, check=False).returncode == 0:
        return str(python)
    try:
        subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True,
                       capture_output=True)
        subprocess.run([python, "-m", "pip", "--quiet", "install", "--retries", "1",
                        "moto[server,s3]"], check=True, capture_output=True, timeout=300)
        subprocess.run(works, check=True, capture_output=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return str(python)


if __name__ == "__main__":
    unittest.main()
