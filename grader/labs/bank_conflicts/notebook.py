"""The data that labs/bank_conflicts/report.ipynb shows."""

import re

from lab32 import tables

TASKS = ["row_scan", "look_up", "block_sums", "row_moments", "spectrum"]
TYPES = ["char", "short", "int", "double", "int4"]
# The measured rows that students get besides the lab's times, because the notebook draws them. The other rows are
# withheld: they would answer questions or show how the solutions work.
STUDENTS_RECORDS = {
    "measured/h200-bank_conflicts-counters.csv": {
        "metric": {"memory_l1_wavefronts_shared"},
        "form": {"given", "optimised"},
    },
}


def wavefronts_by_type_and_stride(lab, way="store"):
    """The counts {type: {stride: wavefronts}} from the result's figures; `way` is store or load. The counts of int4 are
    included once C1, which asks for one of them, has passed."""
    found = {name: {} for name in TYPES}
    for name, value in lab.figures_by_name().items():
        if match := re.fullmatch(rf"touch<(\w+)>\((\d+)\) {way} wavefronts", name):
            found[match[1]][int(match[2])] = value
    if not lab.has_passed("C1 staging 128 ints"):
        del found["int4"]
    return {name: dict(sorted(counts.items())) for name, counts in found.items()}


def counts_by_stride_label(counts):
    """Replaces strides by labels for a figure: {label: wavefronts}."""
    return {f"stride {stride}": count for stride, count in counts.items()}


def documented_wavefronts_by_stride(element_type):
    """The source document's {stride: wavefronts} for one type."""
    found = {}
    for row in tables.read_documented_table("bank_patterns").rows:
        name, stride = row["kernel"].split()
        if name == element_type:
            found[int(stride)] = float(row["value"])
    return found


def simulated_and_documented_rows(lab):
    """The rows that the report page compares with the source document: [(label, simulated, documented, unit)]."""
    now, then = wavefronts_by_type_and_stride(lab)["int"], documented_wavefronts_by_stride("int")
    return [
        (f"ints, stride {n}: wavefronts", now[n], then[n], "per store") for n in now if n in then
    ]


def wavefronts_over_ideal(lab):
    """The student's wavefronts in part B as multiples of the ideal: {task: ratio}."""
    found = {}
    for test in lab.tests:
        task = next((t for t in TASKS if f" {t}: wavefronts" in test.name), None)
        if task and "wavefronts" in test.figures:
            found[task] = test.figures["wavefronts"] / test.figures["ideal_wavefronts"]
    return found


def shared_bytes_and_cap_by_task(lab):
    """The static shared memory of the student's kernels of part B, and its limits: ({task: bytes}, {task: bytes})."""
    mine, limits = {}, {}
    for test in lab.tests:
        task = next((t for t in TASKS if f" {t}: wavefronts" in test.name), None)
        if task and "shared_bytes" in test.figures:
            mine[task] = test.figures["shared_bytes"]
            limits[task] = test.figures["shared_limit"]
    return mine, limits


def h200_ratio_given_to_optimised(task, what="time"):
    """The given form's time (or its wavefronts) divided by the optimised form's, for one task on an H200."""
    if what == "time":
        table = tables.read_measured_table("h200-bank_conflicts")
        given, optimised = (
            float(max(table.where(task=task, form=f), key=lambda r: int(r["n"]))["median_ms"])
            for f in ("given", "optimised")
        )
    else:
        table = tables.read_measured_table("h200-bank_conflicts-counters")
        given, optimised = (
            table.value("value", task=task, form=f, metric="memory_l1_wavefronts_shared")
            for f in ("given", "optimised")
        )
    return given / optimised
