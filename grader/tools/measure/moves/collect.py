#!/usr/bin/env python3
"""Joins the files of measure.sh for one set into two tables with a row per launch:
collect.py FOLDER OUTPUT_FOLDER known|unseen|more|predicted"""
import csv
import pathlib
import sys

TEXTURE = "l1tex__t_{}_pipe_tex_mem_{}.sum"
REMOTE = "l1tex__t_{}_pipe_lsu_mem_dshared_op_{}.sum"
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
INSTRUCTIONS = "smsp__sass_inst_executed_op_shared_{}.sum"
TO_BLOCKS = "l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum"
FROM_BLOCKS = "l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_st.sum"
L2 = ["lts__t_sectors_srcunit_tex_op_read.sum", "lts__t_sectors_srcunit_tex_op_write.sum"]


def texture_metrics(op):
    way = ("surface_op_st" if op.startswith("sust") else
           "surface_op_ld" if op.startswith("suld") else "texture")
    return {"requests": TEXTURE.format("requests", way), "sectors": TEXTURE.format("sectors", way),
            "l2_read": L2[0], "l2_write": L2[1]}


def copy_metrics(op):
    kind = op[2:4] if op.startswith(("d_ld", "d_st")) else "atom"
    return {"loads": "smsp__inst_executed_op_tma_ld.sum", "stores": "smsp__inst_executed_op_tma_st.sum",
            "arrived": TO_BLOCKS, "left": FROM_BLOCKS, "requests": REMOTE.format("requests", kind),
            "sectors": REMOTE.format("sectors", kind), "wavefronts": WAVEFRONTS.format(kind),
            "own": INSTRUCTIONS.format(kind), "l2_read": L2[0], "l2_write": L2[1]}


COLUMNS = {"texture": texture_metrics, "copy": copy_metrics}


def read_launch_metrics(path):
    """One dict of metrics per launch, in order."""
    rows = {}
    table = [line for line in open(path, encoding="utf-8") if line.startswith('"')]
    for row in csv.DictReader(table):
        launch = rows.setdefault(int(row["ID"]), {})
        launch[row["Metric Name"]] = row["Metric Value"].replace(",", "")
    return [rows[k] for k in sorted(rows)]


def main(folder, out, chosen):
    device, ncu, date = (folder / "device").read_text(encoding="utf-8").strip().split("\n")
    gpu, driver, sm, memory = device.split(", ")
    for program, columns in COLUMNS.items():
        patterns = list(csv.DictReader(open(folder / f"patterns-{program}-{chosen}.csv", encoding="utf-8")))
        measured = read_launch_metrics(folder / f"{program}-{chosen}.csv")
        if len(patterns) != len(measured):
            sys.exit(f"{len(measured)} launches of {len(patterns)} patterns")
        with open(out / f"h100-{program}-{chosen}.csv", "w", encoding="utf-8", newline="\n") as f:
            f.write(f"# device: {gpu}\n# driver: {driver}\n# cuda: 13.0 (nvcc -arch=sm_90)\n"
                    f"# clocks: SM {sm}, memory {memory}, as found after the run\n# date: {date}\n"
                    f"# command: grader/tools/measure/moves/measure.sh OUTPUT_FOLDER {chosen}; Nsight Compute "
                    f"{ncu.split()[1]}\n")
            f.write(",".join(["op", "mask", "points", *columns("")]) + "\n")
            for p, m in zip(patterns, measured):
                values = [m[name] for name in columns(p["op"]).values()]
                f.write(",".join([p["op"], p["mask"], p["points"], *values]) + "\n")


main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3])
