"""The tables of handouts/swizzle.md and of its notes."""

from handouts.markdown import markdown_table
from lab32 import tables
from lab32.labs.swizzle.notebook import FORMS


def recorded_tma_box_copies():
    """Recorded copies: {(mode, element_bytes, columns, base): rows of addresses where elements landed}."""
    found = {}
    for row in tables.read_measured_table("h200-tensor_maps").rows:
        key = tuple(int(row[k]) for k in ("mode", "element_bytes", "columns", "base"))
        found.setdefault(key, []).append([int(v) for v in row["landing"].split()])
    return found


def tile_forms_table(device, *names):
    """Wavefronts per tile and time of each form of these tasks."""
    counters = tables.read_measured_table(f"{device}-swizzle-counters")
    times = tables.read_measured_table(f"{device}-swizzle")
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
    return markdown_table(head, rows, numeric=range(1, 5))


def recorded_tensor_boxes_table():
    """The recorded boxes, by mode."""
    rows = []
    for mode in (128, 64, 32, 0):
        mine = [key[1:] for key in recorded_tma_box_copies() if key[0] == mode]
        full = sorted({e for e, c, b in mine if e * c == mode and b == 0})
        narrow = sorted({e * c for e, c, b in mine if mode and e * c < mode})
        bases = sorted({b for _, _, b in mine if b})
        lists = [", ".join(map(str, v)) or "none" for v in (full, narrow, bases)]
        rows.append([f"{mode} bytes" if mode else "no swizzle", str(len(mine)), *lists])
    full, narrow = "full rows of elements of (bytes)", "narrower rows (bytes)"
    head = ["mode", "boxes", full, narrow, "bases but 0"]
    return markdown_table(head, rows, numeric=[1])


MAKERS = {"tile_forms": tile_forms_table, "tensor_boxes": recorded_tensor_boxes_table}
