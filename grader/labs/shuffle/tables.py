"""The tables of handouts/shuffle.md and of its notes."""

from handouts.markdown import group_thousands, markdown_table, text_with_two_significant_digits
from lab32 import tables
from lab32.labs.shuffle.notebook import (
    LESSON,
    WAYS,
    documented_speed_ups,
    documented_times,
    measured_times,
    read_gigabytes_per_second,
    speed_ups_of_pairs,
)

LEVELS = ["reduce_atomic", "sum_by_warps", "sum_by_blocks", "warps to block to total",
          "lanes to block to total"]  # fmt: skip


def documented_t4_table():
    """A table of the Shuffle Lesson's times on a T4, and of an H200's times of the same kernels."""
    then, now = documented_times(), measured_times()
    rows = [
        [
            f"`{way}`",
            f"{then[way]:.4f} ms",
            f"{read_gigabytes_per_second(then[way]):.1f} GB/s",
            f"{now[way]:.4f} ms",
            f"{read_gigabytes_per_second(now[way]):,.1f} GB/s",
        ]
        for way in WAYS
    ]
    old, new = documented_speed_ups(), speed_ups_of_pairs(now)
    rows += [[f"{name}", f"{old[name]:.4f}", "", f"{new[name]:.4g}", ""] for name in old]
    head = ["2^24 floats, blocks of 256", "T4 (documented)", "that is", "H200 (measured)", "that is"]
    return markdown_table(head, rows, numeric=[1, 2, 3, 4])


def hierarchical_atomics_table(device):
    """A table of atomics on one, two and three levels: where the adds arrive, and how long they take."""
    times = tables.read_measured_table(f"{device}-shuffle")
    counters = tables.read_measured_table(f"{device}-shuffle-counters")
    rows = []
    for form in LEVELS:

        def metric_value(metric, form=form):
            return counters.value("value", task="sum", form=form, n=LESSON, metric=metric)

        rows.append(
            [
                form,
                f"{metric_value('l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum'):,.0f}",
                f"{metric_value('smsp__sass_inst_executed_op_shared_atom.sum'):,.0f}",
                f"{metric_value('memory_l1_wavefronts_shared'):,.0f}",
                f"{times.value('median_ms', task='sum', form=form, n=LESSON):.3f} ms",
            ]
        )
    head = ["form", "adds to global memory", "shared atomics", "shared wavefronts", "time"]
    return markdown_table(head, rows, numeric=[1, 2, 3, 4])


def int_vs_float_atomics_table(device):
    """A table of adds by all lanes of a warp, which ptxas aggregates for integers but not for floats."""
    times = tables.read_measured_table(f"{device}-shuffle")
    counters = tables.read_measured_table(f"{device}-shuffle-counters")
    names = {
        ("sum", "reduce_atomic"): "`reduce_atomic<float>`, an add per lane",
        ("int sum", "reduce_atomic"): "`reduce_atomic<int>`, an add per lane",
        ("int sum", "by warps"): "ints, by shuffles and one lane",
        ("sum", "sum_by_warps"): "floats, by shuffles and one lane (C1)",
    }
    rows = []
    for (task, form), name in names.items():
        where = dict(task=task, form=form, n=LESSON)
        metric = "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"
        adds = counters.value("value", metric=metric, **where)
        issued = counters.value("value", metric="smsp__inst_executed.sum", **where)
        ms = times.value("median_ms", **where)
        rows.append(
            [name, f"{adds:,.0f}", f"{issued * 32 / LESSON:g}", f"{ms:.3f} ms",
             f"{adds / ms / 1e6:.2f}"]
        )  # fmt: skip
    head = ["2^24 elements", "adds", "instructions per warp", "time", "adds per ns"]
    return markdown_table(head, rows, numeric=[1, 2, 3, 4])


def key_count_strategies_table(device):
    """A table of keyed counts, for three kinds of keys: an add per lane or per key, and counters on one level or on
    two."""
    table = tables.read_measured_table(f"{device}-shuffle")
    rows = []
    for task, given, optimised in (
        ("four keys per warp", "an add per lane", "sum_by_key"),
        ("one key per warp", "an add per lane", "sum_by_key"),
        ("scattered keys", "an add per lane", "sum_by_key"),
        ("count", "one level", "two levels"),
    ):
        a, b = (
            float(table.where(task=task, form=form)[0]["median_ms"]) for form in (given, optimised)
        )
        name = f"{task}: {given} / {optimised}"
        rows.append([name, f"{a:.3f} ms", f"{b:.3f} ms", f"{a / b:.2f}"])
    head = ["keys: first form / second form", "first", "second", "ratio"]
    return markdown_table(head, rows, numeric=[1, 2, 3])


COLUMNS = [256, 1024, 4096]


def row_length_table(device, *tasks):
    """A table of forms of the row kernels for three lengths of rows, as multiples of a copy of the same bytes."""
    table = tables.read_measured_table(f"{device}-shuffle")
    rows = []
    for task in tasks:
        for form in dict.fromkeys(row["form"] for row in table.rows if row["task"] == task):
            found = [table.where(task=task, form=form, n=n) for n in COLUMNS]
            ratios = [row[0]["times_copy"] if row else "" for row in found]
            rows.append([task, form, *ratios])
    head = ["task", "form", *(f"rows of {n}" for n in COLUMNS)]
    return markdown_table(head, rows, numeric=[2, 3, 4])


def measured_float_sums_table(device, *inputs):
    """A table of sums of floats, with the number of different results of repeated runs."""
    table = tables.read_measured_table(f"{device}-shuffle-results")
    rows = []
    for row in table.rows:
        if f"{row['input']}:{row['n']}" not in inputs:
            continue
        low, high = row["lowest"], row["highest"]
        seen = group_thousands(low) if low == high else f"{low} … {high}"
        exact = float(row["exact"])
        far = max(abs(float(x) - exact) for x in (low, high)) / abs(exact)
        rows.append(
            [f"{int(row['n']):,} × {row['input']}", row["form"], f"{row['different']} of {row['runs']}",
             seen, text_with_two_significant_digits(far) if far else "exact"]
        )  # fmt: skip
    head = ["input", "form", "different results", "result", "error / result, at most"]
    return markdown_table(head, rows, numeric=[2, 3, 4])


MAKERS = {
    "t4": documented_t4_table,
    "levels": hierarchical_atomics_table,
    "adders": int_vs_float_atomics_table,
    "keyed": key_count_strategies_table,
    "by_columns": row_length_table,
    "float_sums": measured_float_sums_table,
}
