"""What a corpus of many expressions costs on a cluster: a discrete simulation of one master and its
workers, on the costs that bench_slurm.py measured for jobs/e-gen.yaml. Blocks are cut and packed by
the master, wait for a core and for Slurm's scheduler, run (with jitter, and some die), and are taken
in by the same one thread of the master. Seeded: the same figures each time.

    scale.py [EXPRESSIONS [SEED]]
"""
import heapq
import random
import sys

# Milliseconds of processor time by element: of a worker; of the master, by what it sends and by what
# it takes in (measured together, divided by raw bytes). Bytes in the store.
#       name        worker   send   take  bytes
MAPS = [("egraphs", 4.464, 0.000, 0.819, 14664),
        ("clusters", 13.853, 0.889, 0.129, 1722),
        ("tokens", 0.506, 0.168, 0.239, 2726)]
OTHER_BYTES = 3560       # actions, witnesses, collections, by cluster
TASKS_MS = 0.084         # merge, by cluster, on the master
BY_CLUSTER = 107.7       # expressions
BLOCK_MS = 214           # of a worker, before and after its elements
START_S, STARTS = 1.0, 50  # of a job: latency, and how many Slurm starts in a second
POLL_S, MOST, BLOCK = 2.0, 1000, 2048
JITTER, DIES = 0.2, 0.001  # of a block: standard deviation of the logarithm, probability
CORES = [4, 8, 16, 32, 128, 512, 2048]
THREADS = 8              # of a master that would take in by several
COSTLY = 80              # elements as expensive as those of the E-Gen paper's own program


def run_map(rng, elements, cores, threads, factor, cost):
    """Seconds, and how many of them the master works."""
    _, work, send, take, _ = cost
    left, most = -(-elements // BLOCK), max(MOST, 2 * cores)
    waiting = there = back = done = 0
    total, now, busy, started, running = left, 0.0, 0.0, 0.0, []
    while done < total:
        # The master looks: takes in what is back, cuts and sends what may be there.
        step, done, there, back = back * BLOCK * take, done + back, there - back, 0
        n = min(left, most - there)
        step = (step + n * BLOCK * send) / 1e3 / threads
        left, there, waiting = left - n, there + n, waiting + n
        busy += step
        look = now + max(step, POLL_S)
        now += step
        # Until it looks again: blocks end, others begin.
        while True:
            while waiting and len(running) < cores:
                started = max(started + 1 / STARTS, now + START_S)
                length = (BLOCK * work * factor + BLOCK_MS) / 1e3 * rng.lognormvariate(0, JITTER)
                heapq.heappush(running, (started + length, rng.random() < DIES))
                waiting -= 1
            if not running or running[0][0] > look:
                break
            now, died = heapq.heappop(running)
            waiting += died
            back += not died
        now = look
    return now, busy


def run(expressions, seed, cores, threads=1, factor=1):
    """Hours, and which part of them the master works."""
    rng = random.Random(seed)
    clusters = int(expressions / BY_CLUSTER)
    wall = busy = clusters * TASKS_MS / 1e3
    for cost in MAPS:
        seconds, worked = run_map(rng, clusters, cores, threads, factor, cost)
        wall, busy = wall + seconds, busy + worked
    return wall / 3600, busy / wall


def main():
    expressions = float(sys.argv[1]) if sys.argv[1:] else 1e9
    seed = int(sys.argv[2]) if sys.argv[2:] else 1
    clusters = int(expressions / BY_CLUSTER)
    size = (sum(cost[4] for cost in MAPS) + OTHER_BYTES) * clusters
    work = sum(cost[1] for cost in MAPS) * clusters / 3.6e6
    master = (sum(cost[2] + cost[3] for cost in MAPS) + TASKS_MS) * clusters / 3.6e6
    print(f"{expressions:.0e} expressions: {clusters} clusters, {3 * clusters} elements, "
          f"{size / 1e9:.0f} GB, {work:.1f} core hours, {master:.1f} hours of the master")
    print(f"| cores | hours | master works | hours, {THREADS} threads | hours, elements {COSTLY} times "
          "as expensive | master works |\n|---|---|---|---|---|---|")
    for cores in CORES:
        hours, part = run(expressions, seed, cores)
        several = run(expressions, seed, cores, THREADS)[0]
        costly, costly_part = run(expressions, seed, cores, 1, COSTLY)
        print(f"| {cores} | {hours:.1f} | {100 * part:.0f}% | {several:.1f} | {costly:.1f} | "
              f"{100 * costly_part:.0f}% |")


if __name__ == "__main__":
    main()
