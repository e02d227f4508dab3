"""The figures of handouts/swizzle.md and swizzle-notes.md."""

from handouts.drawing import (
    BLUE,
    CREAM,
    GREEN,
    GREY,
    INK,
    LILAC,
    ORANGE,
    PALE,
    PAPER,
    PINK,
    SALMON,
    SKY,
    STRAW,
    Drawing,
)
from lab32 import tables
from lab32.labs.swizzle import notebook as swizzle
from lab32.labs.swizzle.tables import recorded_tma_box_copies

CELL, NARROW = 30, 28
CHUNKS = 8  # chunks of 16 bytes in a line of 128 bytes, which covers all banks once
MONO = "DejaVu Sans Mono, monospace"


def draw_grid(drawing, x, y, rows, cell=CELL):
    """Rows of (text, colour) pairs."""
    for r, row in enumerate(rows):
        for c, (text, fill) in enumerate(row):
            drawing.rect(x + c * cell, y + r * cell, cell, cell, fill, PAPER, stroke_width=1)
            drawing.text(x + (c + 0.5) * cell, y + (r + 0.5) * cell + 4, text, 12, "middle")


def draw_xored_bits():
    drawing = Drawing(760, 268, "Which bits Swizzle<B, M, S> XORs onto which")
    wide, left = 44, 104

    def draw_number_bits(y, title, words, count, first_z, distance, size):
        first_y = first_z + distance
        drawing.code(16, y + 22, title, 14, font_weight="bold")
        for bit in range(count):
            x = left + (count - 1 - bit) * wide
            in_y, in_z = first_y <= bit < first_y + size, first_z <= bit < first_z + size
            fill = ORANGE if in_y else SKY if in_z else PALE
            drawing.rect(x, y, wide, 32, fill, PAPER)
            drawing.text(x + wide / 2, y + 21, "Y" if in_y else "Z" if in_z else "·", 14, "middle")
            drawing.text(x + wide / 2, y - 6, str(bit), 11, "middle", GREY)

        def middle_of_field(first):
            return left + (count - first - size / 2) * wide

        drawing.line(middle_of_field(first_y), y + 36, middle_of_field(first_y), y + 48, INK)
        drawing.line(middle_of_field(first_y), y + 48, middle_of_field(first_z), y + 48, INK)
        drawing.arrow(middle_of_field(first_z), y + 48, middle_of_field(first_z), y + 35)
        drawing.text(left + count * wide + 16, y + 13, words[0], 12)
        drawing.text(left + count * wide + 16, y + 30, words[1], 12)

    drawing.text(16, 24, "Bits of an offset: B bits YYY are XORed onto B bits ZZZ", 14)
    draw_number_bits(64, "<3, 0, 3>", ("the table above: YYY is the row,", "ZZZ the column"), 8, 0, 3, 3)
    draw_number_bits(
        164,
        "<2, 1, 4>",
        ("bit 0 stays: elements move in pairs;", "YYY begins 4 bits above ZZZ"),
        8,
        1,
        4,
        2,
    )
    drawing.text(
        16,
        250,
        "ZZZ begins at bit M, YYY at bit M + S (S ≥ 0). ZZZ becomes ZZZ ^ YYY; all else stays.",
        12,
        fill=GREY,
    )
    return drawing


def draw_unswizzled_chunk_layout():
    """Rows of 128, 64 and 32 bytes in lines of 128 bytes, without a swizzle."""
    drawing = Drawing(
        760, 268, "Where the chunks of a row lie, for three widths, without a swizzle"
    )
    cell, top, high = 28, 76, 20
    drawing.text(
        16, 24, "A row of the picture is a line of shared memory, a cell a chunk: row.chunk", 14
    )
    for k, wide in enumerate((128, 64, 32)):
        left, each = 16 + 248 * k, wide // 16
        drawing.text(left, top - 26, f"rows of {wide} bytes", 14, font_weight="bold")
        for column in range(CHUNKS):
            drawing.text(left + (column + 0.5) * cell, top - 8, str(column), 11, "middle", BLUE)
        for line in range(8):
            for column in range(CHUNKS):
                row, chunk = divmod(CHUNKS * line + column, each)
                x, y = left + column * cell, top + line * high
                drawing.rect(
                    x, y, cell, high, (SKY if chunk == 0 else PALE) if row < 8 else PAPER, PAPER
                )
                if row < 8:
                    drawing.text(x + cell / 2, y + 14, f"{row}.{chunk}", 11, "middle")
        for split in range(each, CHUNKS, each):
            x = left + split * cell
            drawing.line(x, top, x, top + 8 * wide // 128 * high, INK, stroke_width=1.5)
    drawing.text(
        16,
        256,
        "Blue: chunk 0 of 8 rows. Chunks of one column of the picture are in the same four banks.",
        12,
        fill=GREY,
    )
    return drawing


def draw_ldmatrix_row_addresses():
    """The lane that holds the address of each row of the four matrices."""
    drawing = Drawing(760, 452, "Which row each lane passes to ldmatrix.x4")
    cell, top, high, left = 58, 76, 21, 96
    fills = [SKY, ORANGE, GREEN, PINK]
    drawing.text(
        16,
        24,
        "16 rows of the tile, 8 chunks each. A number is the lane that passes this chunk's address.",
        13,
    )
    for column in range(CHUNKS):
        x = left + (column + 0.5) * cell
        drawing.text(x, top - 24, f"chunk {column}", 12, "middle")
        drawing.text(x, top - 8, f"{4 * column}–{4 * column + 3}", 11, "middle", BLUE)
    drawing.text(left - 10, top - 8, "banks", 12, "end", BLUE)
    for row in range(16):
        drawing.text(left - 10, top + high * row + 15, f"row {row}", 12, "end")
        for column in range(CHUNKS):
            x, y = left + column * cell, top + high * row
            matrix = 2 * column + row // 8 if column < 2 else None
            drawing.rect(x, y, cell, high, PALE if matrix is None else fills[matrix], PAPER)
            if matrix is not None:
                drawing.text(x + cell / 2, y + 15, str(8 * matrix + row % 8), 12, "middle")
    for k, fill in enumerate(fills):
        drawing.rect(16 + 120 * k, 428, 14, 14, fill, "none")
        drawing.text(38 + 120 * k, 440, f"matrix {k + 1}", 12)
    return drawing


def draw_swizzled_table():
    """The documented table, with the entry of the worked example marked."""
    drawing = Drawing(760, 330, "Where each entry of an 8 × 8 table is stored")
    left, top, row, column = 216, 62, 5, 3
    entries = swizzle.documented_swizzle_3_0_3_values()
    cells = [
        [
            (
                str(v),
                ORANGE
                if (r, c) == (row, column)
                else CREAM
                if r == row or c == column
                else PALE,
            )
            for c, v in enumerate(values)
        ]
        for r, values in enumerate(entries)
    ]
    draw_grid(drawing, left, top, cells)
    for k in range(8):
        drawing.text(left + (k + 0.5) * CELL, top - 8, str(k), 12, "middle", BLUE)
        drawing.text(left - 10, top + (k + 0.5) * CELL + 4, str(k), 12, "end", BLUE)
    drawing.text(left + 4 * CELL, top - 28, "column", 12, "middle", BLUE)
    drawing.text(left - 34, top + 4 * CELL + 4, "row", 12, "end", BLUE)
    words = f"row {row}, column {column} is stored in column {entries[row][column]}"
    drawing.text(left + 8 * CELL + 14, top + (row + 0.5) * CELL + 4, words, 12)
    return drawing


def draw_swizzle_tables():
    """The documented table, and <2, 0, 3>, where the rows repeat."""
    drawing = Drawing(760, 330, "The tables of <3, 0, 3> and <2, 0, 3>")
    for left, title, rows, words in (
        (60, "<3, 0, 3> (documented)", swizzle.documented_swizzle_3_0_3_values(), "0 once in each row and column"),
        (
            430,
            "<2, 0, 3>",
            [[column ^ row % 4 for column in range(8)] for row in range(8)],
            "row 4 is row 0 again: column 0 holds 0 twice",
        ),
    ):
        drawing.text(left, 24, title, 14, font_weight="bold")
        cells = [[(str(v), ORANGE if v == 0 else PALE) for v in row] for row in rows]
        draw_grid(drawing, left, 52, cells)
        for k in range(8):
            drawing.text(left + (k + 0.5) * CELL, 46, str(k), 11, "middle", BLUE)
            drawing.text(left - 8, 52 + (k + 0.5) * CELL + 4, str(k), 11, "end", BLUE)
        drawing.text(left, 314, words, 12)
    return drawing


def draw_tile_layouts():
    """The rows of one matrix in a plain, a padded and a swizzled tile."""
    chosen = 2
    layouts = {
        "plain": (lambda r, c: CHUNKS * r + c, ("all in banks 8 to 11", "8 wavefronts")),
        "padded": (
            lambda r, c: (CHUNKS + 1) * r + c,
            ("4 banks further a row (×: padding)", "1 wavefront"),
        ),
        "swizzled": (lambda r, c: CHUNKS * r + (c ^ r), ("a column each", "1 wavefront")),
    }
    drawing = Drawing(760, 372, "Eight rows of a matrix in shared memory, three ways")
    drawing.text(
        16,
        24,
        "ldmatrix reads chunk 2 of 8 rows (orange). A cell is a chunk, row.chunk; above, its bank",
        13,
    )
    for k, (name, (place, words)) in enumerate(layouts.items()):
        left = 16 + 250 * k
        cells = [[("", PAPER)] * CHUNKS for _ in range(9)]
        pads = 8 if name == "padded" else 0
        for row in range(8):
            for chunk in range(CHUNKS):
                line, column = divmod(place(row, chunk), CHUNKS)
                cells[line][column] = (f"{row}.{chunk}", ORANGE if chunk == chosen else PALE)
        for row in range(pads):
            line, column = divmod(place(row, CHUNKS), CHUNKS)
            cells[line][column] = ("×", "#bbbbbb")
        drawing.text(left, 52, name, 14, font_weight="bold")
        for column in range(CHUNKS):
            drawing.text(left + (column + 0.5) * NARROW, 72, str(4 * column), 11, "middle", BLUE)
        rows = cells if name == "padded" else cells[:8]
        for r, row in enumerate(rows):
            for c, (text, fill) in enumerate(row):
                drawing.rect(left + c * NARROW, 78 + r * 28, NARROW, 28, fill, PAPER)
                drawing.text(left + (c + 0.5) * NARROW, 96 + r * 28, text, 11, "middle")
        drawing.text(left, 346, words[0], 12)
        drawing.text(left, 362, words[1], 12, font_weight="bold")
    return drawing


def draw_swizzle_of_narrow_rows():
    """Chunks of 64-byte rows, placed by the document's formulas and by the general mapping."""
    drawing = Drawing(760, 252, "Rows of 64 bytes: 4 chunks per row")
    top, high = 38, 20
    chunks = [(row, chunk) for row in range(8) for chunk in range(4)]

    left, wide = 60, 72
    drawing.text(left, 24, "the document's formulas", 14, font_weight="bold")
    held = {}
    for row, chunk in chunks:
        y16, x16 = divmod(4 * row + chunk, CHUNKS)
        held.setdefault((y16, (y16 ^ x16) % 4), []).append(f"{row}.{chunk}")
    for y in range(8):
        drawing.text(left - 8, top + 14 + high * y, f"row {y}", 11, "end", BLUE)
        for x in range(4):
            here = held.get((y, x), [])
            fill, ink = (ORANGE if len(here) > 1 else PAPER), INK
            drawing.rect(left + wide * x, top + high * y, wide, high, fill, "#cccccc")
            words = " + ".join(here)
            drawing.text(left + wide * (x + 0.5), top + 14 + high * y, words, 11, "middle", ink)
    drawing.text(left, 218, "two chunks on each place of rows 0 to 3", 12)

    left, wide = 420, 41
    drawing.text(left, 24, "swizzled by the byte", 14, font_weight="bold")
    for row, chunk in chunks:
        line, column = divmod(4 * row + chunk, CHUNKS)
        fill = SKY if chunk == 0 else PALE
        x, y = left + wide * (column ^ line), top + 2 * high * line
        drawing.rect(x, y, wide, 2 * high, fill, "#cccccc")
        drawing.text(x + wide / 2, y + high + 4, f"{row}.{chunk}", 11, "middle")
    for line in range(4):
        drawing.text(left - 8, top + high + 4 + 2 * high * line, f"line {line}", 11, "end", BLUE)
    drawing.text(left, 218, "each has a place; chunk 0 of 8 rows (blue): all banks", 12)
    drawing.text(
        60, 244, "The numbers are row.chunk. A line is 128 bytes: two rows.", 12, fill=GREY
    )  # fmt: skip
    return drawing


def draw_tma_swizzle_modes():
    """The three modes as an H200 applied them: the places of each row's chunks."""
    dumped = recorded_tma_box_copies()
    drawing = Drawing(760, 324, "The copy engine's swizzle modes, as dumped on an H200")
    colours = [SKY, ORANGE, GREEN, PINK, "#cccccc", STRAW, LILAC, SALMON]
    drawing.text(
        16, 24, "Shared memory after a bulk tensor copy (measured); a number is a row's chunk", 14
    )  # fmt: skip
    for k, mode in enumerate((128, 64, 32)):
        left = 16 + 250 * k
        rows = dumped[mode, 2, mode // 2, 0]
        cells = [[("", PAPER)] * CHUNKS for _ in range(8)]
        for landings in rows:
            for chunk, at in enumerate(landings[::8]):
                line, column = divmod(at // 16, CHUNKS)
                if line < 8:
                    cells[line][column] = (str(chunk), colours[chunk])
        each = 128 // mode
        title = f"{mode} bytes, {each} row{'s' * (each > 1)} a line"
        drawing.text(left, 52, title, 14, font_weight="bold")
        draw_grid(drawing, left, 64, cells, NARROW)
        bottom = 64 + min(8, len(rows) // each) * NARROW
        for row in range(1, each):
            x = left + row * mode // 16 * NARROW
            drawing.line(x, 64, x, bottom, INK, stroke_width=1.5)
    words = {128: "the pattern of 8 lines repeats", 64: "of 4 lines", 32: "of 2 lines"}
    for k, mode in enumerate((128, 64, 32)):
        drawing.text(16 + 250 * k, 310, words[mode], 12)
    return drawing


def draw_times_on_h200():
    times = tables.read_measured_table("h200-swizzle")
    tiles = max(int(row["n"]) for row in times.rows)
    drawing = Drawing(760, 258, "What the layouts cost on an H200")
    drawing.text(
        16, 28, f"Time, in times of a device-to-device copy (measured, {times.head['device']})", 14
    )
    left, scale = 322, 124
    tasks = {"x4": "each warp reads the whole tile", "once": "each row is read once"}
    y = 50
    for tick in range(4):
        drawing.line(left + tick * scale, 42, left + tick * scale, 226, "#cccccc")
        drawing.text(left + tick * scale, 244, str(tick), 12, "middle", GREY)
    for task, words in tasks.items():
        drawing.text(16, y + 17, words, 12, font_weight="bold")
        for form, colour in zip(swizzle.FORMS, (ORANGE, SKY, BLUE), strict=True):
            ratio = times.value("times_copy", task=task, form=form, n=tiles)
            drawing.text(left - 10, y + 17, form, 12, "end")
            drawing.rect(left, y, ratio * scale, 24, colour, "none")
            drawing.text(left + ratio * scale + 6, y + 17, f"{ratio:.2f}", 12)
            y += 27
        y += 10
    return drawing


FIGURES = {
    "swizzle/bits.svg": draw_xored_bits,
    "swizzle/xor.svg": draw_swizzled_table,
    "swizzle/rows.svg": draw_unswizzled_chunk_layout,
    "swizzle/ldmatrix.svg": draw_ldmatrix_row_addresses,
    "swizzle/table.svg": draw_swizzle_tables,
    "swizzle/tile.svg": draw_tile_layouts,
    "swizzle/narrow.svg": draw_swizzle_of_narrow_rows,
    "swizzle/tensor.svg": draw_tma_swizzle_modes,
    "swizzle/measured.svg": draw_times_on_h200,
}
