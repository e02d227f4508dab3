"""The data that labs/swizzle/report.ipynb shows."""

import re

from lab32 import tables

FORMS = ["plain", "padded", "swizzled"]
TILES = {"plain": 1, "padded": 16, "swizzled": 16}  # tiles of the launch whose wavefronts are counted
# The measured data that students get besides the lab's times: the boxes that part D checks, and the rows that the
# notebook draws. The other rows would answer questions or show how the solutions work.
STUDENTS_RECORDS = {
    "measured/h200-tensor_maps.csv": {},
    "measured/h200-swizzle-counters.csv": {
        "metric": {"memory_l1_wavefronts_shared"},
        "task": {"x4"},
    },
}


def documented_swizzle_3_0_3_values():
    """The Swizzle Article's 8 x 8 table of Swizzle<3, 0, 3>, row by row."""
    table = [[None] * 8 for _ in range(8)]
    for row in tables.read_documented_table("swizzle_table").rows:
        y, x = map(int, re.fullmatch(r"row (\d), column (\d)", row["metric"]).groups())
        table[y][x] = int(row["value"])
    return table


def student_wavefronts_per_tile(lab):
    """Your wavefronts per tile, from the result's figures: {form: wavefronts}."""
    found = {}
    for test in lab.tests:
        form = next((f for f in FORMS if f" {f}: wavefronts" in test.name), None)
        if form in forms_if_plain_check_passed(lab) and "wavefronts" in test.figures:
            found[form] = test.figures["wavefronts"] / TILES[form]
    return found


def forms_if_plain_check_passed(lab):
    """The forms that may be shown: none before C1 has passed, since as given all forms cost as much as the plain one."""
    return FORMS if lab.has_passed("C1 plain: wavefronts") else []


def measured_wavefronts_per_tile(task="x4", tiles=1024):
    """Measured wavefronts per tile of the reference solution's forms on an H200."""
    table = tables.read_measured_table("h200-swizzle-counters")
    metric = "memory_l1_wavefronts_shared"
    return {
        form: table.value("value", task=task, form=form, n=tiles, metric=metric) / tiles
        for form in FORMS
    }


def recorded_times_over_copy_by_form(task="x4"):
    """Times on an H200 for the largest number of tiles, as multiples of a copy: {form: times}."""
    table = tables.read_measured_table("h200-swizzle")
    tiles = max(int(row["n"]) for row in table.rows)
    return {form: table.value("times_copy", task=task, form=form, n=tiles) for form in FORMS}
