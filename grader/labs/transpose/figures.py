"""The figures of handouts/transpose.md and transpose-notes.md."""

from handouts.drawing import (
    BLUE,
    CREAM,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PALE,
    PAPER,
    PINK,
    RED,
    SKY,
    Drawing,
)
from lab32 import tables
from lab32.labs.transpose import notebook as transpose
from lab32.labs.transpose.tables import words_per_bank


def draw_matrix_cells(drawing, x, y, columns, rows, cell, fill, stroke_width=0.5):
    """A matrix; fill(row, column) is the colour of a cell."""
    for row in range(rows):
        for column in range(columns):
            drawing.rect(
                x + column * cell, y + row * cell, cell, cell, fill(row, column), PAPER,
                stroke_width=stroke_width,
            )  # fmt: skip


def draw_row_and_column_walks():
    """Cache lines of a matrix that is traversed by rows and by columns."""
    drawing = Drawing(760, 246, "A matrix in cache lines, walked by rows and by columns")
    cell, columns, rows, line = 21, 16, 6, 4
    for k, (title, verdict, seen) in enumerate(
        [
            ("row by row", "16 ints from 4 lines", lambda r, c: r == 0),
            ("column by column", "6 ints from 6 lines", lambda r, c: c == 0),
        ]
    ):
        x, y = 20 + 376 * k, 72
        drawing.text(x, y - 14, title, 15, font_weight="bold")
        drawing.text(x + columns * cell, y - 14, verdict, 13, "end")
        touched = {(r, c // line) for r in range(rows) for c in range(columns) if seen(r, c)}

        def cell_colour(r, c, seen=seen, touched=touched):
            return ORANGE if seen(r, c) else CREAM if (r, c // line) in touched else PALE

        draw_matrix_cells(drawing, x, y, columns, rows, cell, cell_colour)
        for r in range(rows):
            for part in range(columns // line):
                there = (r, part) in touched
                drawing.rect(
                    x + part * line * cell, y + r * cell, line * cell, cell, "none",
                    INK if there else GREY, stroke_width=1.8 if there else 0.5,
                )  # fmt: skip
    drawing.text(
        20,
        26,
        "Orange: read first. Boxes: cache lines (4 ints here for the picture, really 16).",
        13,
    )
    drawing.text(
        20, 226, "The other ints of a column's lines are needed after the whole column: by then they are gone.",
        12, fill=GREY,
    )  # fmt: skip
    return drawing


def draw_naive_requests():
    """One request reads a row; the other writes a column."""
    drawing = Drawing(760, 330, "The naive kernel: one of its two accesses scatters")
    cell, size, sector = 16, 16, 8
    drawing.text(
        16, 24, "One warp (16 of its lanes drawn). Frames: the sectors that its requests touch.", 13
    )
    for k, (title, mine) in enumerate(
        [("in: along a row", lambda r, c: r == 3), ("out: down a column", lambda r, c: c == 3)]
    ):
        x, y = 16 + 470 * k, 60
        drawing.text(x, y - 8, title, 14, font_weight="bold")
        draw_matrix_cells(
            drawing, x, y, size, size, cell, lambda r, c, mine=mine: ORANGE if mine(r, c) else PALE
        )
        for r in range(size):
            for part in range(size // sector):
                if any(mine(r, c) for c in range(part * sector, (part + 1) * sector)):
                    drawing.rect(
                        x + part * sector * cell, y + r * cell, sector * cell, cell, "none", INK,
                        stroke_width=1.8,
                    )  # fmt: skip
    drawing.arrow(290, 190, 468, 190)
    drawing.code(379, 178, "out[x * n + y]", 13, "middle")
    drawing.code(379, 212, "= in[y * m + x]", 13, "middle")
    return drawing


def draw_transpose_through_tile():
    """From tile (i, j) of in through shared memory to tile (j, i) of out."""
    drawing = Drawing(760, 300, "Through a tile in shared memory both sides are rows")
    cell, tiles, edge, top = 11, 3, 4, 92
    big = tiles * edge

    def draw_matrix(x, title, verdict, tile_at, row):
        drawing.text(x, top - 32, title, 14, font_weight="bold")
        drawing.text(x, top - 12, verdict, 12)
        r0, c0 = tile_at[0] * edge, tile_at[1] * edge

        def cell_colour(r, c):
            if not (r0 <= r < r0 + edge and c0 <= c < c0 + edge):
                return PALE
            return ORANGE if r - r0 == row else SKY

        draw_matrix_cells(drawing, x, top, big, big, cell, cell_colour)
        drawing.rect(x + c0 * cell, top + r0 * cell, edge * cell, edge * cell, "none", INK,
                     stroke_width=1.8)  # fmt: skip

    draw_matrix(16, "in", "a warp reads a row", (0, 2), 1)
    draw_matrix(606, "out", "a warp writes a row", (2, 0), 2)
    side = 30
    for x, words, mine in (
        (210, "stored along rows", lambda r, c: r == 1),
        (420, "loaded down columns", lambda r, c: c == 2),
    ):
        drawing.text(x, top - 32, "the tile", 14, font_weight="bold")
        drawing.text(x, top - 12, words, 12)
        draw_matrix_cells(drawing, x, top + 6, edge, edge, side,
             lambda r, c, mine=mine: ORANGE if mine(r, c) else SKY, 1)  # fmt: skip
    drawing.arrow(152, top + 66, 204, top + 66)
    drawing.arrow(336, top + 66, 414, top + 66)
    drawing.text(375, top + 56, "barrier", 12, "middle")
    drawing.arrow(546, top + 66, 600, top + 66)
    drawing.text(
        16,
        24,
        "Tile (0, 2) of in becomes tile (2, 0) of out. Orange: what one warp touches at once.",
        13,
    )
    drawing.text(
        16,
        268,
        "Global memory sees rows on both sides; the walk down a column is in shared memory.",
        13,
    )
    return drawing


def draw_partial_tile():
    """A tile of 4 x 4 threads at the corner of a matrix with 7 rows of 10 columns."""
    drawing = Drawing(760, 322, "A partial tile: who loads and who stores")
    size, n, m, cell, top = 4, 7, 10, 16, 66
    wide, high = m % size, n % size  # size of the partial tile in the corner
    drawing.text(
        16, 24, "Tiles of 4 × 4; in has 7 rows of 10 columns, so the corner keeps 3 rows of 2.", 13
    )

    def draw_matrix(x, title, rows, columns, part):
        drawing.text(x, top - 12, title, 14, font_weight="bold")
        draw_matrix_cells(drawing, x, top, columns, rows, cell, lambda r, c: ORANGE if part(r, c) else PALE)
        for k in range(0, max(rows, columns) + 1, size):
            if k <= columns:
                drawing.line(x + k * cell, top, x + k * cell, top + rows * cell, INK)
            if k <= rows:
                drawing.line(x, top + k * cell, x + columns * cell, top + k * cell, INK)
        drawing.rect(x, top, columns * cell, rows * cell, "none", INK)

    draw_matrix(16, "in: 7 × 10", n, m, lambda r, c: r >= n - high and c >= m - wide)
    draw_matrix(590, "out: 10 × 7", m, n, lambda r, c: r >= m - wide and c >= n - high)
    side = 30
    for x, words, who in (
        (216, "threads that load", lambda r, c: c < wide and r < high),
        (406, "threads that store", lambda r, c: c < high and r < wide),
    ):
        drawing.text(x, top - 12, words, 14, font_weight="bold")
        draw_matrix_cells(
            drawing,
            x,
            top,
            size,
            size,
            side,
            lambda r, c, who=who: ORANGE if who(r, c) else PALE,
            1,
        )
        for ty in range(size):
            for tx in range(size):
                drawing.text(
                    x + side * (tx + 0.5), top + side * (ty + 0.5) + 4, f"{tx},{ty}", 11, "middle"
                )
    drawing.text(
        16,
        274,
        "In a cell: threadIdx.x, threadIdx.y. Thread 0,2 loads and does not store; thread 2,0 stores",
        12,
        fill=GREY,
    )
    drawing.text(16, 292, "what another one has loaded. All 16 reach the barrier.", 12, fill=GREY)
    return drawing


def draw_elements_of_thread():
    """A thread moves four rows; then a square of 4 x 4 elements."""
    drawing = Drawing(760, 462, "Two steps to B4: four rows per thread, then squares of 4 x 4")
    side, top = 24, 62
    drawing.text(16, 26, "Step 1: four rows per thread", 15, font_weight="bold")
    drawing.text(16, 48, "8 × 8 elements, 8 × 2 threads", 12)
    colours = [SKY, ORANGE]
    draw_matrix_cells(drawing, 16, top, 8, 8, side, lambda r, c: colours[r % 2], 1)
    for r in range(8):
        for c in range(8):
            if c == 2:
                drawing.text(
                    16 + side * (c + 0.5), top + side * (r + 0.5) + 4, f"{c},{r % 2}", 11, "middle"
                )
    drawing.text(226, top + 20, "Blue: rows of the threads with threadIdx.y = 0,", 12)
    drawing.text(226, top + 38, "orange: of those with 1. In column 2: the thread.", 12)
    drawing.text(226, top + 62, "Thread 2,0 has four loads in flight, and so has", 12)
    drawing.text(226, top + 80, "every other thread. A request is a row, as before.", 12)

    top = 332
    drawing.text(16, top - 36, "Step 2: a square of 4 × 4 per thread", 15, font_weight="bold")
    names, fills = "ABCD", [SKY, ORANGE, GREEN, PINK]

    def draw_tile_of_thread(x, title, place):
        drawing.text(x, top - 10, title, 12)
        for k in range(4):
            r, c = place(*divmod(k, 2))
            px, py = x + 56 * c, top + 56 * r
            drawing.rect(px, py, 54, 54, fills[k], PAPER)
            for line in range(1, 4):
                drawing.line(px, py + 13.5 * line, px + 54, py + 13.5 * line, PAPER)
            drawing.text(px + 27, py + 34, names[k], 18, "middle", font_weight="bold")

    def draw_registers(x, title, name):
        drawing.text(x, top - 10, title, 12)
        for r in range(4):
            for c in range(4):
                drawing.rect(x + 30 * c, top + 27 * r, 30, 27, ORANGE, PAPER)
                drawing.text(x + 30 * (c + 0.5), top + 27 * (r + 0.5) + 4, name(r, c), 12, "middle")

    draw_tile_of_thread(16, "in: 4 vectors each", lambda r, c: (r, c))
    draw_registers(198, "B, as loaded", lambda r, c: f"{r}{c}")
    draw_registers(398, "B, renamed", lambda r, c: f"{c}{r}")
    draw_tile_of_thread(602, "out: 4 vectors each", lambda r, c: (c, r))
    drawing.arrow(134, top + 54, 192, top + 54)
    drawing.arrow(324, top + 54, 392, top + 54)
    drawing.arrow(524, top + 54, 596, top + 54)
    drawing.text(560, top + 44, "barrier", 12, "middle")
    return drawing


def draw_banks_of_column():
    """The banks of one column's elements: a row of the picture is a row of the tile."""
    drawing = Drawing(760, 356, "Where a column of the tile lies: row by row, bank by bank")
    cell, column = 7, 5
    for k, (title, verdict, bank_of) in enumerate(
        [
            ("plain", "32 words in one bank", lambda r: column),
            ("padded by one word", "one word in each bank", lambda r: (33 * r + column) % 32),
            ("swizzled by XOR", "one word in each bank", lambda r: column ^ r),
        ]
    ):
        x, y = 16 + 250 * k, 84
        drawing.text(x, y - 26, title, 14, font_weight="bold")
        drawing.text(x, y - 8, verdict, 12, fill=GREY)
        draw_matrix_cells(drawing, x, y, 32, 32, cell, lambda r, c, f=bank_of: RED if f(r) == c else PALE, 0.3)
        drawing.rect(x, y, 32 * cell, 32 * cell, "none", INK, stroke_width=0.8)
        for bank in (0, 8, 16, 24, 31):
            drawing.text(x + (bank + 0.5) * cell, y + 32 * cell + 16, str(bank), 12, "middle", GREY)
        drawing.text(x + 16 * cell, y + 32 * cell + 34, "bank", 12, "middle")
    drawing.text(
        16, 26, f"Column {column} of the tile (red): what the 32 lanes of a warp read at once", 14
    )
    return drawing


def draw_banks_then_and_now():
    """Words of a column that each bank serves: with 16 banks and half-warps, and with 32 banks and warps."""
    drawing = Drawing(760, 456, "The SYSU Lecture's tile, 16 wide, on G80 and today")
    panels = [
        ("G80: pitch 16", 16, 16, 16, 1),
        ("G80: pitch 17", 17, 16, 16, 1),
        ("today: pitch 16", 16, 32, 32, 1),
        ("today: pitch 17", 17, 32, 32, 1),
    ]
    most, high = 16, 128
    drawing.text(
        16, 24, "Words that each bank gives to one request (a half-warp on G80, a warp today)", 13
    )
    for k, (title, pitch, count, together, ideal) in enumerate(panels):
        x, base = 44 + 372 * (k % 2), 200 + 204 * (k // 2)
        words, wide = words_per_bank(16, pitch, count, together), 320
        drawing.text(x, base - high - 22, title, 14, font_weight="bold")
        times = max(words) / ideal
        ratio = f"{max(words)} to {ideal}: " + ("the ideal" if times == 1 else f"{times:g} times the ideal")
        drawing.text(x + wide, base - high - 22, ratio, 12, "end")
        for tick in (0, 4, 8, 12, 16):
            y = base - high * tick / most
            drawing.line(x, y, x + wide, y, "#dddddd")
            drawing.text(x - 6, y + 4, str(tick), 11, "end", GREY)
        step = wide / count
        for bank, height in enumerate(words):
            drawing.rect(x + bank * step + 1, base - high * height / most, step - 2, high * height / most,
                         RED if height > 1 else GREEN, "none")  # fmt: skip
        for bank in range(0, count, 4):
            drawing.text(x + (bank + 0.5) * step, base + 16, str(bank), 11, "middle", GREY)
        drawing.text(x + wide, base + 32, "bank", 11, "end", GREY)
    return drawing


def draw_times_on_h200():
    """Times of the versions as multiples of a copy."""
    table = tables.read_measured_table("h200-transpose")
    drawing = Drawing(760, 322, "What each version takes on an H200")
    drawing.text(
        20, 28, f"Time in times of a device-to-device copy (measured, {table.head['device']}, "
        "16384 x 16384)", 14,
    )  # fmt: skip
    left, scale, row = 110, 35, 46
    for tick in range(0, 17, 2):
        drawing.line(left + tick * scale, 44, left + tick * scale, 50 + 5 * row, "#cccccc")
        drawing.text(left + tick * scale, 66 + 5 * row, str(tick), 11, "middle", GREY)
    drawing.line(left + scale, 44, left + scale, 50 + 5 * row, INK, stroke_dasharray="4 3")
    for k, version in enumerate(transpose.VERSIONS):
        y = 52 + row * k
        drawing.text(left - 10, y + 24, version, 14, "end")
        for part, (kind, colour) in enumerate([("float", BLUE), ("short", SKY)]):
            ratio = transpose.times_over_copy(kind)[version]
            drawing.rect(left, y + 18 * part, ratio * scale, 16, colour, "none")
            drawing.text(left + ratio * scale + 6, y + 18 * part + 13, f"{ratio:.2f} {kind}", 12)
    return drawing


FIGURES = {
    "transpose/lines.svg": draw_row_and_column_walks,
    "transpose/naive.svg": draw_naive_requests,
    "transpose/tile.svg": draw_transpose_through_tile,
    "transpose/edge.svg": draw_partial_tile,
    "transpose/squares.svg": draw_elements_of_thread,
    "transpose/banks.svg": draw_banks_of_column,
    "transpose/then-and-now.svg": draw_banks_then_and_now,
    "transpose/measured.svg": draw_times_on_h200,
}
