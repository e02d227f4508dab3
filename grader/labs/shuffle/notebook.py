"""What labs/shuffle/report.ipynb shows, and the tables of its handout."""

import numpy

from lab32 import tables

LESSON = 1 << 24  # elements of the Shuffle Lesson's experiment
WAYS = ["reduce_atomic", "reduce_shared", "reduce_shuffle"]
RATIOS = [(slow, fast) for k, slow in enumerate(WAYS) for fast in WAYS[k + 1 :]]

# ---- the Shuffle Lesson's experiment -------------------------------------------------------------


def documented_times():
    """The Shuffle Lesson's, of a T4: {kernel: ms}."""
    table = tables.documented("shuffle_t4")
    return {way: table.value("value", kernel=way, metric="kernel time") for way in WAYS}


def measured_times(n=LESSON, device="h200"):
    table = tables.measured(f"{device}-shuffle")
    return {way: table.value("median_ms", task="sum", form=way, n=n) for way in WAYS}


def modelled_times(lab):
    """From the result, of an H200: {kernel: ms}, for those that were right."""
    return counted(lab, "modelled_ms")


def measured_wavefronts(n=LESSON, device="h200"):
    """Of the reference solution's first pass: {kernel: wavefronts of shared memory}."""
    table = tables.measured(f"{device}-shuffle-counters")
    metric = "memory_l1_wavefronts_shared"
    return {way: table.value("value", task="sum", form=way, n=n, metric=metric) for way in WAYS}


def row_kernels(n=4096, device="h200"):
    """Measured, for rows of n: {"task: form": times a copy}."""
    rows = tables.measured(f"{device}-shuffle").where(n=n)
    rows.sort(key=lambda row: row["task"])  # the forms of a task beside each other
    return {f"{row['task']}: {row['form']}": float(row["times_copy"]) for row in rows}


def ratios(times):
    """{"slow / fast": times faster}, of those that have times."""
    return {
        f"{slow} / {fast}": times[slow] / times[fast]
        for slow, fast in RATIOS
        if slow in times and fast in times
    }


def documented_ratios():
    table = tables.documented("shuffle_t4")
    names = [f"{slow} / {fast}" for slow, fast in RATIOS]
    return {name: table.value("value", kernel=name) for name in names}


def gigabytes_per_second(ms, n=LESSON):
    """What reading n floats in this time comes to."""
    return 4 * n / ms / 1e6


def counted(lab, what):
    """From the result: {kernel: `adds`, `wavefronts`, `barriers`, `sectors` (simulated) or
    `modelled_ms`} of the Shuffle Lesson's experiment."""
    figures = lab.figures()
    return {way: figures[f"{way} {what}"] for way in WAYS if f"{way} {what}" in figures}


# ---- order of addition ---------------------------------------------------------------------------


def noise(n):
    """The floats in [-1, 1) that grader/labs/shuffle/measure/measure.cu adds."""
    h = numpy.arange(n, dtype=numpy.uint32) * numpy.uint32(2654435761)
    h = (h ^ h >> numpy.uint32(15)) * numpy.uint32(2246822519)
    whole = (h >> numpy.uint32(8)).astype(numpy.int64) - (1 << 23)
    return (whole * 2.0**-23).astype(numpy.float32)


def one_by_one(values):
    """sum = sum + value, in floats."""
    return float(numpy.cumsum(values, dtype=numpy.float32)[-1])


def in_pairs(values):
    """Sums of two neighbours, then of two neighbouring sums, and so on; 2^k values."""
    while len(values) > 1:
        values = values[0::2] + values[1::2]
    return float(values[0])


def folded(values):
    """Along the last axis, 2^k long: the upper half is added to the lower, until one is left."""
    while values.shape[-1] > 1:
        half = values.shape[-1] // 2
        values = values[..., :half] + values[..., half:]
    return values[..., 0]


def as_reduced(values, way, block=256):
    """The order in which the solution's reduce_shared or reduce_shuffle adds, pass after pass."""
    while len(values) > 1:
        blocks = -(-len(values) // (2 * block))
        padded = numpy.zeros(blocks * 2 * block, numpy.float32)
        padded[: len(values)] = values
        threads = folded(padded.reshape(blocks, 2, block).swapaxes(1, 2))
        if way == "reduce_shuffle":
            threads = folded(threads.reshape(blocks, -1, 32))
        values = folded(threads)
    return float(values[0])


ORDERS = {
    "one by one": one_by_one,
    "in pairs": in_pairs,
    "as reduce_shared": lambda values: as_reduced(values, "reduce_shared"),
    "as reduce_shuffle": lambda values: as_reduced(values, "reduce_shuffle"),
}


def sums_of_ones(exponents):
    """{order: {"2^k": the sum of 2^k times 1.0f}}, computed here."""
    ones = {f"2^{k}": numpy.ones(1 << k, numpy.float32) for k in exponents}
    return {
        name: {label: order(values) for label, values in ones.items()}
        for name, order in ORDERS.items()
    }


def ones(lab, exponents):
    """sums_of_ones() in three orders, once the check that asks for them is passed; else none."""
    if not lab.has_passed("A3 where 1.0f stops"):
        return {}
    sums = sums_of_ones(exponents)
    return {f"measured: {name}": sums[name] for name in ("one by one", "in pairs", "as reduce_shuffle")}


def errors(exponents):
    """{order: {"2^k": |error| / sum of |x|}} of 2^k floats of noise, computed here."""
    found = {name: {} for name in ORDERS}
    for k in exponents:
        values = noise(1 << k)
        exact = float(numpy.sum(values, dtype=numpy.float64))
        size = float(numpy.sum(numpy.abs(values), dtype=numpy.float64))
        for name, order in ORDERS.items():
            found[name][f"2^{k}"] = abs(order(values) - exact) / size
    return found


# ---- your kernels --------------------------------------------------------------------------------

def hidden(lab):
    """Kernels whose times answer A2, as long as it is open: the ints are that much faster."""
    return set() if lab.has_passed("A2 who adds") else {"reduce_atomic<int>", "reduce_atomic<float>"}


WASTE = {
    "reduce_shared": ("B1 reduce_shared: wavefronts", "wavefronts"),
    "reduce_shuffle": ("B3 reduce_shuffle: wavefronts", "wavefronts"),
    "reduce_shuffle ": ("B3 reduce_shuffle: barriers", "barriers"),
    "sum_by_warps": ("C1 sum_by_warps: adds", "adds"),
    "sum_by_blocks": ("C2 sum_by_blocks: adds", "adds"),
    "sum_by_key": ("C3 sum_by_key: adds", "adds"),
    "row_moments": ("D2 row_moments: sectors", "sectors"),
    "softmax": ("D3 softmax: sectors", "sectors"),
    "layer_norm": ("D4 layer_norm: sectors", "sectors"),
}


COUNTED = [f"{kernel.strip()}, {what}" for kernel, (_, what) in WASTE.items()]


def against_ideal(lab):
    """Of what was counted: {"kernel, counter": reached / ideal}."""
    figures = {test.name: test.figures for test in lab.tests}
    found = {}
    for kernel, (line, what) in WASTE.items():
        if what in figures.get(line, {}):
            found[f"{kernel.strip()}, {what}"] = (
                figures[line][what] / figures[line][f"ideal_{what}"]
            )
    return found


# ---- tables of the handout -----------------------------------------------------------------------

SETS = {
    "sums": ["reduce_atomic", "reduce_shared", "reduce_shuffle", "reduce_shared, 1024 threads",
             "reduce_shuffle, 1024 threads"],
    "levels": ["reduce_atomic", "sum_by_warps", "sum_by_blocks", "warps to block to total",
               "lanes to block to total", "reduce_shuffle"],
}  # fmt: skip


def t4():
    """The Shuffle Lesson's table, and what an H200 does with the same kernels."""
    then, now = documented_times(), measured_times()
    rows = [
        [
            f"`{way}`",
            f"{then[way]:.4f} ms",
            f"{gigabytes_per_second(then[way]):.1f} GB/s",
            f"{now[way]:.4f} ms",
            f"{gigabytes_per_second(now[way]):,.1f} GB/s",
        ]
        for way in WAYS
    ]
    old, new = documented_ratios(), ratios(now)
    rows += [[f"{name}", f"{old[name]:.4f}", "", f"{new[name]:.4g}", ""] for name in old]
    head = ["2^24 floats, blocks of 256", "T4 (documented)", "that is", "H200 (measured)", "that is"]
    return tables.markdown(head, rows, numeric=[1, 2, 3, 4])


def summed(device, chosen, n=LESSON):
    """Times of a set of forms."""
    table = tables.measured(f"{device}-shuffle")
    rows = []
    for form in SETS[chosen]:
        (row,) = table.where(task="sum", form=form, n=n)
        ms = f"{float(row['median_ms']):.4f} ms"
        rows.append([form, ms, row["useful_gb_s"], row["times_copy"]])
    head = ["form", "time", "useful GB/s", "time / copy's time"]
    return tables.markdown(head, rows, numeric=[1, 2, 3])


def levels(device):
    """One level of atomics, two, and three: where the adds arrive, and what that takes."""
    times = tables.measured(f"{device}-shuffle")
    counters = tables.measured(f"{device}-shuffle-counters")
    rows = []
    for form in SETS["levels"][:-1]:

        def value(metric, form=form):
            return counters.value("value", task="sum", form=form, n=LESSON, metric=metric)

        rows.append(
            [
                form,
                f"{value('l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum'):,.0f}",
                f"{value('smsp__sass_inst_executed_op_shared_atom.sum'):,.0f}",
                f"{value('memory_l1_wavefronts_shared'):,.0f}",
                f"{times.value('median_ms', task='sum', form=form, n=LESSON):.3f} ms",
            ]
        )
    head = ["form", "adds to global memory", "shared atomics", "shared wavefronts", "time"]
    return tables.markdown(head, rows, numeric=[1, 2, 3, 4])


def adders(device):
    """Integers are aggregated by ptxas, floats are not."""
    times = tables.measured(f"{device}-shuffle")
    counters = tables.measured(f"{device}-shuffle-counters")
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
    return tables.markdown(head, rows, numeric=[1, 2, 3, 4])


def keyed(device):
    """An add per lane or per key, for three kinds of keys; and counts on one level and on two."""
    table = tables.measured(f"{device}-shuffle")
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
    return tables.markdown(head, rows, numeric=[1, 2, 3])


COLUMNS = [256, 1024, 4096]


def by_columns(device, *tasks):
    """Forms of the row kernels: times of a copy of the same bytes, for three lengths of rows."""
    table = tables.measured(f"{device}-shuffle")
    rows = []
    for task in tasks:
        for form in dict.fromkeys(row["form"] for row in table.rows if row["task"] == task):
            found = [table.where(task=task, form=form, n=n) for n in COLUMNS]
            ratios = [row[0]["times_copy"] if row else "" for row in found]
            rows.append([task, form, *ratios])
    head = ["task", "form", *(f"rows of {n}" for n in COLUMNS)]
    return tables.markdown(head, rows, numeric=[2, 3, 4])


def float_sums(device, *inputs):
    """What floats add up to, and how often differently."""
    table = tables.measured(f"{device}-shuffle-results")
    rows = []
    for row in table.rows:
        if f"{row['input']}:{row['n']}" not in inputs:
            continue
        low, high = row["lowest"], row["highest"]
        seen = tables.number(low) if low == high else f"{low} … {high}"
        exact = float(row["exact"])
        far = max(abs(float(x) - exact) for x in (low, high)) / abs(exact)
        rows.append(
            [f"{int(row['n']):,} × {row['input']}", row["form"], f"{row['different']} of {row['runs']}",
             seen, tables.small(far) if far else "exact"]
        )  # fmt: skip
    head = ["input", "form", "different results", "result", "error / result, at most"]
    return tables.markdown(head, rows, numeric=[2, 3, 4])


MAKERS = {
    "t4": t4,
    "summed": summed,
    "levels": levels,
    "adders": adders,
    "keyed": keyed,
    "by_columns": by_columns,
    "float_sums": float_sums,
}
