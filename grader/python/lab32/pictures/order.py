"""Draws a race as a time line of its two threads, and a faulty access next to the array that it misses."""

from lab32.pictures.canvas import ACROSS, Canvas, truncate_to_characters, with_thousands_separators


def draw_race(race):
    first, second, place = race["first"], race["second"], race["place"]
    alt_text = (
        f"{first['thread']} {first['use']} {place} on line {first['line']}, {second['thread']} "
        f"{second['use']} it on line {second['line']}, and nothing orders the two: {race['missing']} is missing."
    )
    picture = Canvas(760, 268, f"A race on {place}: two threads along time", alt_text)
    picture.text(12, 20, f"Two threads and {place}", 13, font_weight="bold")
    picture.text(12, 40, "time runs to the right; either thread may come first", 11, kind="soft")
    for party, y, x, below in ((first, 108, 300, -34), (second, 204, 500, 26)):
        picture.text(12, y - 4, party["thread"], 12)
        picture.text(12, y + 12, f"warp {party['warp']}", 10.5, kind="soft")
        picture.line(200, y, 740, y, "", stroke_width=1.4)
        picture.circle(x, y, 8, "bad")
        picture.text(x + 14, y - 10, f"{party['use']} {place}", 12, font_weight="bold")
        picture.text(
            200, y + below, truncate_to_characters(f"line {party['line']}: {party['source']}", 82), 10.5, kind="mono"
        )
    picture.line(306, 116, 494, 196, "bad", stroke_width=1.8, stroke_dasharray="6 4")
    picture.rect(262, 143, 276, 24, "cell unused", rx=4)
    picture.text(400, 159, f"✗ {race['missing']} is missing", 11.5, "middle")
    picture.text(12, 256, "dashed: nothing in the program orders the two", 10.5, kind="soft")
    return picture


def draw_faulty_access(fault):
    size, offset, name = fault["size"], fault["offset"], fault["object"]
    has = f"has {with_thousands_separators(size)} bytes" if size else "has no byte"
    alt_text = f"{fault['words']}. {name} {has}; the access is at byte {with_thousands_separators(offset)}."
    picture = Canvas(760, 190, f"{fault['kind']}: the access and its array", alt_text)
    picture.text(12, 20, truncate_to_characters(f"{fault['kind']}: {fault['thread']}", 90), 13, font_weight="bold")
    picture.text(12, 40, truncate_to_characters(f"line {fault['line']}: {fault['source']}", ACROSS), 10.5, kind="mono")
    left, width, y = 130, 460 if size else 150, 84
    picture.rect(left, y, width, 30, "cell unused" if size else "cell idle")
    words = name if size else f"{name}: no byte"
    picture.text(left + width / 2, y + 20, truncate_to_characters(words, 50), 12, "middle", "mono")
    if size:
        picture.text(left, y + 48, "byte 0", 10.5, "middle", "soft")
        picture.text(left + width, y + 48, with_thousands_separators(size), 10.5, "middle", "soft")
    inside = 0 <= offset < size
    if inside:
        x = left + width * offset / size
    else:
        x = left + width + 60 if offset >= size else left - 60
    picture.polygon([(x - 7, y + 50), (x, y + 34), (x + 7, y + 50)], "bad")
    if not inside:
        picture.rect(x - 10, y, 20, 30, "cell idle")
    picture.text(x, y + 66, f"byte {with_thousands_separators(offset)}", 11, "middle", font_weight="bold")
    what = f"▲ the access of {fault['bytes']} bytes; dashed: outside the array"
    picture.text(12, 178, what, 10.5, kind="soft")
    return picture
