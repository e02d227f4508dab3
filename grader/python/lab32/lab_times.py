"""Compares the given and optimised kernels of each lab on an H200, measured and modelled."""

from lab32 import tables


def kernel_label(row):
    return row["kernel"] + (" (given)" if row["file"] == "labs" else "")


def largest_launches(lab):
    """{kernel: the row of its largest launch} from h200-labs.csv, with the model's columns. A kernel's given form
    precedes its optimised one, and both have the same size. Launches of one block are left out: they are
    too short to be timed."""
    measured, modelled = tables.read_measured_table("h200-labs"), tables.read_modelled_table("h200")
    kernels = {}  # kernel -> form -> size -> its first launch
    for row in measured.where(lab=lab):
        # The record also has solutions of earlier versions of the lab, which are left out.
        if int(row["blocks"]) > 1 and row["file"] != "earlier":
            sizes = kernels.setdefault(row["kernel"], {}).setdefault(kernel_label(row), {})
            sizes.setdefault(int(row["n"]), row)
    if not kernels:
        raise LookupError(f"h200-labs.csv has no kernel of `{lab}`")
    predictions = {row["id"]: row for row in modelled.where(set="labs", l2="cold")}
    found = {}
    for forms in kernels.values():
        n = max(set.intersection(*(set(sizes) for sizes in forms.values())))
        found |= {name: sizes[n] | predictions[sizes[n]["id"]] for name, sizes in forms.items()}
    return found


def times_relative_to_copy(lab, hidden=()):
    """For plots.bars: {"measured: H200": {kernel: time}, "modelled: H200": {kernel: time}}.

    The times are multiples of that of a cold copy of the same bytes, so that launches of different sizes compare.
    """
    columns = {"measured: H200": "cold_us", "modelled: H200": "modelled_us"}
    rows = {name: row for name, row in largest_launches(lab).items() if name.split(" (")[0] not in hidden}
    return {
        series: {name: float(row[column]) / float(row["copy_cold_us"]) for name, row in rows.items()}
        for series, column in columns.items()
    }
