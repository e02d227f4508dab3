"""The data that labs/shuffle/report.ipynb shows."""

import numpy

from lab32 import tables

LESSON = 1 << 24  # elements of the Shuffle Lesson's experiment
WAYS = ["reduce_atomic", "reduce_shared", "reduce_shuffle"]
RATIOS = [(slow, fast) for k, slow in enumerate(WAYS) for fast in WAYS[k + 1 :]]
# The measured rows that students get besides the lab's times, because the notebook draws them. The other rows are
# withheld: they would answer questions or show how the solutions work.
STUDENTS_RECORDS = {
    "measured/h200-shuffle-counters.csv": {
        "metric": {"memory_l1_wavefronts_shared"},
        "task": {"sum"},
    },
}

# ---- the Shuffle Lesson's experiment -------------------------------------------------------------


def documented_times():
    """The Shuffle Lesson's times on a T4: {kernel: ms}."""
    table = tables.read_documented_table("shuffle_t4")
    return {way: table.value("value", kernel=way, metric="kernel time") for way in WAYS}


def measured_times(n=LESSON, device="h200"):
    table = tables.read_measured_table(f"{device}-shuffle")
    return {way: table.value("median_ms", task="sum", form=way, n=n) for way in WAYS}


def modelled_times(lab):
    """{kernel: modelled ms} on an H200, from the result, for kernels with correct results."""
    return metric_by_kernel(lab, "modelled_ms")


def measured_wavefronts(n=LESSON, device="h200"):
    """{kernel: wavefronts of shared memory} that an H200 counted in the reference solution's first pass."""
    table = tables.read_measured_table(f"{device}-shuffle-counters")
    metric = "memory_l1_wavefronts_shared"
    return {way: table.value("value", task="sum", form=way, n=n, metric=metric) for way in WAYS}


def row_kernel_times_over_copy(n=4096, device="h200"):
    """Measured times of the row kernels for rows of n floats, as multiples of a copy: {"task: form": multiple}."""
    rows = tables.read_measured_table(f"{device}-shuffle").where(n=n)
    rows.sort(key=lambda row: row["task"])  # keeps the forms of a task together
    return {f"{row['task']}: {row['form']}": float(row["times_copy"]) for row in rows}


def speed_ups_of_pairs(times):
    """{"slow / fast": speed-up} for the pairs that have times."""
    return {
        f"{slow} / {fast}": times[slow] / times[fast]
        for slow, fast in RATIOS
        if slow in times and fast in times
    }


def documented_speed_ups():
    table = tables.read_documented_table("shuffle_t4")
    names = [f"{slow} / {fast}" for slow, fast in RATIOS]
    return {name: table.value("value", kernel=name) for name in names}


def read_gigabytes_per_second(ms, n=LESSON):
    """The bandwidth if n floats are read in `ms`."""
    return 4 * n / ms / 1e6


def metric_by_kernel(lab, what):
    """From the result of the Shuffle Lesson's experiment: {kernel: value}, where `what` is `adds`, `wavefronts`,
    `barriers`, `sectors` (simulated) or `modelled_ms`."""
    figures = lab.figures_by_name()
    return {way: figures[f"{way} {what}"] for way in WAYS if f"{way} {what}" in figures}


# ---- order of addition ---------------------------------------------------------------------------


def noise(n):
    """The floats in [-1, 1) that grader/labs/shuffle/measure/measure.cu adds."""
    h = numpy.arange(n, dtype=numpy.uint32) * numpy.uint32(2654435761)
    h = (h ^ h >> numpy.uint32(15)) * numpy.uint32(2246822519)
    whole = (h >> numpy.uint32(8)).astype(numpy.int64) - (1 << 23)
    return (whole * 2.0**-23).astype(numpy.float32)


def sum_one_by_one(values):
    """The sum of the values, added one after the other in floats."""
    return float(numpy.cumsum(values, dtype=numpy.float32)[-1])


def sum_in_pairs(values):
    """The sum of 2^k values, added in floats as neighbouring pairs, then pairs of these sums, and so on."""
    while len(values) > 1:
        values = values[0::2] + values[1::2]
    return float(values[0])


def fold_in_halves(values):
    """Sums along the last axis, of length 2^k, in floats: the upper half is added to the lower half until one value is
    left."""
    while values.shape[-1] > 1:
        half = values.shape[-1] // 2
        values = values[..., :half] + values[..., half:]
    return values[..., 0]


def reduction_order_sum(values, way, block=256):
    """Sums in the order of the solution's reduce_shared or reduce_shuffle, pass by pass."""
    while len(values) > 1:
        blocks = -(-len(values) // (2 * block))
        padded = numpy.zeros(blocks * 2 * block, numpy.float32)
        padded[: len(values)] = values
        threads = fold_in_halves(padded.reshape(blocks, 2, block).swapaxes(1, 2))
        if way == "reduce_shuffle":
            threads = fold_in_halves(threads.reshape(blocks, -1, 32))
        values = fold_in_halves(threads)
    return float(values[0])


ORDERS = {
    "one by one": sum_one_by_one,
    "in pairs": sum_in_pairs,
    "as reduce_shared": lambda values: reduction_order_sum(values, "reduce_shared"),
    "as reduce_shuffle": lambda values: reduction_order_sum(values, "reduce_shuffle"),
}


def sums_of_ones_by_order(exponents):
    """{order: {"2^k": sum of 2^k ones}}, computed here in floats."""
    ones = {f"2^{k}": numpy.ones(1 << k, numpy.float32) for k in exponents}
    return {
        name: {label: order(values) for label, values in ones.items()}
        for name, order in ORDERS.items()
    }


def sums_of_ones_if_shown(lab, exponents):
    """sums_of_ones_by_order() in three orders; empty until the check that asks for such a sum has passed."""
    if not lab.has_passed("A3 where 1.0f stops"):
        return {}
    sums = sums_of_ones_by_order(exponents)
    return {f"measured: {name}": sums[name] for name in ("one by one", "in pairs", "as reduce_shuffle")}


def relative_sum_errors(exponents):
    """{order: {"2^k": |error| / sum of |x|}} for 2^k floats of noise, computed here."""
    found = {name: {} for name in ORDERS}
    for k in exponents:
        values = noise(1 << k)
        exact = float(numpy.sum(values, dtype=numpy.float64))
        size = float(numpy.sum(numpy.abs(values), dtype=numpy.float64))
        for name, order in ORDERS.items():
            found[name][f"2^{k}"] = abs(order(values) - exact) / size
    return found


# ---- your kernels --------------------------------------------------------------------------------

def kernels_with_hidden_times(lab):
    """The kernels whose times are hidden while A2 is open: they would answer it, because ints are so much faster."""
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


def ratios_to_ideal_by_label(lab):
    """The student's counts as multiples of the ideal: {"kernel, counter": reached / ideal}."""
    figures = {test.name: test.figures for test in lab.tests}
    found = {}
    for kernel, (line, what) in WASTE.items():
        if what in figures.get(line, {}):
            found[f"{kernel.strip()}, {what}"] = (
                figures[line][what] / figures[line][f"ideal_{what}"]
            )
    return found
