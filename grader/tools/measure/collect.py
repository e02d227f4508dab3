"""Joins ncu's CSV with the names of the launches that measure.cu prints; one row per metric.

usage: collect.py LAUNCHES NCU_CSV   (prints CSV)
"""

import csv
import sys


def main(launches, ncu):
    named = [row[1:] for row in csv.reader(open(launches)) if row and row[0] == "launch"]
    # ncu prints its own "==PROF==" lines and the program's output before the table.
    lines = open(ncu).read().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith('"ID"'))
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["task", "form", "n", "block", "metric", "unit", "value"])
    seen = set()
    for row in csv.DictReader(lines[start:]):
        index = int(row["ID"])
        seen.add(index)
        _, task, form, n, block = named[index]
        value = row["Metric Value"].replace(",", "")
        out.writerow([task, form, n, block, row["Metric Name"], row["Metric Unit"], value])
    if seen != set(range(len(named))):
        sys.exit(f"ncu profiled {len(seen)} launches, the program made {len(named)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
