"""What labs/swizzle/report.ipynb shows, and the tables of its handout."""

import re

from lab32 import tables

FORMS = ["plain", "padded", "swizzled"]
TILES = {"plain": 1, "padded": 16, "swizzled": 16}  # of the launch whose wavefronts are counted


def documented_table():
    """The document's 8 x 8 table of <3, 0, 3>, row by row."""
    table = [[None] * 8 for _ in range(8)]
    for row in tables.documented("swizzle_table").rows:
        y, x = map(int, re.fullmatch(r"row (\d), column (\d)", row["metric"]).groups())
        table[y][x] = int(row["value"])
    return table


def wavefronts(lab):
    """Yours, per tile, from the figures of the result: {form: wavefronts}."""
    found = {}
    for test in lab.tests:
        form = next((f for f in FORMS if f" {f}: wavefronts" in test.name), None)
        if form in forms(lab) and "wavefronts" in test.figures:
            found[form] = test.figures["wavefronts"] / TILES[form]
    return found


def forms(lab):
    """Those that may be shown: none before C1 is passed. As given, the other two take what the plain one takes."""
    return FORMS if lab.has_passed("C1 plain: wavefronts") else []


def measured_wavefronts(task="x4", tiles=1024):
    """An H200's, for each tile, of the forms of the reference solution."""
    table = tables.measured("h200-swizzle-counters")
    metric = "memory_l1_wavefronts_shared"
    return {
        form: table.value("value", task=task, form=form, n=tiles, metric=metric) / tiles
        for form in FORMS
    }


def measured_times(task="x4"):
    """Times on an H200, of the most tiles, as multiples of a copy: {form: times}."""
    table = tables.measured("h200-swizzle")
    tiles = max(int(row["n"]) for row in table.rows)
    return {form: table.value("times_copy", task=task, form=form, n=tiles) for form in FORMS}


def boxes():
    """What the copy engine did: {(mode, element_bytes, columns, base): rows of landings}."""
    found = {}
    for row in tables.measured("h200-tensor_maps").rows:
        key = tuple(int(row[k]) for k in ("mode", "element_bytes", "columns", "base"))
        found.setdefault(key, []).append([int(v) for v in row["landing"].split()])
    return found


# ---- tables of the handout -----------------------------------------------------------------------


def xor_table():
    rows = [[f"**{y}**", *map(str, row)] for y, row in enumerate(documented_table())]
    return tables.markdown(["row \\ column", *map(str, range(8))], rows, numeric=range(1, 9))


def tile_forms(device, *names):
    """Wavefronts per tile and time of each form of these tasks."""
    counters = tables.measured(f"{device}-swizzle-counters")
    times = tables.measured(f"{device}-swizzle")
    counted = max(int(row["n"]) for row in counters.rows)
    timed = max(int(row["n"]) for row in times.rows)
    rows = []
    for task in names:
        for form in FORMS:
            count, ideal = (
                counters.value(
                    "value", task=task, form=form, n=counted,
                    metric=f"memory_l1_wavefronts_shared{end}",
                )
                / counted
                for end in ("", "_ideal")
            )  # fmt: skip
            ms, copies = (
                times.value(what, task=task, form=form, n=timed)
                for what in ("median_ms", "times_copy")
            )
            cells = [f"{count:,.0f}", f"{count - ideal:,.0f}", f"{ms:.3f} ms", f"{copies:.2f}"]
            rows.append([f"`{task}`, {form}", *cells])
    head = ["form", "wavefronts per tile", "of these conflicts", "time", "time / copy's time"]
    return tables.markdown(head, rows, numeric=range(1, 5))


def tensor_boxes():
    """The boxes that were dumped, by mode."""
    rows = []
    for mode in (128, 64, 32, 0):
        mine = [key[1:] for key in boxes() if key[0] == mode]
        full = sorted({e for e, c, b in mine if e * c == mode and b == 0})
        narrow = sorted({e * c for e, c, b in mine if mode and e * c < mode})
        bases = sorted({b for _, _, b in mine if b})
        lists = [", ".join(map(str, v)) or "none" for v in (full, narrow, bases)]
        rows.append([f"{mode} bytes" if mode else "no swizzle", str(len(mine)), *lists])
    full, narrow = "full rows of elements of (bytes)", "narrower rows (bytes)"
    head = ["mode", "boxes", full, narrow, "bases but 0"]
    return tables.markdown(head, rows, numeric=[1])


MAKERS = {"xor_table": xor_table, "tile_forms": tile_forms, "tensor_boxes": tensor_boxes}
