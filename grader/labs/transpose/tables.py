"""The tables of handouts/transpose.md and of its notes."""

from handouts.markdown import markdown_table
from lab32 import tables
from lab32.labs.transpose.notebook import RATIOS, VERSIONS, documented_slowdowns_by_label

LSU = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"

# Names of the rows that the handout compares. They are listed here, because the names contain blanks and commas.
SETS = {
    "versions": ["naive", "naive, lanes down columns", "tile to columns", *VERSIONS[1:]],
    "lecture": ["16 wide, pitch 16", "16 wide, pitch 17"],
    "in_flight": ["copy kernel", "tiled, 4 rows per thread", "padded, 4 rows per thread",
                  "best, by elements", "best, along rows", "best"],
}  # fmt: skip


def words_per_bank(block_width, pitch, banks=32, together=32):
    """The number of different words that each bank serves when `together` neighbouring threads of a block `block_width`
    threads wide read word pitch * threadIdx.x + threadIdx.y."""
    words = {pitch * (t % block_width) + t // block_width for t in range(together)}
    counts = [0] * banks
    for word in words:
        counts[word % banks] += 1
    return counts


def cpu_traversal_times_table():
    """A table of the SYSU Lecture's times on a CPU, with their ratios to the time in the fast order."""
    table = tables.read_documented_table("cpu_walks")
    slower = documented_slowdowns_by_label()
    rows = []
    for label, (what, slow, fast) in RATIOS.items():
        for form in (fast, slow):
            (row,) = table.where(kernel=f"{what}, {form}")
            longer = slower[label] if form == slow else 1
            size = row["metric"].partition(", ")[2]
            rows.append([f"{what}, {form}", size, f"{row['value']} {row['unit']}", f"{longer:.1f}"])
    return markdown_table(["loops", "matrices", "time", "times longer"], rows, numeric=[2, 3])


def transpose_times_table(device, kind, size, form_set):
    """Times of some forms."""
    table = tables.read_measured_table(f"{device}-transpose")
    rows = []
    for form in SETS[form_set]:
        (row,) = table.where(task=kind, form=form, n=size)
        rows.append([form, f"{float(row['median_ms']):.3f} ms", row["times_copy"]])
    return markdown_table(["form", "time", "time / copy's time"], rows, numeric=[1, 2])


def transpose_counters_table(device, kind, counted_size, timed_size, form_set):
    """A table of what the hardware counted for some forms at one size, and of their times at another."""
    table = tables.read_measured_table(f"{device}-transpose-counters")
    times = tables.read_measured_table(f"{device}-transpose")
    rows = []
    for form in SETS[form_set]:

        def metric_value(metric, form=form):
            return table.value("value", task=kind, form=form, n=counted_size, metric=metric)

        each = [
            metric_value(LSU.format("sectors", op)) / metric_value(LSU.format("requests", op))
            for op in ("ld", "st")
        ]
        requests = sum(metric_value(LSU.format("requests", op)) for op in ("ld", "st"))
        shared, ideal = (metric_value(f"memory_l1_wavefronts_shared{s}") for s in ("", "_ideal"))
        rows.append(
            [
                form,
                *(f"{n:.3g}" for n in each),
                f"{requests:,.0f}",
                f"{shared:,.0f}",
                f"{ideal:,.0f}",
                f"{times.value('times_copy', task=kind, form=form, n=timed_size):.2f}",
            ]
        )
    head = ["form", "sectors per load", "sectors per store", "requests", "shared wavefronts",
            "ideal", "time / copy's time"]  # fmt: skip
    return markdown_table(head, rows, numeric=range(1, 7))


def geam_times_markdown_table(device, *sizes):
    """A table of the best transpose, a copy and cuBLAS at these sizes, timed in the same rounds."""
    rows = []
    for row in tables.read_measured_table(f"{device}-geam").rows:
        if row["n"] not in sizes:
            continue
        times = [f"{float(row[f'{state}_us']):.1f} µs" for state in ("cold", "warm")]
        over = [f"{float(row[f'times_copy_{state}']):.3f}" for state in ("cold", "warm")]
        form = {"copy": "copy, device to device", "geam": "`cublasSgeam`"}.get(row["form"])
        rows.append([f"{row['n']} x {row['n']}", form or f"`{row['form']}`", *times, *over])
    head = ["floats", "form", "cold", "warm", "time / copy's, cold", "warm"]
    return markdown_table(head, rows, numeric=range(2, 6))


MAKERS = {
    "cpu_walks": cpu_traversal_times_table,
    "transposed": transpose_times_table,
    "transpose_counters": transpose_counters_table,
    "geam": geam_times_markdown_table,
}
