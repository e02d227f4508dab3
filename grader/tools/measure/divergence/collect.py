#!/usr/bin/env python3
"""Writes data/measured/counters/h200-divergence.csv from the files of measure.sh: collect.py FOLDER"""

import csv
import re
import sys
from pathlib import Path

TABLE = Path(__file__).parents[4] / "data/measured/counters/h200-divergence.csv"
METRIC = re.compile(r"l1tex__t_requests_pipe_lsu_mem_global_op_(\w+)\.sum")


def main(folder):
    device, cuda, ncu, date = (folder / "where").read_text(encoding="utf-8").strip().split("\n")
    gpu, driver, sm, memory = device.split(", ")
    lines = (folder / "divergence.csv").read_text(encoding="utf-8").splitlines()
    launches = {}
    for row in csv.DictReader(line for line in lines if line.startswith('"')):
        kernel = row["Kernel Name"].split("(")[0].split("::")[-1]
        op = METRIC.fullmatch(row["Metric Name"]).group(1)
        launches.setdefault(kernel, {})[op] = row["Metric Value"].replace(",", "")
    with open(TABLE, "w", encoding="utf-8", newline="\n") as file:
        file.write(
            f"# device: {gpu}\n# driver: {driver}\n# cuda: {cuda.removeprefix('Build ')}, "
            f"Nsight Compute {ncu.removeprefix('Version ')}\n"
            f"# clocks: SM {sm}, memory {memory}, as found after the run\n# date: {date}\n"
            "# command: grader/tools/measure/divergence/measure.sh\n"
            "# requests of global memory, of one block of 64 threads\n"
        )
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["kernel", "ld", "st", "red", "atom"])
        for kernel, ops in launches.items():
            table.writerow([kernel, *(ops[op] for op in ("ld", "st", "red", "atom"))])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
