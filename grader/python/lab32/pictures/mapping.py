"""Draws a swizzle as a table: the column that each group of elements is stored in."""

from lab32.pictures.canvas import Canvas

LEFT, TOP, CELL = 84, 92, 24


def stored_group_positions(mapping):
    """The groups as [(row, column, stored row, stored column)]; the last two count in the whole table, not in the drawn
    part."""
    return [(*divmod(n, mapping["columns"]), *divmod(to, mapping["all_columns"])) for n, to in enumerate(mapping["to"])]


def count_storage_columns_by_column(mapping):
    """For each column, the number of different columns in which its groups are stored."""
    return [
        len({place[3] for place in stored_group_positions(mapping) if place[1] == column})
        for column in range(mapping["columns"])
    ]


def any_group_moves(mapping):
    return any(place[:2] != place[2:] for place in stored_group_positions(mapping))


def drawn_part_note(mapping):
    """"The first 32 of 64 columns are drawn." if the table is larger than a page; else ""."""
    parts = [
        f"the first {mapping[what]} of {mapping[f'all_{what}']:,} {what}" for what in ("rows", "columns") if mapping[what] < mapping[f"all_{what}"]
    ]
    return " and ".join(parts).capitalize() + " are drawn." if parts else ""


def mapping_alt_text(mapping):
    what = "elements" if mapping["unit"] == 1 else "groups"
    end = f" {drawn_part_note(mapping)}" * bool(drawn_part_note(mapping))
    if not any_group_moves(mapping):
        return f"No {what[:-1]} moves.{end}"
    if mapping["turned"]:
        return f"{what.capitalize()} change their rows and keep their columns.{end}"
    found = count_storage_columns_by_column(mapping)
    return end.lstrip() + " " * bool(end) + (
        f"{mapping['rows']} row{'s' * (mapping['rows'] > 1)} of {mapping['columns']} {what}. The {what} of a column lie in "
        f"{min(found)}" + ("" if min(found) == max(found) else f" to {max(found)}") + (" column." if max(found) == 1 else " columns.")
    )


def draw_swizzle_mapping(mappings):
    mapping = mappings[0]
    rows, columns, turned = mapping["rows"], mapping["columns"], mapping["turned"]
    unit = mapping["unit"]
    what = "elements" if unit == 1 else f"groups of {unit} elements"
    title = f"{mapping['name']}: where {what} lie"
    height = TOP + CELL * (rows + (0 if turned else 1)) + 52
    picture = Canvas(max(LEFT + CELL * columns + 24, 560), height, title, mapping_alt_text(mapping))
    picture.text(12, 20, title, 13, font_weight="bold")
    one = "an element" if unit == 1 else "a group"
    picture.text(
        12, 40, f"a number is the {'row' if turned else 'column'} that {one} goes to; {'blue: it moves' if any_group_moves(mapping) else 'no group moves'}",
        11, kind="soft",
    )  # fmt: skip
    if drawn_part_note(mapping):
        picture.text(12, 58, drawn_part_note(mapping), 11, kind="soft")
    picture.text(LEFT - 10, TOP - 8, "column", 10.5, "end", "soft")
    for column in range(columns):
        picture.text(LEFT + CELL * (column + 0.5), TOP - 8, column, 10, "middle", "soft")
    for row, column, to_row, to_column in stored_group_positions(mapping):
        x, y = LEFT + CELL * column, TOP + CELL * row
        leaves = to_column != column if turned else to_row != row
        shown, before = (to_row, row) if turned else (to_column, column)
        kind = "bad" if leaves else "good" if shown != before else "unused"
        out = shown >= (rows if turned else columns)  # not drawn: the function of a student need not be a swizzle
        picture.rect(
            x + 1, y + 1, CELL - 2, CELL - 2, f"cell {kind}", f"row {row}, column {column}"
        )
        ink = {"bad": "invdark", "good": "inv", "unused": ""}[kind]
        picture.text(x + CELL / 2, y + 16, "✗" if leaves else "→" if out else shown, 10.5, "middle", ink)
        if column == 0:
            picture.text(LEFT - 10, y + 16, f"row {row}", 10.5, "end", "soft")
    y = TOP + CELL * rows
    if not turned:
        picture.text(LEFT - 10, y + 17, "lies in", 10.5, "end", "soft")
        for column, count in enumerate(count_storage_columns_by_column(mapping)):
            kind = "good" if count == rows else "warn"
            x = LEFT + CELL * column
            picture.rect(x + 1, y + 3, CELL - 2, CELL - 5, f"cell {kind}", rx=4)
            picture.text(
                x + CELL / 2, y + 17, count, 10.5, "middle", "inv" if kind == "good" else "invdark"
            )
        y += CELL
    beyond = any(words == "→" for _, _, words in picture.shapes)
    away = any((to_column != column) if turned else (to_row != row) for row, column, to_row, to_column in stored_group_positions(mapping))
    key = [f"✗ leaves its {'column' if turned else 'row'}"] * away
    key += ["→ leaves the drawn part"] * beyond
    key += [] if turned else [f"last row: the number of columns that {what} of this column lie in"]
    picture.text(12, y + 26, "; ".join(key), 10.5, kind="soft")
    return picture
