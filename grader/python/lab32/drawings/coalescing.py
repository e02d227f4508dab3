"""The figures of handouts/coalescing.md."""

import math

from lab32 import tables
from lab32.svg import BLUE, GREEN, GREY, INK, ORANGE, PALE, PAPER, PINK, RED, SKY, Drawing

LANES, SECTOR, WORD = 32, 32, 4  # a warp, bytes of a sector, bytes of a float
WORDS = SECTOR // WORD

# The float that lane l reads, in the kernels of the source document.
PATTERNS = {
    "add1": ("x[i]", lambda lane: lane),
    "add2": ("x[i + 1]", lambda lane: lane + 1),
    "add3": ("x[i ^ 1]", lambda lane: lane ^ 1),
    "add4": ("x[i / 32]", lambda lane: 0),
    "add5": ("x[4 * i]", lambda lane: 4 * lane),
}


def warp(drawing, x, y, width, words, last_sector):
    """A warp above the memory it reads. Returns the sectors that it touches."""
    touched = {word // WORDS for word in words}
    lane_width, word_width = width / LANES, width / ((last_sector + 1) * WORDS)
    top, memory = y, y + 66
    for lane, word in enumerate(words):
        from_x, to_x = x + (lane + 0.5) * lane_width, x + (word + 0.5) * word_width
        drawing.line(from_x, top + 18, to_x, memory, GREY, stroke_width=0.8)
    for lane in range(LANES):
        drawing.rect(x + lane * lane_width, top, lane_width, 18, SKY, PAPER)
        if lane_width > 16 or lane % 8 == 0 or lane == LANES - 1:
            drawing.text(x + (lane + 0.5) * lane_width, top + 13, str(lane), 9, "middle")
    for sector in range(last_sector + 1):
        for word in range(sector * WORDS, (sector + 1) * WORDS):
            fill = ORANGE if word in words else "#fbe3b0" if sector in touched else PALE
            drawing.rect(
                x + word * word_width, memory, word_width, 16, fill, PAPER, stroke_width=0.5
            )
        drawing.rect(
            x + sector * WORDS * word_width, memory, WORDS * word_width, 16, "none",
            INK if sector in touched else GREY, stroke_width=1.2 if sector in touched else 0.6,
        )  # fmt: skip
    return touched


def patterns():
    names, step = list(PATTERNS), 132
    drawing = Drawing(900, 44 + step * len(names), "Five ways for a warp to read 32 floats")
    drawing.text(
        20, 26, "32 lanes (blue), the words they read (orange), the 32-byte sectors moved", 15
    )
    for k, name in enumerate(names):
        index, word_of = PATTERNS[name]
        words = [word_of(lane) for lane in range(LANES)]
        last = max(5, max(words) // WORDS)
        y = 48 + k * step
        touched = warp(drawing, 130, y + 14, 750, words, last)
        used = len(set(words)) * WORD
        drawing.text(20, y + 26, name, 15, font_weight="bold")
        drawing.text(20, y + 44, index, 12, font_family="DejaVu Sans Mono, monospace")
        drawing.text(20, y + 72, f"{len(touched)} sector{'s' * (len(touched) > 1)}", 13)
        share = f"{used / (len(touched) * SECTOR):.1%}".replace(".0%", "%").replace("%", " %")
        drawing.text(20, y + 90, f"{share} used", 12, fill=GREY)
    return drawing


def path():
    """add1 from the kernel to DRAM, with the numbers of the source document."""
    l1, l2, dram, chart = (
        tables.documented(f"add1_{part}") for part in ("l1", "l2", "dram", "chart")
    )
    metric = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum".format

    def of(table, name):
        return int(float(table.value("value", metric=name)))

    def megabytes(value):
        return f"{value / 1e6:.2f} MB"

    drawing = Drawing(900, 250, "add1 on its way: instructions, requests, sectors, bytes")
    boxes = [
        ("kernel", "8 Mi threads", GREEN),
        ("global", "addresses", GREEN),
        ("L1", f"hits {of(chart, 'l1tex__t_sector_hit_rate.pct')} %", BLUE),
        ("L2", f"hits {chart.value('value', metric='lts__t_sector_hit_rate.pct')} %", BLUE),
        ("DRAM", "64 bytes at least", BLUE),
    ]
    x = [16 + 194 * k for k in range(5)]
    for at, (name, note, colour) in zip(x, boxes):
        drawing.rect(at, 80, 92, 70, colour, "none", rx=6)
        drawing.text(at + 46, 112, name, 16, "middle", PAPER, font_weight="bold")
        drawing.text(at + 46, 132, note, 9.5, "middle", PAPER)
    loads = [
        f"{of(l1, metric('requests', 'ld')):,}", "requests",
        f"{of(l1, metric('sectors', 'ld')):,}", "sectors",
        megabytes(of(dram, "dram__bytes_read.sum")), "read",
    ]  # fmt: skip
    stores = [
        f"{of(l1, metric('requests', 'st')):,}", "requests",
        f"{of(l1, metric('sectors', 'st')):,}", "sectors",
        megabytes(of(dram, "dram__bytes_write.sum")), "written",
    ]  # fmt: skip
    middle = [at + 92 + 51 for at in x[:4]]
    drawing.arrow(x[0] + 94, 115, x[1] - 3, 115)
    drawing.text(middle[0], 104, f"{of(l1, 'instructions'):,}", 12, "middle")
    drawing.text(middle[0], 134, "instructions", 12, "middle")
    for k in range(3):
        left, right, at = x[k + 1] + 94, x[k + 2] - 3, middle[k + 1]
        drawing.arrow(right, 100, left, 100, BLUE)
        drawing.arrow(left, 130, right, 130, RED)
        drawing.text(at, 78, loads[2 * k], 12, "middle", BLUE)
        drawing.text(at, 93, loads[2 * k + 1], 11, "middle", BLUE)
        drawing.text(at, 148, stores[2 * k], 12, "middle", RED)
        drawing.text(at, 163, stores[2 * k + 1], 11, "middle", RED)
    drawing.text(16, 34, "z[i] = x[i] + y[i]", 16, font_family="DejaVu Sans Mono, monospace")
    drawing.text(
        240, 34, "one request per instruction, four sectors per request, 32 bytes per sector", 13
    )
    drawing.text(
        16, 205, "green boxes: what the program says; blue boxes: what the chip has", 12, fill=GREY
    )
    drawing.text(16, 224, "blue arrows: loads; red arrows: stores", 12, fill=GREY)
    drawing.text(884, 224, "documented figures: data/documented/add1_*.csv", 11, "end", GREY)
    return drawing


FIELDS = ["x", "y", "z", "vx", "vy", "vz", "m", "q"]


def layout():
    drawing = Drawing(900, 220, "One field of eight: array of structures, structure of arrays")
    cell, left, count = 22, 30, 4

    def row(y, cells, title, verdict):
        drawing.text(left, y - 10, title, 14, font_weight="bold")
        drawing.text(870, y - 10, verdict, 13, "end")
        for k, (particle, field) in enumerate(cells):
            is_read = field == "m"
            fill = ORANGE if is_read else PALE
            drawing.rect(left + k * cell, y, cell, 24, fill, PAPER)
            drawing.text(
                left + (k + 0.5) * cell, y + 12, field, 9, "middle", INK if is_read else GREY
            )
            drawing.text(left + (k + 0.5) * cell, y + 22, str(particle), 7, "middle", GREY)
        for sector in range(len(cells) // WORDS):
            some = any(f == "m" for _, f in cells[sector * WORDS : (sector + 1) * WORDS])
            drawing.rect(
                left + sector * WORDS * cell, y, WORDS * cell, 24, "none",
                INK if some else GREY, stroke_width=1.8 if some else 0.6,
            )  # fmt: skip

    row(
        66,
        [(p, f) for p in range(count) for f in FIELDS],
        "array of structures: particle by particle",
        "a sector for each mass: 4 of 32 bytes used",
    )
    row(
        166,
        [(p, f) for f in ("vz", "m", "q") for p in range(8)],
        "structure of arrays: field by field (three of the eight are drawn)",
        "a sector for eight masses: all bytes used",
    )
    drawing.text(
        left,
        28,
        "The kernel reads each mass (orange). Boxes with a thick frame are the sectors that move.",
        13,
    )
    return drawing


def walk():
    drawing = Drawing(900, 230, "Sixteen elements per thread: side by side or a block apart")
    lane_colours = [SKY, ORANGE, PINK, GREEN]
    cell, left = 13, 30

    def row(y, owner, first, title, verdict):
        drawing.text(left, y - 10, title, 14, font_weight="bold")
        drawing.text(870, y - 10, verdict, 13, "end")
        for word in range(64):
            now = first(word)
            fill = lane_colours[owner(word) % 4] if now else PALE
            drawing.rect(left + word * cell, y, cell, 24, fill, PAPER, stroke_width=0.5)
            drawing.text(
                left + (word + 0.5) * cell,
                y + 16,
                str(owner(word)),
                8,
                "middle",
                INK if now else GREY,
            )
        for sector in range(64 // WORDS):
            some = any(first(w) for w in range(sector * WORDS, (sector + 1) * WORDS))
            drawing.rect(
                left + sector * WORDS * cell, y, WORDS * cell, 24, "none",
                INK if some else GREY, stroke_width=1.8 if some else 0.6,
            )  # fmt: skip

    drawing.text(
        left,
        28,
        "64 neighbouring floats, each with its lane; in colour what the first of 16 loads reads",
        13,
    )
    row(76, lambda w: w // 16, lambda w: w % 16 == 0,
        "in[16 * t + k]: each lane walks its own 16", "32 sectors per request")  # fmt: skip
    row(166, lambda w: w % 32, lambda w: w < 32,
        "in[t + 256 * k]: the lanes walk together", "4 sectors per request")  # fmt: skip
    return drawing


# What part B optimises. Part C is for the reader to predict, so it is not drawn.
OPTIMISED = [
    ("scale", "given", "optimised", "B1  own 16 elements per thread"),
    ("fields", "given", "optimised", "B2  one field of 32-byte structures"),
    ("push", "given", "optimised", "B3  whole structures, field by field"),
    ("centre", "given", "optimised", "B4  columns in blockIdx.y"),
    ("axpy", "given", "optimised", "B5  4 bytes per lane, one after the other"),
]


def measured():
    table = tables.measured("h200-coalescing")
    n = 1 << 26
    drawing = Drawing(900, 76 + 34 * len(OPTIMISED), "What optimising saves on an H200")
    drawing.text(
        20,
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
    left, scale, bottom = 330, 520 / most, 52 + 34 * len(OPTIMISED)
    for tick in range(most + 1):
        drawing.line(left + tick * scale, 46, left + tick * scale, bottom, "#cccccc")
        drawing.text(left + tick * scale, bottom + 14, str(tick), 11, "middle", GREY)
    drawing.line(left + scale, 46, left + scale, bottom, INK, stroke_dasharray="4 3")
    for k, (ratio, (*_, words)) in enumerate(zip(ratios, OPTIMISED)):
        y = 52 + 34 * k
        drawing.rect(left, y, ratio * scale, 22, BLUE, "none")
        drawing.text(left - 10, y + 16, words, 13, "end")
        drawing.text(left + ratio * scale + 6, y + 16, f"{ratio:.2f}", 12)
    return drawing


FIGURES = {
    "coalescing-patterns.svg": patterns,
    "coalescing-path.svg": path,
    "coalescing-layout.svg": layout,
    "coalescing-walk.svg": walk,
    "coalescing-measured.svg": measured,
}
