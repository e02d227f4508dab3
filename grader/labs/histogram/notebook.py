"""The data that labs/histogram/report.ipynb shows."""

from lab32 import tables

KEYS = ["uniform", "sorted", "constant", "few"]
FORMS = [
    "device", "block", "aggregated, adds of 1", "warp, adds of 1", "cub",
    "weights, device", "weights, block", "weights, aggregated", "weights, warp",
]  # fmt: skip
TIMED_FORMS = ["block", "weights, block", "weights, aggregated", "weights, warp"]  # those that one figure compares
# {label: (check, figure)}. B3 is left out: its ideal is 0, so that there is no ratio.
WASTE = {
    "histogram_block, adds": ("B1 block: adds", "adds"),
    "histogram_aggregated, wavefronts": ("B2 aggregated: wavefronts", "wavefronts"),
}


def ratios_to_ideal_by_label(lab):
    """The student's counts in part B as multiples of the ideal: {label: ratio}."""
    figures = {test.name: test.figures for test in lab.tests}
    return {
        label: figures[check][what] / figures[check][f"ideal_{what}"]
        for label, (check, what) in WASTE.items() if what in figures.get(check, {})
    }  # fmt: skip


def measured_value(form, keys, what="median_ms", device="h200"):
    """The row of a form in the measured table, for the largest n."""
    rows = tables.read_measured_table(f"{device}-histogram").where(task=keys, form=form)
    return float(max(rows, key=lambda row: int(row["n"]))[what])


def times_over_copy_by_key_distribution(form):
    """{kind of keys: the measured time as a multiple of a copy's}"""
    return {keys: measured_value(form, keys, "times_copy") for keys in KEYS}


def speed_up_by_key_distribution(before, after):
    """{kind of keys: how many times as long `before` takes as `after`}"""
    return {keys: measured_value(before, keys) / measured_value(after, keys) for keys in KEYS}
