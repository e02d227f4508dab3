"""The tables of handouts/bank_conflicts.md and of its notes."""

from handouts.markdown import markdown
from lab32 import tables

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
    return markdown(head, rows, numeric=range(1, 5))


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
    return markdown(head, rows, numeric=range(1, 6))


MAKERS = {"wavefronts": wavefronts, "raw_conflicts": raw_conflicts}
