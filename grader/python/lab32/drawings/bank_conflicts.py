"""The figures of handouts/bank_conflicts.md."""

from lab32 import tables
from lab32.svg import BLUE, GREEN, GREY, INK, ORANGE, PALE, PAPER, PINK, SKY, Drawing

BANKS, WORD = 32, 4  # of shared memory, bytes of a bank's word
CELL, HEIGHT, LEFT = 24, 17, 112


def fullest(words):
    """Wavefronts of one phase: the most distinct words in a bank."""
    distinct = set(words)
    return max(sum(word % BANKS == bank for word in distinct) for bank in range(BANKS))


def bank_numbers(drawing, y):
    for bank in range(BANKS):
        drawing.text(LEFT + (bank + 0.5) * CELL, y, str(bank), 9, "middle", BLUE)
    drawing.text(LEFT - 10, y, "bank", 11, "end", BLUE)


def memory(drawing, y, rows, cells):
    """Rows of 32 words, a column per bank. `cells`: {word: (text, colour)}; the others are pale."""
    for word in range(rows * BANKS):
        text, fill = cells.get(word, ("", PALE))
        x, top = LEFT + word % BANKS * CELL, y + word // BANKS * HEIGHT
        drawing.rect(x, top, CELL, HEIGHT, fill, PAPER, stroke_width=0.8)
        if text:
            drawing.text(x + CELL / 2, top + 12, text, 9, "middle")


def plural(count):
    return f"{count} wavefront{'s' * (count > 1)}"


# Name, what lane l reads, rows of memory to draw.
STRIDES = [
    ("stride 1", "s[t + 1]", lambda lane: lane + 1, 2),
    ("stride 2", "s[2 * t]", lambda lane: 2 * lane, 2),
    ("stride 3", "s[3 * t]", lambda lane: 3 * lane, 3),
    ("stride 8", "s[8 * t]", lambda lane: 8 * lane, 8),
    ("one word", "s[5]", lambda lane: 5, 1),
]


def strides():
    total = 60 + sum(rows * HEIGHT + 34 for *_, rows in STRIDES)
    drawing = Drawing(900, total, "Which banks a warp visits, by its stride")
    drawing.text(
        20, 24, "Each row is 32 words, each column is a bank; a number is the lane that accesses the word", 15
    )  # fmt: skip
    bank_numbers(drawing, 46)
    y = 54
    for name, index, word_of, rows in STRIDES:
        words = [word_of(lane) for lane in range(32)]
        count = fullest(words)
        lanes = {}
        for lane, word in enumerate(words):
            lanes.setdefault(word, []).append(lane)
        colour = SKY if count == 1 else ORANGE
        cells = {
            word: (str(who[0]) if len(who) == 1 else "all", colour) for word, who in lanes.items()
        }
        memory(drawing, y, rows, cells)
        drawing.text(12, y + 12, name, 13, font_weight="bold")
        if rows > 1:
            drawing.text(12, y + 28, index, 11, font_family="DejaVu Sans Mono, monospace")
        drawing.text(LEFT, y + rows * HEIGHT + 14, plural(count), 12, fill=INK)
        y += rows * HEIGHT + 34
    return drawing


def padding():
    """The column of a tile with rows of 32 and of 33 words."""
    rows = 8
    drawing = Drawing(900, 2 * (rows * HEIGHT + 52) + 40, "A column of [32][32] and of [32][33]")
    bank_numbers(drawing, 24)
    y = 32
    for pitch, words in ((32, "int tile[32][32]"), (33, "int tile[32][33]")):
        cells = {}
        for word in range(rows * BANKS):
            row, column = divmod(word, pitch)
            if column == 0:
                cells[word] = (str(row), ORANGE if pitch == 32 else SKY)
            elif column == 32:
                cells[word] = ("pad", "#cccccc")
        memory(drawing, y, rows, cells)
        column = [pitch * lane for lane in range(32)]
        drawing.text(
            LEFT, y + rows * HEIGHT + 18,
            f"{words}: lane l wants tile[l][0]: {plural(fullest(column))}"
            + (" (all 32 lanes in bank 0)" if pitch == 32 else " (lane l in bank l)"),
            13,
        )  # fmt: skip
        drawing.text(12, y + 12, f"rows of {pitch}", 13, font_weight="bold")
        y += rows * HEIGHT + 52
    drawing.text(LEFT, y + 4, "The numbers are lanes; the first 8 rows of 32 words are drawn.", 12, fill=GREY)
    return drawing


PHASES = [SKY, ORANGE, GREEN, PINK]


def phases():
    """16 bytes per lane: four phases, side by side and a row of a tile apart."""
    drawing = Drawing(900, 330, "16 bytes per lane are served in four phases")
    drawing.text(20, 24, "int4: lane l has four words; a phase is 8 lanes, all banks once", 15)
    bank_numbers(drawing, 48)
    cells = {}
    for lane in range(32):
        for k in range(4):
            cells[4 * lane + k] = (str(lane), PHASES[lane // 8])
    memory(drawing, 56, 4, cells)
    drawing.text(12, 68, "side by side", 13, font_weight="bold")
    drawing.text(12, 84, "q[t]", 11, font_family="DejaVu Sans Mono, monospace")
    drawing.text(
        LEFT, 142, "4 phases, a colour each, of 1 wavefront: 4 wavefronts for 512 bytes, no conflict", 12
    )  # fmt: skip
    cells = {}
    for lane in range(8):
        for k in range(4):
            cells[32 * lane + k] = (str(lane), SKY)
    memory(drawing, 166, 8, cells)
    drawing.text(12, 178, "a row apart", 13, font_weight="bold")
    drawing.text(12, 194, "q[8 * t]", 11, font_family="DejaVu Sans Mono, monospace")
    drawing.text(
        LEFT, 320, "the first of 4 phases: its 8 lanes collide in banks 0 to 3, 8 wavefronts; 32 in all", 12
    )  # fmt: skip
    return drawing


def histogram():
    """Copies of a histogram, lane after lane and channel after channel."""
    drawing = Drawing(900, 300, "A histogram for each lane: two ways to lay it out")
    drawing.text(20, 24, "Where each lane keeps each channel: a cell is channel.lane", 15)
    bank_numbers(drawing, 48)
    colours = [SKY, ORANGE, GREEN, PINK]
    y = 56
    for title, index, cell in (
        ("lane by lane", "h[64 * lane + c]", lambda word: (word % 64, word // 64)),
        ("side by side", "h[32 * c + lane]", lambda word: (word // 32, word % 32)),
    ):
        cells = {}
        for word in range(5 * BANKS):
            channel, lane = cell(word)
            hot = channel == 1
            fill = colours[lane % 4] if hot else PALE
            cells[word] = (f"{channel}.{lane}" if hot or lane < 4 else "", fill)
        memory(drawing, y, 5, cells)
        drawing.text(8, y + 12, title, 13, font_weight="bold")
        drawing.text(8, y + 28, index, 10, font_family="DejaVu Sans Mono, monospace")
        words = [64 * lane + 1 if title == "lane by lane" else 32 + lane for lane in range(32)]
        drawing.text(
            LEFT, y + 5 * HEIGHT + 16,
            f"all lanes have an event of channel 1 (coloured): {plural(fullest(words))}", 12,
        )  # fmt: skip
        y += 5 * HEIGHT + 40
    return drawing


# What part B optimises.
OPTIMISED = [
    ("row_scan", "given", "optimised", "B1  a column walk"),
    ("look_up", "given", "optimised", "B2  look-ups in a hot column"),
    ("block_sums", "given", "optimised", "B3  interleaved steps of a sum"),
    ("row_moments", "given", "optimised", "B4  int4 reads a row apart"),
    ("spectrum", "given", "optimised", "B5  a histogram with a hot channel"),
]


def largest(table, task, form):
    return max(table.where(task=task, form=form), key=lambda row: int(row["n"]))


def measured():
    times = tables.measured("h200-bank_conflicts")
    counters = tables.measured("h200-bank_conflicts-counters")
    drawing = Drawing(900, 80 + 46 * len(OPTIMISED), "What optimising saves on an H200")
    drawing.text(
        20, 28,
        f"Given over optimised: wavefronts and time (both measured, {times.head['device']})", 14,
    )  # fmt: skip
    left, scale = 285, 21
    bottom = 52 + 46 * len(OPTIMISED)
    for tick in range(0, 24, 4):
        drawing.line(left + tick * scale, 46, left + tick * scale, bottom, "#cccccc")
        drawing.text(left + tick * scale, bottom + 16, str(tick), 11, "middle", GREY)
    drawing.line(left + scale, 46, left + scale, bottom, INK, stroke_dasharray="4 3")
    for k, (task, first, second, words) in enumerate(OPTIMISED):

        def count(form, task=task):
            return counters.value(
                "value", task=task, form=form, metric="memory_l1_wavefronts_shared"
            )

        def ms(form, task=task):
            return float(largest(times, task, form)["median_ms"])

        y = 52 + 46 * k
        drawing.text(left - 10, y + 24, words, 13, "end")
        for ratio, name, colour, top in (
            (count(first) / count(second), "wavefronts", SKY, y),
            (ms(first) / ms(second), "time", BLUE, y + 19),
        ):
            drawing.rect(left, top, ratio * scale, 17, colour, "none")
            drawing.text(left + ratio * scale + 6, top + 13, f"{name} {ratio:.2f}", 12)
    return drawing


FIGURES = {
    "bank_conflicts-strides.svg": strides,
    "bank_conflicts-padding.svg": padding,
    "bank_conflicts-phases.svg": phases,
    "bank_conflicts-histogram.svg": histogram,
    "bank_conflicts-measured.svg": measured,
}
