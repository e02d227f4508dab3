"""Writes the tables of this directory from the files of measure.sh: collect.py DIRECTORY

Nsight Compute prints a row per launch and metric, and a table per instruction listing. These tables have one row
per launch, or per memory instruction of a launch.
"""

import csv
import re
import sys
from pathlib import Path

TABLES = Path(__file__).parents[4] / "data/measured/sass"
MEMORY = re.compile(
    r"\b(LD|ST|RED|ATOM|LDG|STG|LDS|STS|ATOMS|ATOMG|REDG|LDL|STL|LDGSTS|LDSM|STSM)(\.|\s)"
)


def read_ncu_csv_rows(path):
    with open(path, newline="") as file:
        return [row for row in csv.reader(file) if row and not row[0].startswith("==")]


def write_table(name, comments, header, rows):
    with open(TABLES / name, "w", newline="") as file:
        for line in comments:
            file.write(f"# {line}\n")
        table = csv.writer(file, lineterminator="\n")
        table.writerow(header)
        table.writerows(rows)


def read_launch_table(path):
    header, *rows = read_ncu_csv_rows(path)
    at = {name: i for i, name in enumerate(header)}
    table, metrics = {}, []
    for row in rows:
        if len(row) < len(header):
            continue
        shape = [row[at[k]].strip("()").replace(", ", "x") for k in ("Grid Size", "Block Size")]
        kernel = row[at["Kernel Name"]].split("(")[0].removeprefix("void ")
        figures = table.setdefault(int(row[at["ID"]]), ([kernel, *shape], {}))[1]
        metric = row[at["Metric Name"]]
        if metric not in metrics:
            metrics.append(metric)
        figures[metric] = row[at["Metric Value"]].replace(",", "")
    body = [[k, *who, *(f.get(m, "") for m in metrics)] for k, (who, f) in sorted(table.items())]
    return ["launch", "kernel", "grid", "block", *metrics], body


def ncu_memory_instruction_rows(path, kernels):
    blocks = []
    for row in read_ncu_csv_rows(path):
        if row[0] == "Kernel Name":
            blocks.append((row[1], []))
        else:
            blocks[-1][1].append(row)
    blocks = blocks[::2]  # each launch is printed twice
    assert len(blocks) == len(kernels)
    columns = (
        "inst_executed thread_inst_executed_true memory_l1_wavefronts_shared"
        " memory_l1_wavefronts_shared_ideal memory_l2_theoretical_sectors_global"
        " memory_l2_theoretical_sectors_global_ideal"
    ).split()
    for launch, ((_, (header, *rows)), kernel) in enumerate(zip(blocks, kernels)):
        at = {name: i for i, name in enumerate(header)}
        start = int(rows[0][0], 16)
        for row in rows:
            if MEMORY.search(row[1]):
                figures = [row[at[c]] if c in at else "0" for c in columns]
                offset = hex(int(row[0], 16) - start)
                yield [launch, kernel, offset, " ".join(row[1].split()), *figures]


def main():
    measured = Path(sys.argv[1])
    where = (measured / "where.txt").read_text().splitlines()
    header, body = read_launch_table(measured / "launch_all.csv")
    write_table(
        "launch_all.csv",
        ["Counts of every launch of launch_all.cu, in launch order.", *where],
        header,
        body,
    )
    write_table(
        "by_instruction.csv",
        [
            "The memory instructions of every launch of launch_all.cu: address in the kernel, how",
            "often a warp executed it (even with all lanes predicated off), lanes that were not",
            "predicated off, wavefronts, sectors.",
            *where,
        ],
        "launch kernel offset instruction warps lanes shared_wavefronts shared_wavefronts_ideal"
        " global_sectors global_sectors_ideal".split(),
        ncu_memory_instruction_rows(measured / "by_instruction.csv", [row[1] for row in body]),
    )
    header, body = read_launch_table(measured / "shared_atomics.csv")
    write_table(
        "shared_atomics.csv",
        [
            "What shared atomics cost, one warp, many address patterns: shared_atomics.cu.",
            *where,
        ],
        header,
        body,
    )


if __name__ == "__main__":
    main()
