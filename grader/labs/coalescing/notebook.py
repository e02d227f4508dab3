"""The student's and the documented numbers that labs/coalescing/report.ipynb shows."""

from lab32 import tables

KERNELS = ["add1", "add2", "add3", "add4", "add5"]
AVERAGE = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_{}.ratio"
# Bytes of the arrays that a warp's 32 lanes request in one access of a kernel. The lanes of add4 share one
# float.
USED = {"add1": 128, "add2": 128, "add3": 128, "add4": 4, "add5": 128}
TASKS = ["scale", "fields", "push", "centre", "axpy"]


# Kernels whose counts a check asks for; a figure must not show them before the check has passed.
ASKED = {
    "C1 one element off the line": {"add2"},
    "C2 three floats a point": {"length_aos", "length_soa", "copy_strided(3)"},
}


def kernels_with_hidden_counts(lab):
    """The kernels whose counts a check asks for that has not passed yet."""
    return {name for check, names in ASKED.items() if not lab.has_passed(check) for name in names}


def sectors_per_request_by_kernel(lab, op):
    """The counts {kernel: sectors per request} from the result's figures; `op` is load or store."""
    figures = lab.figures_by_name()
    found = {}
    for name, sectors in figures.items():
        kernel = name.removesuffix(f" {op} sectors")
        if kernel != name and kernel not in kernels_with_hidden_counts(lab) and figures.get(f"{kernel} {op} requests"):
            found[kernel] = sectors / figures[f"{kernel} {op} requests"]
    return dict(sorted(found.items(), key=lambda item: tables.number_aware_key(item[0])))


def documented_sectors_per_request(op):
    """The source document's {kernel: sectors per request}."""
    metric = AVERAGE.format({"load": "ld", "store": "st"}[op])
    found = {}
    for kernel in KERNELS:
        table = tables.read_documented_table("add1_l1" if kernel == "add1" else kernel)
        for row in table.where(metric=metric):
            found[kernel] = float(row["value"])
    return found


def simulated_and_documented_rows(lab):
    """The rows that the report page compares with the source document: [(label, simulated, documented, unit)]."""
    rows = []
    for op in ("load", "store"):
        now, then = sectors_per_request_by_kernel(lab, op), documented_sectors_per_request(op)
        rows += [
            (f"{name}: {op} sectors", now[name], then[name], "per request")
            for name in now
            if name in then
        ]
    return rows


def byte_utilisation_percent_by_kernel(sectors):
    """{kernel: how many per cent of the moved bytes the warp has requested}."""
    return {
        kernel: 100 * USED[kernel] / (32 * count)
        for kernel, count in sectors.items()
        if kernel in USED
    }


def documented_byte_utilisation_percent():
    found = {}
    for row in tables.read_documented_table("lecture_l2").where(metric="bus utilisation"):
        kernel = {
            "aligned, contiguous": "add1",
            "misaligned, contiguous": "add2",
            "aligned, permuted": "add3",
        }.get(row["kernel"])
        if kernel:
            found[kernel] = float(row["value"])
    for kernel in ("add4", "add5"):
        found[kernel] = tables.read_documented_table(kernel).value("value", metric="bus utilisation")
    return found


def recorded_times_over_copy_by_form(n=1 << 26):
    """Measured times as multiples of a copy: {"measured: given": {task: multiple}, "measured: optimised": ...}. centre
    has four rows."""
    table = tables.read_measured_table("h200-coalescing")
    size = {task: n // 4 if task == "centre" else n for task in TASKS}
    return {
        f"measured: {form}": {
            task: table.value("times_copy", task=task, form=form, n=size[task]) for task in TASKS
        }
        for form in ("given", "optimised")
    }


def ratios_to_ideal_by_label(lab):
    """The student's counts in part B as multiples of the ideal: {"scale, sectors": ratio}."""
    found = {}
    for test in lab.tests:
        task = next((t for t in TASKS if f" {t}:" in test.name), None)
        # axpy has the ideal number of sectors from the start, so its check counts requests instead.
        what = "requests" if "ideal_requests" in test.figures else "sectors"
        if task and test.figures.get(f"ideal_{what}") and what in test.figures:
            found[f"{task}, {what}"] = test.figures[what] / test.figures[f"ideal_{what}"]
    return found
