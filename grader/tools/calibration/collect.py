"""Writes the records of calibration: one row per launch.

usage: collect.py model|labs times LAUNCHES TIMES      (prints CSV)
       collect.py model|labs counters LAUNCHES NCU_CSV
"""

import csv
import sys
from pathlib import Path


def measured_time_rows(labs, launches, path):
    """Yields the rows of times; for labs, also the time of a copy of the same number of bytes."""
    measured = {row["id"]: row for row in csv.DictReader(open(path))}
    if not labs:
        yield ["id", "set", "kernel", "warm_us", "cold_us"]
        for launch in launches:
            row = measured[launch["id"]]
            yield [row[name] for name in ("id", "set", "kernel", "warm_us", "cold_us")]
        return
    yield ["id", "lab", "file", "kernel", "n", "blocks", "threads", "useful_bytes", "warm_us",
           "cold_us", "gb_s", "copy_warm_us", "copy_cold_us", "fraction_warm", "fraction_cold"]
    for launch in launches:
        row = measured[launch["id"]]
        lab = Path(launch["file"]).stem
        folder = "labs" if launch["file"].startswith("labs/") else "solutions"
        warm, cold = float(row["warm_us"]), float(row["cold_us"])
        copy_warm, copy_cold = float(row["copy_warm_us"]), float(row["copy_cold_us"])
        useful = int(launch["useful_bytes"])
        yield [launch["id"], lab, folder, launch["kernel"], launch["n"],
               int(launch["grid_x"]) * int(launch["grid_y"]),
               int(launch["block_x"]) * int(launch["block_y"]), useful, row["warm_us"],
               row["cold_us"], f"{useful / cold / 1000:.1f}", row["copy_warm_us"],
               row["copy_cold_us"], f"{copy_warm / warm:.3f}", f"{copy_cold / cold:.3f}"]


def counter_rows(launches, profiled_launches, path):
    """Yields rows with Nsight Compute's counters, a column each. ncu has profiled the launches in `profiled_launches`, in order."""
    lines = open(path).read().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith('"ID"'))
    values, metrics = {}, []
    for row in csv.DictReader(lines[start:]):
        metric = row["Metric Name"]
        if metric not in metrics:
            metrics.append(metric)
        values.setdefault(int(row["ID"]), {})[metric] = row["Metric Value"].replace(",", "")
    if sorted(values) != list(range(len(profiled_launches))):
        sys.exit(f"ncu profiled {len(values)} launches, the table has {len(profiled_launches)}")
    place = {launch["id"]: i for i, launch in enumerate(profiled_launches)}
    yield ["id", "set", "kernel", *metrics]
    for launch in launches:
        counted = values[place[launch["id"]]]
        yield [launch["id"], launch["set"], launch["kernel"], *(counted[m] for m in metrics)]


def main(table, what, path_of_launches, path):
    every = list(csv.DictReader(open(path_of_launches)))
    launches = [row for row in every if (row["set"] == "labs") == (table == "labs")]
    rows = (measured_time_rows(table == "labs", launches, path) if what == "times"
            else counter_rows(launches, every, path))
    csv.writer(sys.stdout, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
