"""The figures of handouts/bank_conflicts.md and bank_conflicts-notes.md."""

from handouts.drawing import BLUE, GREEN, GREY, INK, ORANGE, PALE, PAPER, PINK, SKY, Drawing
from lab32 import tables

BANKS, WORD = 32, 4  # banks of shared memory; bytes of a bank's word
CELL, HEIGHT, LEFT = 19.4, 19, 126


def phase_wavefronts(words):
    """The wavefronts that one phase of an access takes: the largest number of distinct words in a bank."""
    distinct = set(words)
    return max(sum(word % BANKS == bank for word in distinct) for bank in range(BANKS))


def draw_bank_numbers(drawing, y):
    for bank in range(BANKS):
        drawing.text(LEFT + (bank + 0.5) * CELL, y, str(bank), 11, "middle", BLUE)
    drawing.text(LEFT - 10, y, "bank", 12, "end", BLUE)


def draw_memory_words(drawing, y, rows, text_and_fill_by_word):
    """Draws rows of 32 words of shared memory, with a column for each bank. `text_and_fill_by_word`: {word: (text, colour)}; other
    words are pale."""
    for word in range(rows * BANKS):
        text, fill = text_and_fill_by_word.get(word, ("", PALE))
        x, top = LEFT + word % BANKS * CELL, y + word // BANKS * HEIGHT
        drawing.rect(x, top, CELL, HEIGHT, fill, PAPER, stroke_width=0.8)
        if text:
            drawing.text(x + CELL / 2, top + 14, text, 11, "middle")


def draw_row_label(drawing, y, name, index):
    drawing.text(14, y + 13, name, 13, font_weight="bold")
    drawing.code(14, y + 30, index, 12)


def wavefronts_text(count):
    return f"{count} wavefront{'s' * (count > 1)}"


# (name, the word that lane l reads, number of rows of memory in the figure)
STRIDES = [
    ("stride 1", "s[t + 1]", lambda lane: lane + 1, 2),
    ("stride 2", "s[2 * t]", lambda lane: 2 * lane, 2),
    ("stride 3", "s[3 * t]", lambda lane: 3 * lane, 3),
    ("stride 8", "s[8 * t]", lambda lane: 8 * lane, 8),
    ("one word", "s[5]", lambda lane: 5, 1),
]


def draw_bank_strides():
    total = 60 + sum(max(rows, 2) * HEIGHT + 34 for *_, rows in STRIDES)
    drawing = Drawing(760, total, "Which banks a warp visits, by its stride")
    drawing.text(
        14,
        24,
        "A row is 32 words, a column is a bank; the number is the lane that reads the word",
        14,
    )
    draw_bank_numbers(drawing, 48)
    y = 56
    for name, index, word_of, rows in STRIDES:
        words = [word_of(lane) for lane in range(32)]
        count = phase_wavefronts(words)
        lanes = {}
        for lane, word in enumerate(words):
            lanes.setdefault(word, []).append(lane)
        colour = SKY if count == 1 else ORANGE
        draw_memory_words(drawing, y, rows, {word: (str(who[0]), colour) for word, who in lanes.items()})
        if len(lanes) == 1:
            drawing.text(LEFT + 7 * CELL, y + 14, "all 32 lanes", 12)
        draw_row_label(drawing, y, name, index)
        drawing.text(LEFT, y + rows * HEIGHT + 16, wavefronts_text(count), 13, font_weight="bold")
        y += max(rows, 2) * HEIGHT + 34
    return drawing


def draw_padded_columns():
    """Draws a column of a tile in the banks: with rows of 32 words, and with rows of 33 words."""
    rows = 6
    drawing = Drawing(760, 2 * (rows * HEIGHT + 50) + 60, "A column of [32][32] and of [32][33]")
    draw_bank_numbers(drawing, 24)
    y = 32
    for pitch, index in ((32, "tile[32][32]"), (33, "tile[32][33]")):
        cells = {}
        for word in range(rows * BANKS):
            row, column = divmod(word, pitch)
            if column == 0:
                cells[word] = (str(row), ORANGE if pitch == 32 else SKY)
            elif column == 32:
                cells[word] = ("×", "#bbbbbb")
        draw_memory_words(drawing, y, rows, cells)
        draw_row_label(drawing, y, f"rows of {pitch}", index)
        column = [pitch * lane for lane in range(32)]
        drawing.text(LEFT, y + rows * HEIGHT + 20, wavefronts_text(phase_wavefronts(column)), 13, font_weight="bold")
        y += rows * HEIGHT + 50
    drawing.text(
        LEFT,
        y + 2,
        "The number is the lane that reads column 0 of its row; × is padding.",
        12,
        fill=GREY,
    )
    drawing.text(LEFT, y + 20, "6 rows of 32 words are drawn; the tile goes on.", 12, fill=GREY)
    return drawing


def draw_phases_of_doubles():
    """Draws that 8 bytes per lane take two phases: for consecutive lanes, and for lanes two doubles apart."""
    drawing = Drawing(760, 262, "8 bytes per lane are served in two phases")
    drawing.text(
        14,
        24,
        "A double is two words. Blue: lanes 0 to 15, served first. Orange: lanes 16 to 31.",
        14,
    )
    draw_bank_numbers(drawing, 50)
    y = 58
    for name, index, stride, rows in (
        ("side by side", "d[t]", 1, 2), ("two apart", "d[2 * t]", 2, 4),
    ):  # fmt: skip
        cells = {}
        for lane in range(32):
            for k in range(2):
                cells[2 * stride * lane + k] = (str(lane), SKY if lane < 16 else ORANGE)
        draw_memory_words(drawing, y, rows, cells)
        draw_row_label(drawing, y, name, index)
        each = [
            phase_wavefronts([2 * stride * lane + k for lane in half for k in range(2)])
            for half in (range(16), range(16, 32))
        ]
        drawing.text(
            LEFT, y + rows * HEIGHT + 18, f"{each[0]} + {each[1]} = {sum(each)} wavefronts", 13,
            font_weight="bold",
        )  # fmt: skip
        y += rows * HEIGHT + 46
    return drawing


PHASES = [SKY, ORANGE, GREEN, PINK]


def draw_phases_of_int4():
    """Draws that 16 bytes per lane take four phases: for consecutive lanes, and for lanes a row of a tile apart."""
    drawing = Drawing(760, 350, "16 bytes per lane are served in four phases")
    drawing.text(14, 24, "int4: lane l has four words; a phase is 8 lanes, all banks once", 14)
    draw_bank_numbers(drawing, 48)
    cells = {}
    for lane in range(32):
        for k in range(4):
            cells[4 * lane + k] = (str(lane), PHASES[lane // 8])
    draw_memory_words(drawing, 56, 4, cells)
    draw_row_label(drawing, 56, "side by side", "q[t]")
    drawing.text(
        LEFT, 150, "4 phases, a colour each, of 1 wavefront: 4 wavefronts for 512 bytes, no conflict", 13
    )  # fmt: skip
    cells = {}
    for lane in range(8):
        for k in range(4):
            cells[32 * lane + k] = (str(lane), SKY)
    draw_memory_words(drawing, 170, 8, cells)
    draw_row_label(drawing, 170, "a row apart", "q[8 * t]")
    drawing.text(
        LEFT, 340, "the first of 4 phases: 8 lanes in banks 0 to 3, 8 wavefronts; 32 in all", 13
    )  # fmt: skip
    return drawing


def draw_histogram_layouts():
    """Draws the word of channel 1 that each lane uses, in two layouts of the 32 copies."""
    drawing = Drawing(760, 340, "A histogram for each lane: two ways to lay it out")
    drawing.text(
        14,
        24,
        "All lanes add to channel 1. Coloured: the word of lane l; only 5 rows are drawn.",
        14,
    )
    draw_bank_numbers(drawing, 50)
    y = 58
    for name, index, word_of, colour in (
        ("lane by lane", "h[64 * lane + c]", lambda lane: 64 * lane + 1, ORANGE),
        ("side by side", "h[32 * c + lane]", lambda lane: 32 + lane, SKY),
    ):
        draw_memory_words(drawing, y, 5, {word_of(lane): (str(lane), colour) for lane in range(32)
                               if word_of(lane) < 5 * BANKS})  # fmt: skip
        drawing.text(14, y + 13, name, 13, font_weight="bold")
        drawing.code(LEFT, y + 5 * HEIGHT + 18, index, 13)
        y += 5 * HEIGHT + 46
    return drawing


# (task, given form, optimised form, label) of the kernels that part B optimises.
OPTIMISED = [
    ("row_scan", "given", "optimised", "B1  a column walk"),
    ("look_up", "given", "optimised", "B2  look-ups in a hot column"),
    ("block_sums", "given", "optimised", "B3  interleaved steps of a sum"),
    ("row_moments", "given", "optimised", "B4  int4 reads a row apart"),
    ("spectrum", "given", "optimised", "B5  a histogram with a hot channel"),
]


def row_of_largest_n(table, task, form):
    return max(table.where(task=task, form=form), key=lambda row: int(row["n"]))


def draw_optimised_form_speed_ups():
    times = tables.read_measured_table("h200-bank_conflicts")
    counters = tables.read_measured_table("h200-bank_conflicts-counters")
    drawing = Drawing(760, 80 + 46 * len(OPTIMISED), "What optimising saves on an H200")
    drawing.text(
        20, 28,
        f"Given over optimised: wavefronts and time (both measured, {times.head['device']})", 14,
    )  # fmt: skip
    left, scale = 268, 16
    bottom = 52 + 46 * len(OPTIMISED)
    for tick in range(0, 24, 4):
        drawing.line(left + tick * scale, 46, left + tick * scale, bottom, "#cccccc")
        drawing.text(left + tick * scale, bottom + 16, str(tick), 12, "middle", GREY)
    drawing.line(left + scale, 46, left + scale, bottom, INK, stroke_dasharray="4 3")
    for k, (task, first, second, words) in enumerate(OPTIMISED):

        def measured_wavefronts_of_form(form, task=task):
            return counters.value(
                "value", task=task, form=form, metric="memory_l1_wavefronts_shared"
            )

        def median_ms(form, task=task):
            return float(row_of_largest_n(times, task, form)["median_ms"])

        y = 52 + 46 * k
        drawing.text(left - 10, y + 24, words, 13, "end")
        for ratio, name, colour, top in (
            (measured_wavefronts_of_form(first) / measured_wavefronts_of_form(second), "wavefronts", SKY, y),
            (median_ms(first) / median_ms(second), "time", BLUE, y + 19),
        ):
            drawing.rect(left, top, ratio * scale, 17, colour, "none")
            drawing.text(left + ratio * scale + 6, top + 13, f"{name} {ratio:.2f}", 12)
    return drawing


FIGURES = {
    "bank_conflicts/strides.svg": draw_bank_strides,
    "bank_conflicts/padding.svg": draw_padded_columns,
    "bank_conflicts/halves.svg": draw_phases_of_doubles,
    "bank_conflicts/phases.svg": draw_phases_of_int4,
    "bank_conflicts/histogram.svg": draw_histogram_layouts,
    "bank_conflicts/measured.svg": draw_optimised_form_speed_ups,
}
