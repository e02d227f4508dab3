"""What labs/bank_conflicts/report.ipynb shows, and the tables of its handout."""

import re

from lab32 import tables

TASKS = ["row_scan", "look_up", "block_sums", "row_moments", "spectrum"]
TYPES = ["char", "short", "int", "double", "int4"]


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


# ---- tables of the handout -----------------------------------------------------------------------

SHARED = "smsp__sass_inst_executed_op_shared_{}.sum"
RAW = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"


def forms_of(table, n, task):
    """The forms of a task in the order of the file; n `any`: the task has one n."""
    rows = table.where(task=task) if n == "any" else table.where(task=task, n=n)
    return list(dict.fromkeys((row["form"], row["n"]) for row in rows))


def wavefronts(device, n, *names):
    """Wavefronts and time of every form of these tasks; the time at the largest n."""
    counters = tables.measured(f"{device}-bank_conflicts-counters")
    times = tables.measured(f"{device}-bank_conflicts")
    rows = []
    for task in names:
        for form, size in forms_of(counters, n, task):

            def value(metric, task=task, form=form, size=size):
                return counters.value("value", task=task, form=form, n=size, metric=metric)

            count, ideal = (value(f"memory_l1_wavefronts_shared{s}") for s in ("", "_ideal"))
            slowest = max(times.where(task=task, form=form), key=lambda row: int(row["n"]))
            rows.append(
                [
                    f"`{task}`, {form}",
                    f"{int(count):,}",
                    f"{int(count - ideal):,}",
                    f"{float(slowest['median_ms']):.3f} ms",
                    slowest["times_copy"],
                ]
            )
    head = ["form", "wavefronts", "of these conflicts", "time", "time / copy's time"]
    return tables.markdown(head, rows, numeric=range(1, 5))


def raw_conflicts(device, n, *names):
    """The pattern's conflicts beside the profiler's raw counters."""
    table = tables.measured(f"{device}-bank_conflicts-counters")
    rows = []
    for task in names:
        for form, size in forms_of(table, n, task):

            def value(metric, task=task, form=form, size=size):
                return int(table.value("value", task=task, form=form, n=size, metric=metric))

            count, ideal = (value(f"memory_l1_wavefronts_shared{s}") for s in ("", "_ideal"))
            cells = [value(SHARED.format("st")), count, count - ideal]
            cells += [value(RAW.format(op)) for op in ("st", "ld")]
            rows.append([form] + [f"{cell:,}" for cell in cells])
    head = [
        "form", "store instructions", "wavefronts", "conflicts of the pattern",
        "raw counter, stores", "raw counter, loads",
    ]  # fmt: skip
    return tables.markdown(head, rows, numeric=range(1, 6))


MAKERS = {"wavefronts": wavefronts, "raw_conflicts": raw_conflicts}
