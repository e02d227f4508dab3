"""The data that labs/occupancy/report.ipynb shows."""

from lab32 import tables


def measured_occupancy_table():
    return tables.read_measured_table("h200-occupancy")


def measured_wave_times():
    """Measured times ([(blocks, ms)], [(blocks, ms)]): of blocks with equal work each, and of the same total work in
    one wave whose threads stride over it."""
    blocks, strided = [], []
    for row in measured_occupancy_table().where(task="waves"):
        to = strided if " in " in row["shape"] else blocks
        to.append((int(row["n"]) // 4096, float(row["median_ms"])))
    return sorted(blocks), sorted(strided)


# ---- figures of a result -------------------------------------------------------------------------

SHAPES = ["follow", "copy", "smooth", "orbits", "match"]


def value_from_figures_by_check(lab, value_of):
    """{"B1 follow": value_of(figures)} for each check of a task in SHAPES, without those whose value is None."""
    found = {}
    for test in lab.tests:
        part, _, rest = test.name.partition(" ")
        task = next((shape for shape in SHAPES if rest.startswith(f"{shape}:")), None)
        value = value_of(test.figures) if task else None
        if value is not None:
            found[f"{part} {task}"] = value
    return found


def student_resident_warps_by_check(lab):
    """{check: resident warps per multiprocessor} with the student's shapes."""
    return value_from_figures_by_check(lab, lambda figures: figures.get("warps"))


def modelled_over_best_by_check(lab):
    """{check: modelled time} of the student's shapes and of copy, as multiples of the times that they are compared
    with."""

    def modelled_to_measured_ratio(figures):
        best = figures.get("best_seconds", figures.get("full_seconds"))
        return figures["modelled_seconds"] / best if best else None

    return value_from_figures_by_check(lab, modelled_to_measured_ratio)


STAIRS = ["66 blocks", "132 blocks", "139 blocks", "198 blocks", "264 blocks", "271 blocks"]


def relative_wave_times():
    """Measured times of (blocks with equal work each, the same total work in one wave), as multiples of the time of 132
    blocks."""

    def relative_times_by_label(points):
        return {f"{blocks} blocks": ms / dict(measured_wave_times()[0])[132] for blocks, ms in points}

    return tuple(
        {label: times for label, times in relative_times_by_label(points).items() if label in STAIRS}
        for points in measured_wave_times()
    )
