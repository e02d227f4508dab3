#!/usr/bin/env python3
"""Joins the files of measure.sh into one CSV per memory space with a row per launch:
collect.py FOLDER OUTPUT_FOLDER [SET]"""
import csv
import pathlib
import sys

COLUMNS = {
    "g": {  # requests and sectors of the op's own pipe, then the theoretical sectors
        "requests": "l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum",
        "sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum",
        "theoretical": "memory_l2_theoretical_sectors_global",
        "ideal": "memory_l2_theoretical_sectors_global_ideal",
    },
    "s": {  # hardware counts, then Nsight Compute's derived figures (see README.md)
        "hardware": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum",
        "wavefronts": "memory_l1_wavefronts_shared",
        "ideal": "memory_l1_wavefronts_shared_ideal",
    },
}
NAMES = {"g": "h200-{}global.csv", "s": "h200-{}shared.csv"}


def access_kind_in_metric_name(op):
    """The op's name in metrics: ld, st, red or atom. Shared memory has no red, and an asynchronous copy counts as a
    load of global memory."""
    space, name = op.split("_")[:2]
    if name.startswith(("copy", "both")):
        return "ld" if space == "g" else "st"
    if name == "red" and space == "s":
        return "atom"
    return name if name in ("red", "atom") else name[:2]


def read_launch_metrics(paths):
    """One dict of metrics per launch, in order, from the CSV tables of several ncu runs."""
    rows = {}
    for run, path in enumerate(paths):
        # The program's output and ncu's own lines precede the table.
        table = [line for line in open(path, encoding="utf-8") if line.startswith('"')]
        for row in csv.DictReader(table):
            launch = rows.setdefault((run, int(row["ID"])), {"kernel": row["Kernel Name"]})
            launch[row["Metric Name"]] = row["Metric Value"].replace(",", "")
    return [rows[k] for k in sorted(rows)]


def main(folder, out, chosen=""):
    if chosen:  # also the executed instructions: smsp__sass_* leaves out instructions without active lanes
        COLUMNS["s"]["instructions"] = "smsp__sass_inst_executed_op_shared_{}.sum"
    command = f"measure.sh {chosen}".strip()
    patterns = list(csv.DictReader(open(folder / "patterns.csv", encoding="utf-8")))
    device, ncu, date = (folder / "device").read_text(encoding="utf-8").strip().split("\n")
    gpu, driver, sm, memory = device.split(", ")
    for space in "gs":
        mine = [p for p in patterns if p["op"].startswith(space + "_")]
        measured = read_launch_metrics(sorted(folder.glob(f"{space}-*.csv"), key=lambda f: int(f.stem[2:])))
        name = NAMES[space].format(chosen + "-" if chosen else "")
        with open(out / name, "w", encoding="utf-8", newline="\n") as f:
            f.write(
                f"# device: {gpu}\n# driver: {driver}\n# cuda: 13.0 (nvcc -arch=sm_90)\n"
                f"# clocks: SM {sm}, memory {memory}, as found after the run\n# date: {date}\n"
                f"# command: data/measured/counters/{command}; Nsight Compute {ncu.split()[1]}\n")
            f.write(",".join(["op", "mask", *COLUMNS[space], "offsets"]) + "\n")
            for p, m in zip(mine, measured):
                if not m["kernel"].startswith(p["op"] + "("):
                    sys.exit(f"launch of {m['kernel']} where {p['op']} was expected")
                short = access_kind_in_metric_name(p["op"])
                row = [m[metric.format(short)] for metric in COLUMNS[space].values()]
                f.write(",".join([p["op"], p["mask"], *row, p["offsets"]]) + "\n")
        print(f"{name}: {len(measured)} of {len(mine)} patterns")


main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), *sys.argv[3:])
