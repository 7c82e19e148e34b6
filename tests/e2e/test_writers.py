"""Several who want to write: told who holds the store, queueing, and after one was killed."""
import fcntl
import re
import signal
import subprocess
import time
import unittest

from harness import TIMEOUT_S, ProjectTest


class Writers(ProjectTest):
    def test_a_second_one_is_told_or_waits(self):
        holder = self.hold()
        refused = self.p.eqloom("run", "job.yaml", expect=None)
        self.assertNotEqual(refused.status, 0)
        self.assertRegex(refused.err, rf"held by pid {holder.pid} \(.*run job.yaml.*\) since ")
        self.assertIn("running", self.p.eqloom("log").out)
        waiting = self.p.start("run", "job.yaml", "--wait", "--json", "clusters",
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(0.5)
        self.assertIsNone(waiting.poll())
        holder.send_signal(signal.SIGINT)
        holder.wait()
        out, err = waiting.communicate(timeout=TIMEOUT_S)
        self.assertEqual(waiting.returncode, 0, err)
        self.assertIn('"event":"summary"', out)

    def test_a_nameless_holder_is_waited_for(self):
        """Who never says its name, since it is elsewhere or no eqloom, is told of in the end."""
        self.p.run("rules")
        with open(self.p.dir / ".eqloom/lock", "r+", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            start = time.monotonic()
            refused = self.p.eqloom("run", "job.yaml", "--wait=3", expect=1)
            self.assertGreaterEqual(time.monotonic() - start, 10)
        self.assertRegex(refused.err, r"error: the store is held by another process \(.*lock\)")
        self.assertEqual(self.p.run()["failed"], 0)

    def test_a_killed_writer_is_no_obstacle(self):
        holder = self.hold()
        holder.kill()
        holder.wait()
        self.assertRegex(self.p.eqloom("log").out, r"small/000001 .* killed")
        self.assertEqual(self.p.run()["failed"], 0)
        states = re.findall(r"small/00000\d .*?(killed|running|done)", self.p.eqloom("log").out)
        self.assertEqual(states, ["done", "killed"])


if __name__ == "__main__":
    unittest.main()
