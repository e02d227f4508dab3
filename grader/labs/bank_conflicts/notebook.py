"""What labs/bank_conflicts/report.ipynb shows."""

import re

from lab32 import tables

TASKS = ["row_scan", "look_up", "block_sums", "row_moments", "spectrum"]
TYPES = ["char", "short", "int", "double", "int4"]
# What students get of the measured data besides the lab's times: the rows that the notebook draws. The
# others answer questions and say how the solutions work.
STUDENTS_RECORDS = {
    "measured/h200-bank_conflicts-counters.csv": {
        "metric": {"memory_l1_wavefronts_shared"},
        "form": {"given", "optimised"},
    },
}


def touches(lab, way="store"):
    """Counted, from the figures of the result: {type: {stride: wavefronts}}; way is store or load. Of int4
    once C1 is right, which asks for one of them."""
    found = {name: {} for name in TYPES}
    for name, value in lab.figures().items():
        if match := re.fullmatch(rf"touch<(\w+)>\((\d+)\) {way} wavefronts", name):
            found[match[1]][int(match[2])] = value
    if not lab.has_passed("C1 staging 128 ints"):
        del found["int4"]
    return {name: dict(sorted(counts.items())) for name, counts in found.items()}


def by_stride(counts):
    """{stride: wavefronts} with the words of a figure."""
    return {f"stride {stride}": count for stride, count in counts.items()}


def documented_touches(kind):
    """Of the source document, for one type: {stride: wavefronts}."""
    found = {}
    for row in tables.documented("bank_patterns").rows:
        name, stride = row["kernel"].split()
        if name == kind:
            found[int(stride)] = float(row["value"])
    return found


def documented_rows(lab):
    """For the report: [(what, simulated, documented, unit)]."""
    now, then = touches(lab)["int"], documented_touches("int")
    return [
        (f"ints, stride {n}: wavefronts", now[n], then[n], "per store") for n in now if n in then
    ]


def tasks(lab):
    """Wavefronts of part B, as a multiple of the ideal: {task: ratio}."""
    found = {}
    for test in lab.tests:
        task = next((t for t in TASKS if f" {t}: wavefronts" in test.name), None)
        if task and "wavefronts" in test.figures:
            found[task] = test.figures["wavefronts"] / test.figures["ideal_wavefronts"]
    return found


def shared_bytes(lab):
    """Static shared memory of part B's kernels and its limit: ({task: bytes}, {task: bytes})."""
    mine, limits = {}, {}
    for test in lab.tests:
        task = next((t for t in TASKS if f" {t}: wavefronts" in test.name), None)
        if task and "shared_bytes" in test.figures:
            mine[task] = test.figures["shared_bytes"]
            limits[task] = test.figures["shared_limit"]
    return mine, limits


def measured_ratio(task, what="time"):
    """Given over optimised form on an H200, by time or wavefronts."""
    if what == "time":
        table = tables.measured("h200-bank_conflicts")
        given, optimised = (
            float(max(table.where(task=task, form=f), key=lambda r: int(r["n"]))["median_ms"])
            for f in ("given", "optimised")
        )
    else:
        table = tables.measured("h200-bank_conflicts-counters")
        given, optimised = (
            table.value("value", task=task, form=f, metric="memory_l1_wavefronts_shared")
            for f in ("given", "optimised")
        )
    return given / optimised
