"""The tables of handouts/reduction.md and of its notes."""

from handouts.markdown import group_thousands, markdown_table
from lab32 import tables
from lab32.labs.reduction.notebook import (
    LECTURE,
    SIZES,
    STEPS,
    TUTORIAL,
    TUTORIAL_FORMS,
    VERSIONS,
    bandwidths,
    measured_times,
    published_g80_value_by_kernel,
    step_and_total_speed_ups,
)


def value_text_or_blank(values, name):
    return f"{values[name]:.2f}" if name in values else ""


def g80_times_table(device):
    """A table of the SYSU Lecture's times, and of times of the same kernels on today's GPU at the same size."""
    then = [published_g80_value_by_kernel(m) for m in ("time", "bandwidth", "step speed-up")]
    today = {v: ms for v, ms in measured_times(LECTURE, table=f"{device}-reduction").items() if v != "CUB"}
    step, _ = step_and_total_speed_ups(today)
    rates = bandwidths(today)
    rows = []
    for v in VERSIONS:
        old = [f"{then[0][v]:.3f} ms", f"{then[1][v]:.3f}"] if v in then[0] else ["", ""]
        rows.append(
            [
                v,
                *old,
                value_text_or_blank(then[2], v),
                f"{1000 * today[v]:.1f} µs",
                f"{rates[v]:.0f}",
                value_text_or_blank(step, v),
            ]
        )
    head = ["", "G80", "GB/s", "step", "H200", "GB/s", "step"]
    return markdown_table(head, rows, numeric=range(1, 7))


LOADS = ["one load at a time", "four loads", "four loads, int4", "pieces"]


def v7_times_by_load_form_table(device, n):
    """A table of the times of v7's loop, by the way in which its threads load."""
    table = tables.read_measured_table(f"{device}-reduction")
    rows = []
    for form in LOADS:
        (row,) = table.where(task="int", form=form, n=n)
        rows.append(
            [form, f"{float(row['median_ms']):.4f} ms", row["useful_gb_s"], row["times_copy"]]
        )
    return markdown_table(["form", "time", "GB/s", "time / copy's time"], rows, numeric=[1, 2, 3])


def block_size_table(device, n):
    """A table of the times of the forms with two loads, with a row per block size."""
    table = tables.read_measured_table(f"{device}-reduction")
    forms = ["empty", "no tree", "v4", "v5", "v6"]
    rows = []
    for threads in (128, 256, 512, 1024):
        cells = []
        for form in forms:
            found = table.where(
                task="int", n=n, form=form if threads == 128 else f"{form}, {threads} threads"
            )
            cells.append(f"{float(found[0]['median_ms']):.3f} ms" if found else "")
        rows.append([str(threads), f"{int(n) // (2 * threads):,}", *cells])
    head = ["threads", "blocks", "empty", "loads alone", "v4", "v5", "v6"]
    return markdown_table(head, rows, numeric=range(7))


# {column: (how it is computed from Nsight Compute's counts, its format)}
COUNTERS = {
    "instructions per warp": (
        lambda m: m["smsp__inst_executed.sum"] / m["sm__warps_launched.sum"], "{:.0f}",
    ),
    "wavefronts": (lambda m: m["memory_l1_wavefronts_shared"], "{:,.0f}"),
    "ideal": (lambda m: m["memory_l1_wavefronts_shared_ideal"], "{:,.0f}"),
}  # fmt: skip
COUNTED = ["v1", "v1, mask", *STEPS[1:], "v5, volatile", "v5, __syncwarp", "v8"]


def hardware_counts(form, task="int", n=LECTURE, device="h200"):
    """Nsight Compute's counts of a form: {metric: value}."""
    rows = tables.read_measured_table(f"{device}-reduction-counters").where(task=task, form=form, n=n)
    return {row["metric"]: float(row["value"]) for row in rows}


def reduction_counters_table(device):
    """A table of Nsight Compute's counts of each version."""
    rows = []
    for form in COUNTED:
        counted = hardware_counts(form, device=device)
        rows.append([form, *(shown.format(of(counted)) for of, shown in COUNTERS.values())])
    return markdown_table(["form", *COUNTERS], rows, numeric=range(1, 4))


def cub_comparison_table(device):
    """A table that compares v7 and v8 with CUB, warm and cold, at all sizes."""
    table = f"{device}-reduction"
    rows = []
    for task in ("int", "float", "int, warm", "float, warm"):
        for n in SIZES:
            ms = measured_times(n, task, table)
            us = [f"{1000 * ms[form]:.2f}" for form in ("v7", "v8", "CUB")]
            copied = ""
            if "warm" not in task:
                copied = tables.read_measured_table(table).where(task=task, form="v8", n=n)[0]["times_copy"]
            kind = task if "warm" in task else f"{task}, cold"
            rate = f"{bandwidths(ms, n)['v8']:.0f}"
            rows.append([kind, f"2^{n.bit_length() - 1}", *us, f"{ms['CUB'] / ms['v8']:.3f}", rate,
                         copied])  # fmt: skip
    head = ["", "n", "v7, µs", "v8, µs", "CUB, µs", "CUB / v8", "v8, GB/s", "v8 / copy"]
    return markdown_table(head, rows, numeric=range(1, 8))


# ---- the Reduce Tutorial's versions --------------------------------------------------------------


TUTORIAL_NAMES = ["no divergence", "vectorised", "coarsened", "shuffle"]


def printed_reduce_tutorial_table():
    """The Reduce Tutorial's table as it is printed there, and what each of its rows depends on."""
    table = tables.read_documented_table("reduce_ladder")
    rows = []
    for metric in dict.fromkeys(row["metric"] for row in table.rows):
        found = [table.where(kernel=kernel, metric=metric)[0] for kernel in TUTORIAL_FORMS]
        whose = dict.fromkeys(row["property_of"] for row in found)
        unit = found[0]["unit"]
        values = [group_thousands(row["value"]) for row in found]
        rows.append([f"{metric} ({unit})", *values, ", ".join(f"the {w}" for w in whose)])
    head = ["documented", *TUTORIAL_NAMES, "a property of"]
    return markdown_table(head, rows, numeric=range(1, 5))


def measured_tutorial_table(device):
    """A table of the versions on today's GPU: number of blocks and time."""
    rows = []
    for form, blocks, ms, copy in tutorial_rows_sorted_by_blocks(device):
        rows.append([form, f"{blocks:,.0f}", f"{ms:.3f} ms", f"{1e6 * ms / blocks:.2f} ns", copy])
    head = ["form", "blocks", "time", "time / blocks", "time / copy's time"]
    return markdown_table(head, rows, numeric=range(1, 5))


def tutorial_rows_sorted_by_blocks(device="h200"):
    """(form, blocks, ms, times a copy) of the Reduce Tutorial's versions, most blocks first."""
    found = []
    for row in tables.read_measured_table(f"{device}-reduction").where(task="tutorial"):
        blocks = hardware_counts(row["form"], "tutorial", TUTORIAL, device)["launch__grid_size"]
        found.append((row["form"], blocks, float(row["median_ms"]), row["times_copy"]))
    return sorted(found, key=lambda entry: -entry[1])


def wrong_sums_table(device):
    rows = [
        [row["form"], f"{int(row['blocks']):,}", f"{int(row['wrong']):,}"]
        for row in tables.read_measured_table(f"{device}-reduction-steps").rows
    ]
    return markdown_table(["between the steps", "blocks", "wrong sums"], rows, numeric=[1, 2])


MAKERS = {
    "g80_ladder": g80_times_table,
    "reduced": v7_times_by_load_form_table,
    "by_block": block_size_table,
    "reduction_counters": reduction_counters_table,
    "beside_cub": cub_comparison_table,
    "tutorial_documented": printed_reduce_tutorial_table,
    "tutorial_measured": measured_tutorial_table,
    "wrong_steps": wrong_sums_table,
}
