"""Plots `bench_egraph WORKLOADS iterations`: the time of each iteration of a search-bound saturation
over the nodes that existed, and over those at which something might be new. Usage:
    bench_egraph tests/bench/workloads iterations | plot_iterations.py OUT.svg"""
import csv
import math
import sys

SIZE, LEFT, TOP = 260, 60, 30


def panel(out, x0, title, points):
    logs = [(math.log10(max(x, 1)), math.log10(max(y, 1e-6))) for x, y in points]
    x_low, x_high = (f(p[0] for p in logs) for f in (min, max))
    y_low, y_high = (f(p[1] for p in logs) for f in (min, max))
    x_low, y_low = math.floor(x_low), math.floor(y_low)
    x_high, y_high = max(math.ceil(x_high), x_low + 1), max(math.ceil(y_high), y_low + 1)

    def place(x, y):
        return (x0 + SIZE * (x - x_low) / (x_high - x_low),
                TOP + SIZE * (y_high - y) / (y_high - y_low))

    out.append(f'<rect x="{x0}" y="{TOP}" width="{SIZE}" height="{SIZE}" fill="none" stroke="#888"/>')
    for x in range(x_low, x_high + 1):
        at = place(x, y_low)
        out.append(f'<text x="{at[0]:.1f}" y="{at[1] + 16:.1f}" text-anchor="middle">1e{x}</text>')
    for y in range(y_low, y_high + 1):
        at = place(x_low, y)
        out.append(f'<text x="{at[0] - 6:.1f}" y="{at[1] + 4:.1f}" text-anchor="end">1e{y}</text>')
    out.append(f'<text x="{x0 + SIZE / 2}" y="{TOP + SIZE + 36}" text-anchor="middle">{title}</text>')
    for x, y in logs:
        at = place(x, y)
        out.append(f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="3" fill="#26c" fill-opacity="0.6"/>')


def main():
    rows = [(float(r["seconds"]), int(r["nodes"]), int(r["visited"]))
            for r in csv.DictReader(sys.stdin)]
    width, height = 2 * (SIZE + LEFT) + 30, TOP + SIZE + 50
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           'font-family="sans-serif" font-size="11">',
           f'<rect width="{width}" height="{height}" fill="white"/>',
           f'<text x="{LEFT}" y="18">seconds of an iteration</text>']
    panel(out, LEFT, "e-nodes that exist", [(n, s) for s, n, v in rows])
    panel(out, 2 * LEFT + SIZE, "nodes at which something might be new", [(v, s) for s, n, v in rows])
    out.append("</svg>")
    with open(sys.argv[1], "w", encoding="ascii") as f:
        f.write("\n".join(out) + "\n")


main()
