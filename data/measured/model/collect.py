"""Makes one row a launch, one column a metric, of Nsight Compute's CSV.

usage: collect.py LAUNCHES NCU_CSV   (prints CSV)
"""

import csv
import sys


def main(launches, ncu):
    named = list(csv.DictReader(open(launches)))
    lines = open(ncu).read().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith('"ID"'))
    values, metrics = {}, []
    for row in csv.DictReader(lines[start:]):
        metric = row["Metric Name"]
        if metric not in metrics:
            metrics.append(metric)
        values.setdefault(int(row["ID"]), {})[metric] = row["Metric Value"].replace(",", "")
    if sorted(values) != list(range(len(named))):
        sys.exit(f"ncu profiled {len(values)} launches, the table has {len(named)}")
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["id", "set", "kernel", *metrics])
    for launch in named:
        counted = values[int(launch["id"])]
        out.writerow([launch["id"], launch["set"], launch["kernel"], *(counted[m] for m in metrics)])


if __name__ == "__main__":
    main(*sys.argv[1:])
