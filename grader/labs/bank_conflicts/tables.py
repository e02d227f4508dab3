"""The tables of handouts/bank_conflicts.md and of its notes."""

from handouts.markdown import markdown_table
from lab32 import tables

SHARED = "smsp__sass_inst_executed_op_shared_{}.sum"
RAW = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"


# For each table of the notes, (task, form) of its rows.
SETS = {
    "optimised": [("look_up", "optimised"), ("look_up", "padded"), ("look_up", "by columns"),
                  ("block_sums", "given"), ("block_sums", "optimised"), ("spectrum", "given"),
                  ("spectrum", "lane by lane"), ("spectrum", "optimised"),
                  ("spectrum_even", "given"), ("spectrum_even", "optimised"), ("count", "given")],
}  # fmt: skip


def wavefronts_table(device, chosen):
    """A table of the wavefronts and times of some forms, with the time for the largest n."""
    counters = tables.read_measured_table(f"{device}-bank_conflicts-counters")
    times = tables.read_measured_table(f"{device}-bank_conflicts")
    rows = []
    for task, form in SETS[chosen]:
        count, ideal = (
            counters.value("value", task=task, form=form, metric=f"memory_l1_wavefronts_shared{s}")
            for s in ("", "_ideal")
        )
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
    return markdown_table(head, rows, numeric=range(1, 5))


def raw_conflicts_table(device, n, task):
    """A table of each form of a task: the conflicts that follow from its pattern, the profiler's raw counters, and the
    time for the largest n."""
    table = tables.read_measured_table(f"{device}-bank_conflicts-counters")
    times = tables.read_measured_table(f"{device}-bank_conflicts")
    rows = []
    for form in dict.fromkeys(row["form"] for row in table.where(task=task, n=n)):

        def metric_value(metric, form=form):
            return int(table.value("value", task=task, form=form, n=n, metric=metric))

        count, ideal = (metric_value(f"memory_l1_wavefronts_shared{s}") for s in ("", "_ideal"))
        cells = [metric_value(SHARED.format("st")), count, count - ideal]
        cells += [metric_value(RAW.format(op)) for op in ("st", "ld")]
        slowest = max(times.where(task=task, form=form), key=lambda row: int(row["n"]))
        ms = f"{float(slowest['median_ms']):.3f} ms"
        rows.append([form, *(f"{cell:,}" for cell in cells), ms])
    head = [
        "form", "store instructions", "wavefronts", "conflicts of the pattern",
        "raw counter, stores", "raw counter, loads", "time",
    ]  # fmt: skip
    return markdown_table(head, rows, numeric=range(1, 7))


MAKERS = {"wavefronts": wavefronts_table, "raw_conflicts": raw_conflicts_table}
