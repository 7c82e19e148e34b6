"""kill -9 at random moments, then run again: it goes on, and every id is that of an undisturbed
run. EQLOOM_TEST_SEED repeats a series, EQLOOM_TEST_KILLS sets its length; long ones tell how far
they are."""
import os
import random
import shutil
import signal
import subprocess
import time
import unittest

from harness import ProjectTest


class Crash(ProjectTest):
    def test_killed_runs_go_on(self):
        seed = int(os.environ.get("EQLOOM_TEST_SEED", time.time_ns() & 0xFFFFFFFF))
        kills = int(os.environ.get("EQLOOM_TEST_KILLS", "25"))
        print(f"seed {seed}, {kills} kills", flush=True)
        rng = random.Random(seed)
        started = time.monotonic()
        self.p.run()
        length = time.monotonic() - started
        wanted = self.p.ids()
        done = 0
        while done < kills:
            q = self.project()
            for _ in range(5):  # a few kills on the way through one run
                process = q.start("run", "job.yaml", stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
                try:
                    process.wait(timeout=rng.uniform(0.005, length * 0.7))
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                    process.wait()
                    done += 1
            summary = q.run()
            self.assertEqual(summary["failed"], 0)
            self.assertEqual(q.ids(), wanted)
            q.eqloom("fsck")
            q.close()
            print(f"runs: {done} of {kills} kills, {time.monotonic() - started:.0f} s", flush=True)

    def test_killed_compact_loses_nothing(self):
        kills = int(os.environ.get("EQLOOM_TEST_KILLS", "25")) // 4 + 1
        rng = random.Random(int(os.environ.get("EQLOOM_TEST_SEED", "1")))
        self.p.run()
        wanted = self.p.ids()
        store, whole = self.p.dir / ".eqloom", self.p.dir / "whole"
        shutil.copytree(store, whole)
        started = time.monotonic()
        self.p.eqloom("compact")
        length = time.monotonic() - started
        for done in range(kills):
            print(f"compact: {2 * done} of {2 * kills} kills", flush=True)
            shutil.rmtree(store)
            shutil.copytree(whole, store)
            for _ in range(2):  # the second begins where the first was cut off
                process = self.p.start("compact", stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
                time.sleep(rng.uniform(0.005, length))
                process.send_signal(signal.SIGKILL)
                process.wait()
                self.p.eqloom("fsck")
                self.assertEqual(self.p.ids(), wanted)
            self.p.eqloom("compact")
            self.assertEqual(self.p.run()["nodes_ran"], 0)
            self.p.eqloom("fsck")

    # Long enough not to be over before it is looked at.
    LONG = ("run", "job.yaml", "--set", "steps=4000")

    def test_interrupt_commits_and_exits_130(self):
        self.p.run("egraphs")
        process = self.p.start(*self.LONG, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        _, narration = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, narration)
        again = self.p.run()
        # What was done before the signal is not done again.
        self.assertGreater(again["elements_cached"], 60)
        self.p.eqloom("fsck")

    def test_second_writer_is_told_who_holds_the_store(self):
        self.p.run("egraphs")
        first = self.p.start(*self.LONG, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            time.sleep(0.5)
            second = self.p.eqloom("run", "job.yaml", expect=1)
            self.assertIn(str(first.pid), second.err)
            # Readers work meanwhile.
            self.assertIn("small/egraphs", self.p.ids())
            self.p.eqloom("show", "small/seeds")
            self.p.eqloom("status", "job.yaml")
            self.assertIsNone(first.poll(), "the first run ended too early to tell anything")
        finally:
            first.send_signal(signal.SIGKILL)
            first.wait(timeout=120)
        self.p.run()


if __name__ == "__main__":
    unittest.main()
