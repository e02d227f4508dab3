"""Draws the lanes that shuffles read from: lanes above and below, an arrow from each lane that is read."""

from lab32.pictures.canvas import ACROSS, Canvas, truncate_to_characters

LANES = 32
LEFT, TOP, CELL, PITCH = 92, 84, 20, 66


def lane_read_kind(shuffle, lane):
    """What a lane reads: "read", "own" (its own value, since the source is out of range), "absent" (the source lane
    takes no part), or "inactive"."""
    if not shuffle["mask"] >> lane & 1:
        return "inactive"
    if not shuffle["in_range"] >> lane & 1:
        return "own"
    return "absent" if shuffle["absent"] >> shuffle["from"][lane] & 1 else "read"


def lanes_with_read_kind(shuffle, kind):
    return [lane for lane in range(LANES) if lane_read_kind(shuffle, lane) == kind]


def lane_ranges_text(lanes):
    """ "0-15, 31" """
    parts, start, last = [], None, None
    for lane in lanes:
        if start is None or lane != last + 1:
            if start is not None:
                parts.append((start, last))
            start = lane
        last = lane
    if start is not None:
        parts.append((start, last))
    return ", ".join(f"{a}-{b}" if b > a else f"{a}" for a, b in parts)


def shuffles_alt_text(warp):
    words = []
    for n, shuffle in enumerate(warp["shuffles"]):
        read = lanes_with_read_kind(shuffle, "read")
        example = (
            f"lane {read[0]} reads lane {shuffle['from'][read[0]]}"
            if read
            else "no lane reads another"
        )
        own, absent = lanes_with_read_kind(shuffle, "own"), lanes_with_read_kind(shuffle, "absent")
        parts = [f"Shuffle {n}, line {shuffle['line']}: {example}"]
        if own:
            parts.append(f"lanes {lane_ranges_text(own)} keep their own" if len(own) > 1 else f"lane {own[0]} keeps its own")
        if absent:
            one = len(absent) == 1
            parts.append(f"lane{'s' * (not one)} {lane_ranges_text(absent)} ask{'s' * one} a lane that does not take part")
        words.append("; ".join(parts) + ".")
    return " ".join(words)


def draw_shuffles(warp):
    shuffles = warp["shuffles"]
    title = f"Lanes read by shuffles, warp {warp['warp']} of block {warp['block']}"
    width = LEFT + LANES * CELL + 24
    sources = {shuffle["line"]: shuffle["source"] for shuffle in shuffles}
    height = TOP + PITCH * len(shuffles) + 44 + 18 * len(sources)
    picture = Canvas(width, height, title, shuffles_alt_text(warp))
    picture.text(12, 20, title, 13, font_weight="bold")
    picture.text(
        12, 40, "each lane takes the value of the lane that its line comes from", 11.5, kind="soft"
    )

    def x_of(lane):
        return LEFT + lane * CELL + CELL / 2

    def draw_shuffle_row(y, n, shuffle):
        for lane in range(LANES):
            kind = lane_read_kind(shuffle, lane) if shuffle else "read"
            shape = {
                "read": "cell good",
                "own": "cell unused",
                "absent": "cell bad",
                "inactive": "cell idle",
            }
            words = {
                "read": f"lane {lane} reads lane {shuffle['from'][lane]}" if shuffle else None,
                "own": f"lane {lane} keeps its own value: out of range",
                "absent": f"lane {lane} asks a lane that does not take part",
                "inactive": f"lane {lane}: inactive",
            }
            picture.rect(
                x_of(lane) - CELL / 2 + 1, y, CELL - 2, CELL - 3, shape[kind], words[kind], rx=4
            )
            mark = {"read": str(lane), "own": "=", "absent": "×", "inactive": "○"}[kind]
            ink = {"read": "inv", "own": "", "absent": "invdark", "inactive": "soft"}[kind]
            picture.text(x_of(lane), y + 12.5, mark, 9.5, "middle", ink)

    picture.text(LEFT - 10, TOP - 14 + 12, "before", 10.5, "end", "soft")
    draw_shuffle_row(TOP - 14, -1, None)
    for n, shuffle in enumerate(shuffles):
        above, y = TOP - 14 + n * PITCH + CELL - 3, TOP - 14 + (n + 1) * PITCH
        picture.text(LEFT - 10, y - 24, f"line {shuffle['line']}", 10.5, "end", "soft")
        for lane in lanes_with_read_kind(shuffle, "read"):
            kind = "good" if shuffle["from"][lane] != lane else ""
            picture.line(
                x_of(shuffle["from"][lane]),
                above,
                x_of(lane),
                y,
                kind,
                stroke_opacity=0.8,
            )
        for lane in lanes_with_read_kind(shuffle, "absent"):
            picture.line(
                x_of(shuffle["from"][lane]),
                above,
                x_of(lane),
                y,
                "bad",
                stroke_width=1.2,
                stroke_dasharray="3 2",
            )
        draw_shuffle_row(y, n, shuffle)
    y = TOP + PITCH * len(shuffles) + 14
    there = {lane_read_kind(shuffle, lane) for shuffle in shuffles for lane in range(LANES)}
    key = {"own": "= keeps its own value (out of range)", "absent": "× asks a lane that does not take part", "inactive": "○ inactive"}
    picture.text(12, y + 10, "; ".join(words for kind, words in key.items() if kind in there), 10.5, kind="soft")
    for n, (line, source) in enumerate(sources.items()):
        more = " … and more shuffles" if warp["more"] and n == len(sources) - 1 else ""
        picture.text(
            12, y + 30 + 18 * n, truncate_to_characters(f"line {line}: {source}", ACROSS - len(more)) + more, 10.5, kind="mono"
        )
    return picture
