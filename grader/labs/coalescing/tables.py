"""The tables of handouts/coalescing.md and of its notes."""

from handouts.markdown import markdown_table
from lab32 import tables

# For each table of the notes, (task, form) of its rows.
SETS = {
    "optimised": [("scale", "given"), ("scale", "optimised"), ("push", "float4"),
                  ("push", "optimised"), ("centre", "given"), ("centre", "column = threadIdx.y"),
                  ("centre", "optimised"), ("axpy", "given"), ("axpy", "batched"),
                  ("axpy", "optimised")],
    "cached": [("add1", "add1/256"), ("add2", "add2/256"), ("length", "aos"),
               ("length", "aos, ld.cg"), ("length", "soa")],
}  # fmt: skip


def form_times_table(device, chosen):
    """A table of the times of some forms at the largest measured size, also as multiples of a copy of the same
    bytes."""
    table = tables.read_measured_table(f"{device}-coalescing")
    rows = []
    for task, form in SETS[chosen]:
        row = max(table.where(task=task, form=form), key=lambda row: int(row["n"]))
        name = f"`{form}`" if form.startswith(task) else f"`{task}`, {form}"
        ms = f"{float(row['median_ms']):.3f} ms"
        rows.append([name, ms, row["times_copy"]])
    return markdown_table(["form", "time", "time / copy's time"], rows, numeric=[1, 2])


def measured_counters_table(device, n, block, *forms):
    """A table of what the hardware counted for some forms in L1, L2 and DRAM."""
    table = tables.read_measured_table(f"{device}-coalescing-counters")
    lsu = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
    rows = []
    for form in forms:
        task, _, name = form.partition(":")
        name = name or f"{task}/{block}"

        def metric_value(metric, task=task, name=name):
            return table.value("value", task=task, form=name, n=n, block=block, metric=metric)

        load, store = (
            metric_value(lsu.format("sectors", op)) / metric_value(lsu.format("requests", op))
            for op in ("ld", "st")
        )
        rows.append(
            [
                f"`{task}`" if name.startswith(task) else f"`{task}`, {name}",
                f"{load:g}",
                f"{store:g}",
                f"{metric_value('l1tex__t_sector_hit_rate.pct'):.1f} %",
                f"{metric_value('dram__bytes_read.sum') / 1e6:.1f} MB",
                f"{metric_value('dram__bytes_write.sum') / 1e6:.1f} MB",
            ]
        )
    head = ["kernel", "sectors per load", "sectors per store", "L1 hits"]
    head += ["DRAM read", "DRAM written"]
    return markdown_table(head, rows, numeric=range(1, 6))


MAKERS = {"times": form_times_table, "counters": measured_counters_table}
