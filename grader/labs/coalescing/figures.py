"""The figures of handouts/coalescing.md and coalescing-notes.md."""

import math

from handouts.drawing import (
    BLUE,
    CREAM,
    DARK,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PALE,
    PAPER,
    RED,
    SKY,
    Drawing,
)
from lab32 import tables

LANES, SECTOR, WORD = 32, 32, 4  # lanes of a warp, bytes of a sector, bytes of a float
WORDS = SECTOR // WORD

# For kernels of the source document, the index of the float that lane l reads.
PATTERNS = {
    "add1": ("x[i]", lambda lane: lane),
    "add2": ("x[i + 1]", lambda lane: lane + 1),
    "add3": ("x[i ^ 1]", lambda lane: lane ^ 1),
    "add4": ("x[i / 32]", lambda lane: 0),
    "add5": ("x[4 * i]", lambda lane: 4 * lane),
}


def draw_warp(drawing, x, y, width, words, last_sector, active=range(LANES)):
    """Draws a warp above the memory that it reads. Returns the sectors that its active lanes touch."""
    wanted = {words[lane] for lane in active}
    touched = {word // WORDS for word in wanted}
    lane_width, word_width = width / LANES, width / ((last_sector + 1) * WORDS)
    top, memory = y, y + 50
    for lane, word in enumerate(words):
        if lane in active:
            from_x, to_x = x + (lane + 0.5) * lane_width, x + (word + 0.5) * word_width
            drawing.line(from_x, top + 18, to_x, memory, GREY, stroke_width=0.8)
    for lane in range(LANES):
        here = lane in active
        drawing.rect(x + lane * lane_width, top, lane_width, 18, SKY if here else PAPER,
                     PAPER if here else "#bbbbbb")  # fmt: skip
        if lane % 8 == 0 or lane == LANES - 1:
            drawing.text(x + (lane + 0.5) * lane_width, top + 13, str(lane), 11, "middle")
    for sector in range(last_sector + 1):
        for word in range(sector * WORDS, (sector + 1) * WORDS):
            fill = ORANGE if word in wanted else CREAM if sector in touched else PALE
            drawing.rect(
                x + word * word_width, memory, word_width, 16, fill, PAPER, stroke_width=0.5
            )
        drawing.rect(
            x + sector * WORDS * word_width, memory, WORDS * word_width, 16, "none",
            INK if sector in touched else "#bbbbbb", stroke_width=1.4 if sector in touched else 0.8,
        )  # fmt: skip
    return touched


def sectors_text(count):
    return f"{count} sector{'s' * (count > 1)}"


def draw_pattern_row(drawing, y, index, words, last, active=range(LANES)):
    """Draws one access: on the left its index expression and its cost, on the right the warp."""
    touched = draw_warp(drawing, 130, y, 610, words, last, active)
    used = len({words[lane] for lane in active}) * WORD
    drawing.code(16, y + 14, index, 13)
    drawing.text(16, y + 40, sectors_text(len(touched)), 14, font_weight="bold")
    share = f"{used / (len(touched) * SECTOR):.1%}".replace(".0%", "%").replace("%", " %")
    drawing.text(16, y + 58, f"{share} used", 12, fill=GREY)


def draw_colour_key(drawing, y):
    """Explains the colours."""
    marks = ((SKY, "active lane"), (ORANGE, "float that is read"), (CREAM, "moved, not used"))
    for k, (fill, words) in enumerate(marks):
        drawing.rect(130 + 190 * k, y, 14, 14, fill, INK, stroke_width=0.5)
        drawing.text(150 + 190 * k, y + 12, words, 12)


def drawing_of_access_patterns(title, names):
    drawing = Drawing(760, 58 + 98 * len(names), title)
    for k, name in enumerate(names):
        index, word_of = PATTERNS[name]
        words = [word_of(lane) for lane in range(LANES)]
        draw_pattern_row(drawing, 20 + 98 * k, index, words, max(7, max(words) // WORDS))
    draw_colour_key(drawing, 26 + 98 * len(names))
    return drawing


def draw_access_patterns():
    """Draws the patterns of the source document without add2, whose number of sectors is a question to the reader."""
    return drawing_of_access_patterns("Four ways for a warp to read 32 floats", ["add1", "add3", "add4", "add5"])


def draw_shifted_access():
    return drawing_of_access_patterns("One float off the line", ["add1", "add2"])


def draw_access_with_inactive_lanes():
    """Inactive lanes request no memory."""
    drawing = Drawing(760, 58 + 98 * 2, "The same addresses with fewer active lanes")
    words = list(range(LANES))
    for k, active in enumerate((range(0, LANES, 2), range(8))):
        draw_pattern_row(drawing, 20 + 98 * k, "x[i]", words, 7, active)
    draw_colour_key(drawing, 26 + 98 * 2)
    return drawing


def draw_path_to_memory():
    """Draws the path of add1's data from the kernel to DRAM, with the numbers of the source document."""
    l1, l2, dram, chart = (
        tables.read_documented_table(f"add1_{part}") for part in ("l1", "l2", "dram", "chart")
    )
    metric = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum".format

    def metric_value(table, name):
        return int(float(table.value("value", metric=name)))

    def megabytes(value):
        return f"{value / 1e6:.2f} MB"

    drawing = Drawing(760, 290, "add1 on its way: instructions, requests, sectors, bytes")
    boxes = [
        ("kernel", "8 Mi threads", GREEN),
        ("global", "addresses", GREEN),
        ("L1", f"hits {metric_value(chart, 'l1tex__t_sector_hit_rate.pct')} %", BLUE),
        ("L2", f"hits {chart.value('value', metric='lts__t_sector_hit_rate.pct')} %", BLUE),
        ("DRAM", "by 64 bytes", BLUE),
    ]
    wide, apart = 86, 162
    x = [12 + apart * k for k in range(5)]
    for at, (name, note, colour) in zip(x, boxes):
        drawing.rect(at, 100, wide, 70, colour, "none", rx=6)
        ink = INK if colour == GREEN else PAPER
        drawing.text(at + wide / 2, 132, name, 15, "middle", ink, font_weight="bold")
        drawing.text(at + wide / 2, 152, note, 11, "middle", ink)
    loads = [
        f"{metric_value(l1, metric('requests', 'ld')):,}", "requests",
        f"{metric_value(l1, metric('sectors', 'ld')):,}", "sectors",
        megabytes(metric_value(dram, "dram__bytes_read.sum")), "read",
    ]  # fmt: skip
    stores = [
        f"{metric_value(l1, metric('requests', 'st')):,}", "requests",
        f"{metric_value(l1, metric('sectors', 'st')):,}", "sectors",
        megabytes(metric_value(dram, "dram__bytes_write.sum")), "written",
    ]  # fmt: skip
    middle = [at + (wide + apart) / 2 for at in x[:4]]
    drawing.arrow(x[0] + wide + 2, 135, x[1] - 3, 135)
    drawing.text(middle[0], 124, f"{metric_value(l1, 'instructions'):,}", 12, "middle")
    drawing.text(middle[0], 154, "instructions", 11, "middle")
    for k in range(3):
        left, right, at = x[k + 1] + wide + 2, x[k + 2] - 3, middle[k + 1]
        drawing.arrow(right, 120, left, 120, BLUE)
        drawing.arrow(left, 150, right, 150, RED, stroke_dasharray="5 3")
        drawing.text(at, 96, loads[2 * k], 12, "middle", BLUE)
        drawing.text(at, 112, loads[2 * k + 1], 12, "middle", BLUE)
        drawing.text(at, 170, stores[2 * k], 12, "middle", DARK[RED])
        drawing.text(at, 186, stores[2 * k + 1], 12, "middle", DARK[RED])
    drawing.code(12, 34, "z[i] = x[i] + y[i]", 16)
    drawing.text(
        12, 60, "one request per instruction, four sectors per request, 32 bytes per sector", 13
    )
    drawing.text(
        12, 226, "Green boxes: what the program says. Blue boxes: what the chip has.", 12, fill=GREY
    )
    drawing.text(12, 246, "Solid arrows, blue: loads. Dashed arrows, red: stores.", 12, fill=GREY)
    drawing.text(12, 266, "Documented figures: data/documented/add1_*.csv", 12, fill=GREY)
    return drawing


def draw_memory_strip(drawing, y, cells, title, verdict):
    """Draws 64 floats of memory in sectors. `cells`: (text, colour) of each float. A sector with a coloured float is
    moved."""
    left, cell = 16, 11.4
    drawing.text(left, y - 12, title, 14, font_weight="bold")
    drawing.text(left + 64 * cell, y - 12, verdict, 13, "end")
    for k, (text, fill) in enumerate(cells):
        drawing.rect(left + k * cell, y, cell, 30, fill or PALE, PAPER, stroke_width=0.6)
        if text:
            drawing.text(left + (k + 0.5) * cell, y + 20, text, 11, "middle")
    for sector in range(64 // WORDS):
        moves = any(fill for _, fill in cells[sector * WORDS : (sector + 1) * WORDS])
        drawing.rect(
            left + sector * WORDS * cell, y, WORDS * cell, 30, "none",
            INK if moves else "#bbbbbb", stroke_width=2 if moves else 0.8,
        )  # fmt: skip


def draw_aos_and_soa_layouts():
    """Draws the lanes that read field 6 of 8, the mass, in two layouts of the structures."""
    drawing = Drawing(760, 246, "One field of eight: array of structures, structure of arrays")
    drawing.text(
        16, 26, "Orange: the masses that lanes 0 to 7 read. A thick frame: the sector moves.", 13
    )
    apart = [(str(k // 8), ORANGE) if k % 8 == 6 else ("", None) for k in range(64)]
    draw_memory_strip(drawing, 76, apart, "array of structures: particle by particle", "8 lanes: 8 sectors")
    side = [(str(k - 24), ORANGE) if 24 <= k < 32 else ("", None) for k in range(64)]
    draw_memory_strip(drawing, 160, side, "structure of arrays: field by field", "8 lanes: 1 sector")
    drawing.text(
        16,
        222,
        "The number in a cell is the lane. A cell is a float, 8 floats are a sector.",
        12,
        fill=GREY,
    )
    return drawing


def draw_first_loads():
    drawing = Drawing(760, 246, "Sixteen elements per thread: the first load of each lane")
    drawing.text(
        16, 26, "The first 64 floats of the block, and the lanes whose first load reads them", 13
    )
    own = [(str(k // 16), ORANGE) if k % 16 == 0 else ("", None) for k in range(64)]
    draw_memory_strip(drawing, 76, own, "each lane has its own 16", "32 lanes: 32 sectors")
    # A number of two digits is wider than a cell, so in the sectors after the first only the first lane's number is
    # written.
    along = [
        (str(k) if k < 8 or k % 8 == 0 else "", ORANGE) if k < 32 else ("", None) for k in range(64)
    ]
    draw_memory_strip(drawing, 160, along, "the lanes walk together", "32 lanes: 4 sectors")
    drawing.text(
        16,
        222,
        "The number in a cell is the lane. A cell is a float, 8 floats are a sector.",
        12,
        fill=GREY,
    )
    return drawing


# The kernels that part B optimises. Part C is left out, because the reader predicts it.
OPTIMISED = [
    ("scale", "given", "optimised", "B1  own 16 elements per thread"),
    ("fields", "given", "optimised", "B2  one field of 32-byte structures"),
    ("push", "given", "optimised", "B3  whole structures, field by field"),
    ("centre", "given", "optimised", "B4  columns in blockIdx.y"),
    ("axpy", "given", "optimised", "B5  4 bytes per lane, one after the other"),
]


def draw_optimisation_speedups():
    table = tables.read_measured_table("h200-coalescing")
    n = 1 << 26
    drawing = Drawing(760, 82 + 34 * len(OPTIMISED), "What optimising saves on an H200")
    drawing.text(
        16,
        28,
        "Time of the given form over the optimised one's "
        f"(measured, {table.head['device']}, 2^26 elements)",
        14,
    )
    ratios = []
    for task, first, second, _ in OPTIMISED:
        size = n // 4 if task == "centre" else n
        given, optimised = (
            table.value("median_ms", task=task, form=form, n=size) for form in (first, second)
        )
        ratios.append(given / optimised)
    most = math.ceil(max(ratios))
    left, scale, bottom = 310, 390 / most, 52 + 34 * len(OPTIMISED)
    for tick in range(most + 1):
        drawing.line(left + tick * scale, 46, left + tick * scale, bottom, "#cccccc")
        drawing.text(left + tick * scale, bottom + 18, str(tick), 12, "middle", GREY)
    drawing.line(left + scale, 46, left + scale, bottom, INK, stroke_dasharray="4 3")
    for k, (ratio, (*_, words)) in enumerate(zip(ratios, OPTIMISED)):
        y = 52 + 34 * k
        drawing.rect(left, y, ratio * scale, 22, BLUE, "none")
        drawing.text(left - 10, y + 16, words, 13, "end")
        drawing.text(left + ratio * scale + 6, y + 16, f"{ratio:.2f}", 12)
    return drawing


FIGURES = {
    "coalescing/patterns.svg": draw_access_patterns,
    "coalescing/inactive.svg": draw_access_with_inactive_lanes,
    "coalescing/shifted.svg": draw_shifted_access,
    "coalescing/path.svg": draw_path_to_memory,
    "coalescing/layout.svg": draw_aos_and_soa_layouts,
    "coalescing/walk.svg": draw_first_loads,
    "coalescing/measured.svg": draw_optimisation_speedups,
}
