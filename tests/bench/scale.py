"""What a corpus of many expressions costs on a cluster: a discrete simulation of one master and many
workers, on the costs that bench_slurm.py measures. Blocks are cut and packed by the master, wait for
a slot and for Slurm's scheduler, run (with jitter, and some die), and are taken in by the same one
thread of the master. Seeded: the same figures each time.

    scale.py [EXPRESSIONS [SEED]]
"""
import heapq
import random
import sys

# Of bench_slurm.py: milliseconds of processor time by element, on one thread; bytes in the store.
#       name        worker  send  take  bytes
MAPS = [("egraphs", 30.0, 0.05, 0.20, 6000),
        ("clusters", 30.0, 0.20, 0.10, 3000),
        ("tokens", 0.5, 0.05, 0.05, 2000)]
TASKS_MS = 0.2           # merge and split, by cluster, on the master
BY_CLUSTER = 107.7       # expressions
BLOCK_MS = 200           # of a worker, before and after its elements
CORES = 32               # of a node; a block has one
START_S, STARTS = 1.0, 50  # of a job: latency, and how many Slurm starts in a second
POLL_S, MOST, BLOCK = 2.0, 1000, 2048
JITTER, DIES = 0.2, 0.001  # of a block: standard deviation of the logarithm, probability
NODES = [1, 4, 16, 64, 256]


def run_map(rng, elements, slots, most, take_threads, cost):
    """Seconds, and those of them in which the master works."""
    _, work, send, take, _ = cost
    left, waiting, events = -(-elements // BLOCK), 0, []
    there = back = done = 0
    total, now, busy, started = left, 0.0, 0.0, 0.0
    while done < total:
        # The master looks: takes in what is back, cuts and sends what may be there.
        arrived, back = back, 0
        step = arrived * BLOCK * take / 1e3 / take_threads
        done += arrived
        there -= arrived
        n = min(left, most - there)
        step += n * BLOCK * send / 1e3
        left, there, waiting = left - n, there + n, waiting + n
        busy += step
        look = now + max(step, POLL_S)
        now += step
        # Until it looks again: blocks end, others begin.
        while True:
            while waiting and len(events) < slots:
                started = max(started + 1 / STARTS, now + START_S)
                length = (BLOCK * work + BLOCK_MS) / 1e3 * rng.lognormvariate(0, JITTER)
                heapq.heappush(events, (started + length, rng.random() < DIES))
                waiting -= 1
            if not events or events[0][0] > look:
                break
            now, died = heapq.heappop(events)
            waiting += died
            back += not died
        now = look
    return now, busy


def run(expressions, seed, nodes, most=MOST, take_threads=1):
    rng = random.Random(seed)
    clusters = int(expressions / BY_CLUSTER)
    wall = clusters * TASKS_MS / 1e3
    busy = wall
    for cost in MAPS:
        seconds, worked = run_map(rng, clusters, nodes * CORES, most, take_threads, cost)
        wall, busy = wall + seconds, busy + worked
    return wall / 3600, busy / wall


def main():
    expressions = float(sys.argv[1]) if sys.argv[1:] else 1e9
    seed = int(sys.argv[2]) if sys.argv[2:] else 1
    clusters = int(expressions / BY_CLUSTER)
    size = sum(cost[4] for cost in MAPS) * clusters
    work = sum(cost[1] for cost in MAPS) * clusters / 3.6e6
    print(f"{expressions:.0e} expressions, {clusters} clusters, {3 * clusters} elements, "
          f"{size / 1e9:.0f} GB, {work:.0f} hours of one core")
    print("| nodes | cores | hours | the master works | hours, 8 threads take in and MOST is the "
          "cores |\n|---|---|---|---|---|")
    for nodes in NODES:
        hours, busy = run(expressions, seed, nodes)
        better = run(expressions, seed, nodes, max(MOST, 2 * nodes * CORES), 8)[0]
        print(f"| {nodes} | {nodes * CORES} | {hours:.1f} | {100 * busy:.0f}% | {better:.1f} |")


if __name__ == "__main__":
    main()
