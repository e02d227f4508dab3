#!/usr/bin/env python3
"""Stores the tables that measure.sh had ncu print, unchanged: collect.py FOLDER

Only the lines above a table, which name the user's process, are replaced by lines that name the GPU and the driver.
"""
import pathlib
import sys

TABLES = pathlib.Path(__file__).parents[4] / "data/measured/ncu"


def main(folder):
    device, ncu, date = (folder / "device").read_text(encoding="utf-8").strip().split("\n")
    gpu, driver, sm, memory = device.split(", ")
    for name in ("names", "shapes", "sample"):
        lines = (folder / f"ncu-{name}.csv").read_text(encoding="utf-8").split("\n")
        table = [line for line in lines if line.startswith('"')]
        head = [
            f"# device: {gpu}", f"# driver: {driver}", "# cuda: 13.0 (nvcc -arch=sm_90)",
            f"# clocks: SM {sm}, memory {memory}, as found after the run", f"# date: {date}",
            f"# command: grader/tools/measure/ncu/measure.sh; Nsight Compute {ncu.split()[1]}"]
        (TABLES / f"h200-{name}.csv").write_text("\n".join(head + table) + "\n", encoding="utf-8")
        print(f"h200-{name}.csv: {len(table) - 1} rows")


main(pathlib.Path(sys.argv[1]))
