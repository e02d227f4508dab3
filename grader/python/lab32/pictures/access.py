"""Draws a warp's access: lanes 0 to 31 above, 32-byte sectors in 128-byte lines, or banks, below."""

from dataclasses import dataclass, field

from lab32.pictures.canvas import Canvas, truncate_to_characters

LANES, WORDS, WORD, SECTOR, LINE = 32, 32, 4, 32, 128
MOST_ROWS = 33
LEFT, CELL = 136, 17  # pixels: margin for names; width of a word or a lane
ATOMICS = ("red", "atom")


@dataclass
class AccessedMemoryLine:
    """128 bytes of memory, and the lanes that access each word of them."""

    name: str = ""
    lanes: dict = field(default_factory=dict)  # word -> [lane]
    bytes: set = field(default_factory=set)

    def touched_sectors(self):
        return {byte // SECTOR for byte in self.bytes}


def memory_lines_of_request(request):
    rows = {}
    size = 16 if request["matrix"] else request["bytes"]
    for lane, address in sorted(
        ((lane, a) for lane, a in enumerate(request["address"]) if a is not None),
        key=lambda pair: pair[1],
    ):
        for at in range(address, address + size):
            row = rows.setdefault(at // LINE, AccessedMemoryLine())
            row.name = row.name or request["name"][lane]
            row.bytes.add(at % LINE)
            lanes = row.lanes.setdefault(at % LINE // WORD, [])
            if lane not in lanes:
                lanes.append(lane)
    return dict(sorted(rows.items()))


def colour_of_conflict_degree(degree):
    return "good" if degree <= 1 else "warn" if degree == 2 else "bad"


def count_text(n, what):
    return f"{n} {what}{'' if n == 1 else 's'}"


def cost_text(access, request):
    """The cost of the access in words: "32 sectors where 4 would do"."""
    unit = "wavefront" if access["space"] == "shared" else "sector"
    if request["cost"] <= request["ideal"]:
        return f"{count_text(request['cost'], unit)}, the minimum"
    return f"{count_text(request['cost'], unit)} where {request['ideal']} would do"


def used_bytes_percent(access, request):
    """The percentage of the bytes in moved sectors that the access uses; None if it has no meaning for this access."""
    if access["space"] == "shared" or request["kind"] in ATOMICS or not request["cost"]:
        return None
    used = sum(len(row.bytes) for row in memory_lines_of_request(request).values())
    return f"{100 * used / (SECTOR * request['cost']):.3g}"


def access_heading(access, request):
    active = [lane for lane, a in enumerate(request["address"]) if a is not None]
    # A `red` is an atomic without a result, and is called an atomic, too.
    kind = "atomic" if request["kind"] in ATOMICS else request["kind"]
    matrix = "matrix " if request["matrix"] else ""
    return (
        f"Warp {request['warp']} of block {access['block']}, {matrix}{kind} "
        f"{request['request']} of line {access['line']}: {count_text(len(active), 'lane')}, "
        f"{count_text(request['bytes'], 'byte')} each"
    )


def access_alt_text(access, request):
    """The picture in words, for its alternative text and its caption."""
    words = cost_text(access, request)
    percent = used_bytes_percent(access, request)
    if percent is not None:
        words += f"; {percent} % of the bytes moved are used"
    active = [
        (lane, request["name"][lane]) for lane, a in enumerate(request["address"]) if a is not None
    ]
    shown = active[:3] + ([active[-1]] if len(active) > 3 else [])
    words += ". L" + ", ".join(f"lane {lane} {name}" for lane, name in shown)[1:]
    if access["space"] == "shared":
        most, what = max(request["degree"]), "lane" if request["kind"] in ATOMICS else "word"
        banks = [bank for bank, degree in enumerate(request["degree"]) if degree == most]
        words += f". At once {count_text(most, what)} of " + (
            f"bank {banks[0]}" if len(banks) == 1 else f"each of {len(banks)} banks"
        )
    return words + "."


def colour_kind_of_sector(access, row, word):
    used = all(8 * (word // 8) * WORD + byte in row.bytes for byte in range(SECTOR))
    return "good" if used else "warn"


def legend_text(access, request, rows, unused, bare):
    """Draws the key, with entries only for the marks that the picture has."""
    places = [(row, word) for row in rows for word in row.lanes]
    many = [len(row.lanes[word]) for row, word in places]
    key = ["number in a cell: its lane"]
    few = [n for n in many if 1 < n < 10]
    signs = [f"{n}×: {n} lanes" for n in sorted(few)[:1]] + ["9+: ten or more lanes"] * (max(many) > 9)
    if signs:
        key[0] += f" ({', '.join(signs)})"
    if access["space"] == "shared":
        what = "lanes" if request["kind"] in ATOMICS else "words"
        phase = " in its worst phase" if request["bytes"] > WORD or request["matrix"] else ""
        key.append(f"{what} at once: wavefronts of a bank{phase}")
        if max(request["degree"]) > 1:
            key.append("orange: more than one")
    else:
        if any(colour_kind_of_sector(access, row, word) == "warn" for row, word in places):
            key.append("orange: in a partly used sector")
        key += ["grey: moved, not used"] * bool(unused) + ["blank: not moved"] * bool(bare)
    if None in request["address"]:
        key.append("dashed: inactive lane")
    if any("+" in row.name for row in rows):
        key.append("+n: byte n of the element")
    return "; ".join(key)


IN_FRONT = "before a row: its first used address"


def draw_request_of_access(access, number):
    request = access["requests"][number]
    shared, atomic = access["space"] == "shared", request["kind"] in ATOMICS
    what = "lanes" if atomic else "words"
    by_address = memory_lines_of_request(request)
    keys, rows = list(by_address), list(by_address.values())
    shown = rows[:MOST_ROWS]
    top, gap = 64, 74
    first = top + CELL + gap
    pitch = CELL + 3
    height = (
        first
        + pitch * len(shown)
        + (22 if shared else 0)
        + (18 if len(rows) > MOST_ROWS else 0)
        + (34 if shared or not atomic else 50)
        + (16 if any(0 not in row.lanes for row in shown) else 0)
    )
    right = 20 if shared else 104
    space = 0 if shared else 4  # gap between sectors

    def x_of(word):
        return LEFT + word * CELL + word // 8 * space

    width = x_of(WORDS) + right
    picture = Canvas(width, height, access_heading(access, request), access_alt_text(access, request))
    picture.text(12, 20, access_heading(access, request), 13, font_weight="bold")
    percent = used_bytes_percent(access, request)
    bad = request["cost"] > request["ideal"]
    picture.text(
        12, 40, ("▲ " if bad else "✓ ") + cost_text(access, request)
        + ("" if percent is None else f"; {percent} % of the bytes moved are used"), 12.5,
    )  # fmt: skip

    lane_y = top
    picture.text(LEFT - 8, lane_y + 12, "lane", 11, "end", "soft")
    for lane, address in enumerate(request["address"]):
        x = x_of(lane)
        if address is None:
            picture.rect(x + 1, lane_y, CELL - 2, CELL, "cell idle", f"lane {lane}: inactive", rx=4)
        else:
            picture.rect(x + 1, lane_y, CELL - 2, CELL, "cell good", f"lane {lane}: {request['name'][lane]}", rx=4)  # fmt: skip
        picture.text(
            x + CELL / 2, lane_y + 12.5, lane, 9.5, "middle", "soft" if address is None else "inv"
        )

    picture.text(LEFT - 8, first - 6, "bank" if shared else "128-byte line", 11, "end", "soft")
    if shared:
        for bank in range(0, WORDS, 4):
            picture.text(x_of(bank) + CELL / 2, first - 4, bank, 9.5, "middle", "soft")
    unused, bare = [], []  # words that are moved but not used; words that are not moved
    for n, row in enumerate(shown):
        for word in set(range(WORDS)) - set(row.lanes):
            moved = shared or word // 8 in row.touched_sectors()
            (unused if moved else bare).append((x_of(word), first + n * pitch))
    picture.equal_rects(unused, CELL, CELL, "cell unused")
    picture.equal_rects(bare, CELL, CELL, "cell bare")

    # Draws a line from each lane to its word, or to the first of its words.
    for n, row in enumerate(shown):
        y = first + n * pitch
        done = set()
        for word, lanes in sorted(row.lanes.items()):
            for lane in lanes:
                if lane in done or (request["address"][lane] // LINE != keys[n]):
                    continue
                done.add(lane)
                kind = "bad" if shared and request["degree"][word] > 1 else ""
                picture.line(
                    x_of(lane) + CELL / 2, lane_y + CELL, x_of(word) + CELL / 2, y, kind,
                    stroke_width=0.9, stroke_opacity=0.55 if n < 2 or len(shown) < 9 else 0.4,
                )  # fmt: skip

    for n, row in enumerate(shown):
        y = first + n * pitch
        picture.text(LEFT - 8, y + 12, truncate_to_characters(row.name, 19), 10.5, "end", "mono")
        for word in range(WORDS):
            lanes = row.lanes.get(word, [])
            place = f"bank {word}" if shared else f"bytes {WORD * word}-{WORD * word + 3}"
            if lanes:
                kind = (
                    colour_of_conflict_degree(request["degree"][word])
                    if shared
                    else colour_kind_of_sector(access, row, word)
                )
                names = ", ".join(f"lane {lane} {request['name'][lane]}" for lane in lanes[:4])
                picture.rect(x_of(word), y, CELL, CELL, f"cell {kind}", f"{place}: {names}")
                dark = kind != "good"
                words = str(lanes[0])
                if len(lanes) > 1:  # the number of lanes, in the two characters that fit a cell
                    words = f"{len(lanes)}×" if len(lanes) < 10 else "9+"
                picture.text(
                    x_of(word) + CELL / 2,
                    y + 12.5,
                    words,
                    9.5,
                    "middle",
                    "invdark" if dark else "inv",
                )
        if not shared:
            moved = SECTOR * len(row.touched_sectors())
            picture.text(
                x_of(WORDS) + 4, y + 12.5, f"{len(row.bytes)} of {moved} B", 10.5, kind="soft"
            )
    y = first + pitch * len(shown)
    if len(rows) > MOST_ROWS:
        picture.text(LEFT, y + 12, f"… and {len(rows) - MOST_ROWS} more", 11, kind="soft")
        y += 18
    if shared:
        picture.text(LEFT - 8, y + 13, f"{what} at once", 11, "end", "soft")
        for bank, degree in enumerate(request["degree"]):
            if degree:
                picture.rect(
                    x_of(bank),
                    y + 1,
                    CELL,
                    CELL,
                    f"cell {colour_of_conflict_degree(degree)}",
                    f"bank {bank}: {degree} at once",
                )
                picture.text(
                    x_of(bank) + CELL / 2,
                    y + 13,
                    degree,
                    9.5,
                    "middle",
                    "inv" if degree <= 1 else "invdark",
                )
        y += 22
    key = legend_text(access, request, shown, unused, bare)
    if not shared and atomic:
        picture.text(12, y + 38, "an atomic costs one sector per lane that adds to the same word", 10.5, kind="soft")
    # A long key is set smaller, so that it ends within the picture: a letter is about half as wide as high.
    picture.text(12, y + 22, key, round(min(10.5, 2 * (width - 24) / len(key)), 1), kind="soft")
    if any(0 not in row.lanes for row in shown):
        picture.text(12, y + (38 if shared or not atomic else 54), IN_FRONT, 10.5, kind="soft")
    return picture
