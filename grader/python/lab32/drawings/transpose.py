"""The figures of handouts/transpose.md."""

from lab32 import tables, transpose
from lab32.svg import BLUE, GREEN, GREY, INK, ORANGE, PALE, PAPER, RED, SKY, Drawing

MONO = "DejaVu Sans Mono, monospace"


def grid(drawing, x, y, columns, rows, cell, fill, stroke_width=0.5):
    """A matrix; fill(row, column) is a cell's colour."""
    for row in range(rows):
        for column in range(columns):
            drawing.rect(
                x + column * cell, y + row * cell, cell, cell, fill(row, column), PAPER,
                stroke_width=stroke_width,
            )  # fmt: skip


def lines():
    """Cache lines of a matrix, walked by rows and by columns."""
    drawing = Drawing(900, 250, "A matrix in cache lines, walked by rows and by columns")
    cell, columns, rows, line = 22, 16, 6, 4
    for k, (title, verdict, seen) in enumerate(
        [
            ("row by row", "16 ints from 4 lines", lambda r, c: r == 0),
            ("column by column", "6 ints from 6 lines", lambda r, c: c == 0),
        ]
    ):
        x, y = 30 + 440 * k, 70
        drawing.text(x, y - 14, title, 15, font_weight="bold")
        drawing.text(x + columns * cell, y - 14, verdict, 13, "end")
        touched = {(r, c // line) for r in range(rows) for c in range(columns) if seen(r, c)}

        def fill(r, c, seen=seen, touched=touched):
            return ORANGE if seen(r, c) else "#fbe3b0" if (r, c // line) in touched else PALE

        grid(drawing, x, y, columns, rows, cell, fill)
        for r in range(rows):
            for part in range(columns // line):
                there = (r, part) in touched
                drawing.rect(
                    x + part * line * cell, y + r * cell, line * cell, cell, "none",
                    INK if there else GREY, stroke_width=1.6 if there else 0.5,
                )  # fmt: skip
    drawing.text(
        30, 28, "orange: read first; boxes: cache lines (4 ints here for the picture, really 16)", 13
    )
    drawing.text(
        30, 232, "The other ints of a column's lines are needed again only after the whole column: "
        "by then they are gone.", 12, fill=GREY,
    )  # fmt: skip
    return drawing


def naive():
    """One request reads a row, the other writes a column."""
    drawing = Drawing(900, 330, "The naive kernel: one of its two accesses scatters")
    cell, size, sector = 16, 16, 8
    drawing.text(30, 28, "One warp (16 of its lanes drawn). Boxes: the sectors its requests touch.", 13)
    for k, (title, mine) in enumerate(
        [
            ("in: lanes along a row", lambda r, c: r == 3),
            ("out: the same lanes down a column", lambda r, c: c == 3),
        ]
    ):
        x, y = 30 + 460 * k, 62
        drawing.text(x, y - 8, title, 14, font_weight="bold")
        grid(drawing, x, y, size, size, cell, lambda r, c, mine=mine: ORANGE if mine(r, c) else PALE)
        for r in range(size):
            for part in range(size // sector):
                if any(mine(r, c) for c in range(part * sector, (part + 1) * sector)):
                    drawing.rect(
                        x + part * sector * cell, y + r * cell, sector * cell, cell, "none", INK,
                        stroke_width=1.6,
                    )  # fmt: skip
    drawing.arrow(310, 190, 470, 190)
    drawing.text(390, 180, "out[x * n + y]", 12, "middle", font_family=MONO)
    drawing.text(390, 208, "= in[y * m + x]", 12, "middle", font_family=MONO)
    return drawing


def tile():
    """From tile (i, j) of in through shared memory to tile (j, i) of out."""
    drawing = Drawing(900, 340, "Through a tile in shared memory both sides are rows")
    cell, tiles, edge = 13, 3, 4
    big = tiles * edge
    top = 80

    def matrix(x, title, tile_at, row):
        drawing.text(x, top - 12, title, 14, font_weight="bold")
        r0, c0 = tile_at[0] * edge, tile_at[1] * edge

        def fill(r, c):
            if not (r0 <= r < r0 + edge and c0 <= c < c0 + edge):
                return PALE
            return ORANGE if r - r0 == row else SKY

        grid(drawing, x, top, big, big, cell, fill)
        drawing.rect(x + c0 * cell, top + r0 * cell, edge * cell, edge * cell, "none", INK,
                     stroke_width=1.6)  # fmt: skip

    matrix(30, "in: a warp reads a row", (0, 2), 1)
    matrix(700, "out: a warp writes a row", (2, 0), 2)
    side = 30
    for x, words, mine in (
        (270, "written along rows", lambda r, c: r == 1),
        (500, "read down columns", lambda r, c: c == 2),
    ):
        drawing.text(x, top - 12, words, 14, font_weight="bold")
        grid(drawing, x, top + 10, edge, edge, side,
             lambda r, c, mine=mine: ORANGE if mine(r, c) else SKY, 1)  # fmt: skip
        drawing.text(x, top + 150, "the tile, in shared memory", 12, fill=GREY)
    drawing.arrow(194, top + 70, 262, top + 70)
    drawing.arrow(398, top + 70, 492, top + 70)
    drawing.text(445, top + 58, "barrier", 12, "middle")
    drawing.arrow(628, top + 70, 692, top + 70)
    drawing.text(30, 28, "Tile (0, 2) of in becomes tile (2, 0) of out, and is transposed on the way.", 14)
    drawing.text(
        30, 290, "Global memory sees rows on both sides. The scattered walk, down a column, happens "
        "in shared memory,", 13,
    )  # fmt: skip
    drawing.text(30, 310, "which has no sectors. What it has is banks.", 13)
    return drawing


def banks():
    """Where the elements of one column lie: a row of the picture is a row of the tile."""
    drawing = Drawing(900, 390, "Where a column of the tile lies: row by row, bank by bank")
    cell, column = 8, 5
    for k, (title, verdict, bank_of) in enumerate(
        [
            ("plain", "32 words in one bank", lambda r: column),
            ("padded by one word", "one word in each bank", lambda r: (33 * r + column) % 32),
            ("swizzled by XOR", "one word in each bank", lambda r: column ^ r),
        ]
    ):
        x, y = 30 + 290 * k, 84
        drawing.text(x, y - 26, title, 14, font_weight="bold")
        drawing.text(x, y - 8, verdict, 12, fill=GREY)
        grid(drawing, x, y, 32, 32, cell, lambda r, c, f=bank_of: RED if f(r) == c else PALE, 0.3)
        drawing.rect(x, y, 32 * cell, 32 * cell, "none", INK, stroke_width=0.8)
        for bank in (0, 8, 16, 24, 31):
            drawing.text(x + (bank + 0.5) * cell, y + 32 * cell + 14, str(bank), 10, "middle", GREY)
        drawing.text(x + 16 * cell, y + 32 * cell + 32, "bank", 12, "middle")
    drawing.text(30, 28, f"Column {column} of the tile (red): what the 32 lanes of a warp read at once", 14)
    return drawing


def then_and_now():
    """How many words of a column each bank has to give: 16 banks and half-warps, 32 and warps."""
    drawing = Drawing(900, 400, "The SYSU Lecture's tile, 16 wide, on G80 and today")
    panels = [
        ("G80: pitch 16", 16, 16, 16, "a half-warp, 16 banks: 16-way"),
        ("G80: pitch 17", 17, 16, 16, "a half-warp, 16 banks: no conflict"),
        ("today: pitch 16", 16, 32, 32, "a warp, 32 banks: 8 wavefronts"),
        ("today: pitch 17", 17, 32, 32, "a warp, 32 banks: 2 wavefronts"),
    ]
    for k, (title, pitch, count, together, verdict) in enumerate(panels):
        x, base = 40 + 440 * (k % 2), 170 + 180 * (k // 2)
        words = transpose.words_in_banks(16, pitch, count, together)
        drawing.text(x, base - 116, title, 14, font_weight="bold")
        drawing.text(x + 400, base - 116, verdict, 12, "end")
        step = 400 / count
        for bank, height in enumerate(words):
            drawing.rect(x + bank * step, base - 6, step, 6, PALE, PAPER, stroke_width=0.5)
            for word in range(height):
                drawing.rect(
                    x + bank * step + 1, base - 12 - 6 * word, step - 2, 5,
                    RED if height > 1 else GREEN, "none",
                )  # fmt: skip
        for bank in range(0, count, 4):
            drawing.text(x + (bank + 0.5) * step, base + 12, str(bank), 9, "middle", GREY)
    drawing.text(
        40, 28, "Words of a column (two of them where a warp is 32 lanes) over the banks they lie in", 14
    )
    return drawing


def measured():
    """Times of the versions, in times of a copy."""
    table = tables.measured("h200-transpose")
    drawing = Drawing(900, 330, "What each version takes on an H200")
    drawing.text(
        20, 28, f"Time in times of a device-to-device copy (measured, {table.head['device']}, "
        "16384 x 16384)", 14,
    )  # fmt: skip
    left, scale, row = 150, 44, 46
    for tick in range(0, 17, 2):
        drawing.line(left + tick * scale, 44, left + tick * scale, 50 + 5 * row, "#cccccc")
        drawing.text(left + tick * scale, 66 + 5 * row, str(tick), 11, "middle", GREY)
    drawing.line(left + scale, 44, left + scale, 50 + 5 * row, INK, stroke_dasharray="4 3")
    for k, version in enumerate(transpose.VERSIONS):
        y = 52 + row * k
        drawing.text(left - 10, y + 24, version, 14, "end")
        for part, (kind, colour) in enumerate([("float", BLUE), ("short", SKY)]):
            ratio = transpose.times_copy(kind)[version]
            drawing.rect(left, y + 18 * part, ratio * scale, 16, colour, "none")
            drawing.text(left + ratio * scale + 6, y + 18 * part + 13, f"{ratio:.2f} {kind}", 11)
    return drawing


FIGURES = {
    "transpose-lines.svg": lines,
    "transpose-naive.svg": naive,
    "transpose-tile.svg": tile,
    "transpose-banks.svg": banks,
    "transpose-then-and-now.svg": then_and_now,
    "transpose-measured.svg": measured,
}
