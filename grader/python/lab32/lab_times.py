"""The kernels of each lab, given and optimised, on an H200: measured and modelled side by side."""

from lab32 import tables


def label(row):
    return row["kernel"] + (" (given)" if row["file"] == "labs" else "")


def largest(lab):
    """{kernel: the row of its largest launch}: what h200-labs.csv says, with the model's columns. A
    kernel's given form comes before its optimised one, both at one size; a launch of one block has
    no time to speak of."""
    measured, modelled = tables.measured("h200-labs"), tables.modelled("h200")
    kernels = {}  # kernel -> form -> size -> its first launch
    for row in measured.where(lab=lab):
        # What a solution had before is kept in the record, and is nothing to show.
        if int(row["blocks"]) > 1 and row["file"] != "earlier":
            sizes = kernels.setdefault(row["kernel"], {}).setdefault(label(row), {})
            sizes.setdefault(int(row["n"]), row)
    if not kernels:
        raise LookupError(f"h200-labs.csv has no kernel of `{lab}`")
    predictions = {row["id"]: row for row in modelled.where(set="labs", l2="cold")}
    found = {}
    for forms in kernels.values():
        n = max(set.intersection(*(set(sizes) for sizes in forms.values())))
        found |= {name: sizes[n] | predictions[sizes[n]["id"]] for name, sizes in forms.items()}
    return found


def beside(lab, hidden=()):
    """{"measured: H200": {kernel: copies}, "modelled: H200": {kernel: copies}}, as plots.bars wants it.

    In times of a copy of the same bytes, cold as well: launches of different sizes can be compared.
    """
    columns = {"measured: H200": "cold_us", "modelled: H200": "modelled_us"}
    rows = {name: row for name, row in largest(lab).items() if name.split(" (")[0] not in hidden}
    return {
        series: {name: float(row[column]) / float(row["copy_cold_us"]) for name, row in rows.items()}
        for series, column in columns.items()
    }
