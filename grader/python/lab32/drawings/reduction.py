"""The figures of handouts/reduction.md."""

import math

from lab32 import reduction, reduction_tables, tables
from lab32.svg import BLUE, GREEN, GREY, INK, ORANGE, PALE, PAPER, PINK, RED, SKY, Drawing

MONO = "DejaVu Sans Mono, monospace"
THREADS, WARP = 16, 8  # of a small block, for the picture


def adders(version, step):
    """{thread: (own word, other word)} of one step of a tree over THREADS words."""
    near, far = 1 << step, THREADS >> (step + 1)
    if version == "v1":
        return {t: (t, t + near) for t in range(THREADS) if t % (2 * near) == 0}
    if version == "v2":
        return {t: (2 * near * t, 2 * near * t + near) for t in range(THREADS // (2 * near))}
    return {t: (t, t + far) for t in range(far)}


def trees():
    """Who adds in each step of v1, v2 and v3, and which words."""
    drawing = Drawing(900, 640, "Who adds what: the trees of v1, v2 and v3")
    drawing.text(
        20, 26, "A block of 16 threads in warps of 8 (really 32). Left: threads that add (orange) "
        "and their warps;", 14,
    )  # fmt: skip
    drawing.text(20, 45, "grey warps have nothing to do. Right: the words they add up.", 14)
    cell, height = 22, 20
    titles = {
        "v1": ("v1: interleaved", "lanes become idle, warps stay active for the rest"),
        "v2": ("v2: interleaved, first threads", "whole warps become idle; words drift apart"),
        "v3": ("v3: sequential", "whole warps become idle; words stay side by side"),
    }
    for k, (version, (title, verdict)) in enumerate(titles.items()):
        top = 92 + 184 * k
        drawing.text(20, top - 14, title, 15, font_weight="bold")
        drawing.text(880, top - 14, verdict, 12, "end", GREY)
        steps = int(math.log2(THREADS))
        for step in range(steps):
            who = adders(version, step)
            y = top + step * (height + 14)
            drawing.text(20, y + 14, f"step {step + 1}", 12)
            for t in range(THREADS):
                busy = any(u // WARP == t // WARP for u in who)
                fill = ORANGE if t in who else "#fbe3b0" if busy else PALE
                x = 70 + t * cell + 10 * (t // WARP)
                drawing.rect(x, y, cell, height, fill, PAPER, stroke_width=1)
                drawing.text(x + cell / 2, y + 14, str(t), 10, "middle")
            for w in range(THREADS // WARP):
                busy = any(u // WARP == w for u in who)
                drawing.rect(
                    70 + w * (WARP * cell + 10), y, WARP * cell, height, "none",
                    INK if busy else "#cccccc", stroke_width=1.4 if busy else 1,
                )  # fmt: skip
            own = {a for a, _ in who.values()}
            other = {b for _, b in who.values()}
            for word in range(THREADS):
                fill = BLUE if word in own else SKY if word in other else PALE
                x = 500 + word * cell
                drawing.rect(x, y, cell, height, fill, PAPER, stroke_width=1)
                ink = PAPER if word in own else INK
                drawing.text(x + cell / 2, y + 14, str(word), 10, "middle", ink)
    drawing.rect(500, 622, 12, 12, BLUE, "none")
    drawing.text(516, 633, "read and written", 12)
    drawing.rect(640, 622, 12, 12, SKY, "none")
    drawing.text(656, 633, "read", 12)
    return drawing


def log_scale(drawing, x, y, width, low, high, rows, unit):
    """Vertical lines at 1, 2, 5 times powers of ten; the function that maps a value to pixels."""

    def at(value):
        return x + width * math.log(value / low) / math.log(high / low)

    exponent = math.floor(math.log10(low))
    while 10**exponent <= high:
        for factor in (1, 2, 5):
            value = factor * 10.0**exponent
            if low <= value <= high:
                bold = factor == 1
                drawing.line(at(value), y, at(value), y + rows, "#bbbbbb" if bold else "#e4e4e4")
                if bold or high / low < 300:
                    drawing.text(at(value), y + rows + 16, f"{value:g}", 11, "middle", GREY)
        exponent += 1
    drawing.text(x + width, y + rows + 32, unit, 12, "end", GREY)
    return at


def measured():
    """Bandwidth of the ladder then and now, each with the card's peak."""
    drawing = Drawing(900, 490, "The seven kernels, then and now")
    head = tables.measured("h200-reduction").head
    drawing.text(
        20, 26, "Bandwidth of the sum of 2^22 ints. Orange: G80 (documented). Blue: "
        f"{head['device']}, L2 cold (measured)", 14,
    )  # fmt: skip
    now = reduction.bandwidths(reduction.times())
    then = reduction.documented("bandwidth")
    names = [*reduction.VERSIONS, "CUB"]
    row, left, width, low = 42, 60, 780, 1.0
    at = log_scale(drawing, left, 64, width, low, 6000, len(names) * row, "GB/s, log scale")
    g80 = tables.documented("reduction_g80").value("value", metric="peak bandwidth")
    h200 = tables.device("h200")["memory"]["dram_bytes_per_second"] / 1e9
    for value, words in ((g80, "peak of a G80"), (h200, "peak of an H200")):
        drawing.line(at(value), 58, at(value), 64 + len(names) * row, INK, stroke_dasharray="4 3")
        drawing.text(at(value), 52, words, 11, "middle")
    for k, name in enumerate(names):
        y = 68 + row * k
        drawing.text(left - 10, y + 22, name, 14, "end")
        for part, (values, colour) in enumerate([(then, ORANGE), (now, BLUE)]):
            if name in values:
                end = at(values[name])
                drawing.rect(left, y + 17 * part, end - left, 15, colour, "none")
                digits = 0 if values[name] >= 100 else 1
                words = f"{values[name]:,.{digits}f}"
                # On white: a number may stand across a peak's line.
                drawing.rect(end + 3, y + 17 * part + 2, 4 + 7 * len(words), 12, "white", "none")
                drawing.text(end + 5, y + 17 * part + 12, words, 11)
    return drawing


def blocks():
    """What a grid of v4's shape takes, by the size of its blocks."""
    drawing = Drawing(900, 400, "Where v4, v5 and v6 spend their time")
    drawing.text(
        20, 26, "Two ints per thread, 2^28 in all, by threads per block (measured, H200)", 14
    )
    forms = [
        ("empty", "blocks that come and go", GREY),
        ("no tree", "and load", SKY),
        ("v6", "and add: v6", BLUE),
        ("v4", "and add: v4", PINK),
    ]
    table = tables.measured("h200-reduction")
    copy = table.value("copy_ms", task="int", form="v8", n=reduction.LARGE)
    left, scale, row = 150, 680, 74
    for tick in range(10):
        x = left + scale * tick / 10
        drawing.line(x, 40, x, 48 + 4 * row, "#dddddd")
        drawing.text(x, 64 + 4 * row, f"{tick / 10:g}", 11, "middle", GREY)
    drawing.text(left + scale * 0.9, 80 + 4 * row, "ms", 12, "end", GREY)
    for k, threads in enumerate((128, 256, 512, 1024)):
        y = 48 + row * k
        drawing.text(left - 12, y + 24, f"{threads} threads", 13, "end")
        drawing.text(left - 12, y + 42, f"{reduction.LARGE // (2 * threads):,} blocks", 11, "end", GREY)
        for part, (form, words, colour) in enumerate(forms):
            name = form if threads == 128 else f"{form}, {threads} threads"
            ms = table.value("median_ms", task="int", form=name, n=reduction.LARGE)
            drawing.rect(left, y + 16 * part, ms * scale, 14, colour, "none")
            words_too = f"{ms:.3f}, {words}" if k == 0 else f"{ms:.3f}"
            drawing.text(left + ms * scale + 5, y + 16 * part + 11, words_too, 11)
    x = left + copy * scale
    drawing.line(x, 40, x, 66 + 4 * row, INK, stroke_dasharray="4 3")
    drawing.text(x, 80 + 4 * row, "a copy of as many bytes", 11, "middle")
    return drawing


def stride():
    """Four loads of a warp: pieces and grid stride."""
    drawing = Drawing(900, 300, "One piece per thread, or a stride of the grid")
    drawing.text(
        20, 26, "What one load of a warp touches (8 of its lanes drawn; boxes are sectors of 8 ints)", 14
    )
    cell, sectors = 12.6, 8
    for k, (title, verdict, each, next_load) in enumerate(
        [
            ("a contiguous piece per thread", "each lane a sector of its own: 32 per load", 8, 1),
            ("a stride of the whole grid", "neighbours: 4 sectors per load", 1, 16),
        ]
    ):
        y = 66 + 118 * k
        drawing.text(20, y - 10, title, 14, font_weight="bold")
        drawing.text(880, y - 10, verdict, 13, "end")
        for load in range(3):
            top = y + 26 * load
            drawing.text(20, top + 14, f"load {load + 1}", 12)
            lane_of = {each * lane + next_load * load: lane for lane in range(8)}
            for word in range(8 * sectors):
                x = 66 + word * cell
                fill = ORANGE if word in lane_of else PALE
                drawing.rect(x, top, cell, 20, fill, PAPER, stroke_width=0.8)
                if word in lane_of:
                    drawing.text(x + cell / 2, top + 14, str(lane_of[word]), 10, "middle")
            for sector in range(sectors):
                hit = any(word // 8 == sector for word in lane_of)
                drawing.rect(
                    66 + 8 * sector * cell, top, 8 * cell, 20, "none", INK if hit else "#cccccc",
                    stroke_width=1.6 if hit else 0.6,
                )  # fmt: skip
    drawing.text(
        20, 288, "Above, the sector comes once and must wait in L1 for seven more loads, beside those of "
        "2047 other threads.", 12, fill=GREY,
    )  # fmt: skip
    return drawing


def cascade():
    """Brent: the same 63 additions by 32 threads and by 8."""
    drawing = Drawing(900, 330, "63 additions by 32 threads, and by 8")
    cell = 15
    drawing.text(20, 26, "A sum of 64 numbers. A cell is a thread in a step; orange: it adds", 14)
    shapes = [
        ("32 threads: a tree", 32, [32, 16, 8, 4, 2, 1]),
        ("8 threads: first 8 numbers each", 8, [8] * 7 + [4, 2, 1]),
    ]
    x = 60
    for title, threads, steps in shapes:
        adds = sum(steps)
        drawing.text(x, 60, title, 14, font_weight="bold")
        drawing.text(
            x, 80, f"{len(steps)} steps, {adds} of {threads * len(steps)} cells active: "
            f"{100 * adds / (threads * len(steps)):.0f} %", 13,
        )  # fmt: skip
        for step, busy in enumerate(steps):
            for t in range(threads):
                drawing.rect(
                    x + t * cell, 96 + step * 20, cell, 18, ORANGE if t < busy else PALE, PAPER,
                    stroke_width=1,
                )  # fmt: skip
            drawing.text(x - 8, 110 + step * 20, str(step + 1), 11, "end", GREY)
        x += threads * cell + 60
    return drawing


def warps():
    """Lanes of the warps of blocks with 32, 33, 48 and 64 threads."""
    drawing = Drawing(900, 210, "The warps of a block")
    cell = 9
    drawing.text(20, 26, "Threads of a block (orange) in its warps; grey lanes have no thread", 14)
    for k, threads in enumerate((32, 33, 48, 64)):
        y = 44 + 40 * k
        count = -(-threads // 32)
        drawing.text(20, y + 18, f"{threads} threads", 13)
        for w in range(count):
            for lane in range(32):
                mine = 32 * w + lane < threads
                drawing.rect(
                    116 + w * (32 * cell + 12) + lane * cell, y, cell, 26,
                    ORANGE if mine else "#dddddd", PAPER, stroke_width=1,
                )  # fmt: skip
        used = 100 * threads / (32 * count)
        last = threads - 32 * (count - 1)
        words = f"{used:.0f} % of the lanes"
        drawing.text(116 + count * (32 * cell + 12) + 4, y + 11, words, 12)
        if last < 32:
            drawing.text(
                116 + count * (32 * cell + 12) + 4, y + 26, f"{100 * last / 32:.0f} % of warp 2", 12
            )
    return drawing


def ladder():
    """The Reduce Tutorial's versions: time over the number of blocks."""
    drawing = Drawing(900, 440, "The Reduce Tutorial's versions follow the number of blocks")
    drawing.text(
        20, 26, "10^8 ints: time over the number of blocks (measured, H200). Each point is a kernel.", 14
    )
    left, top, width, height = 80, 50, 760, 320
    low_x, high_x, low_y, high_y = 6e4, 2e7, 0.06, 15

    def at(blocks, ms):
        return (
            left + width * math.log(blocks / low_x) / math.log(high_x / low_x),
            top + height - height * math.log(ms / low_y) / math.log(high_y / low_y),
        )

    for exponent in range(5, 8):
        x, _ = at(10.0**exponent, 1)
        drawing.line(x, top, x, top + height, "#dddddd")
        drawing.text(x, top + height + 18, f"{10**exponent:,}", 11, "middle", GREY)
    for ms in (0.1, 1, 10):
        _, y = at(1e6, ms)
        drawing.line(left, y, left + width, y, "#dddddd")
        drawing.text(left - 8, y + 4, f"{ms:g} ms", 11, "end", GREY)
    drawing.text(left + width, top + height + 36, "blocks", 12, "end", GREY)
    points = reduction_tables.tutorial_blocks()
    each = points[0][2] / points[0][1]
    a, b = 8e4, 1.8e7
    drawing.line(*at(a, a * each), *at(b, b * each), GREY, stroke_dasharray="5 4")
    x, y = at(2.4e5, 2.4e5 * each)
    drawing.text(x + 4, y + 24, f"{1e6 * each:.2f} ns per block", 12, fill=GREY)
    copy = tables.measured("h200-reduction").value(
        "copy_ms", task="tutorial", form="shuffle, 256 threads"
    )
    _, y = at(1e6, copy)
    drawing.line(left, y, left + width, y, INK, stroke_dasharray="4 3")
    drawing.text(left + width - 4, y - 6, "a copy of as many bytes", 11, "end")
    groups = {}
    for form, blocks, ms, _ in points:
        groups.setdefault(blocks, []).append((form, ms))
    colours = {"8": RED, "32": ORANGE, "128": GREEN, "256": BLUE}
    for blocks, members in groups.items():
        for form, ms in members:
            size = form.split(", ")[1].split()[0] if "threads" in form else "32"
            x, y = at(blocks, ms)
            drawing.add("circle", cx=x, cy=y, r=6, fill=colours[size], stroke=PAPER)
    for k, (size, colour) in enumerate(colours.items()):
        drawing.add("circle", cx=left + 24, cy=top + 20 + 20 * k, r=6, fill=colour, stroke=PAPER)
        drawing.text(left + 38, top + 24 + 20 * k, f"{size} threads per block", 12)
    return drawing


FIGURES = {
    "reduction-trees.svg": trees,
    "reduction-measured.svg": measured,
    "reduction-blocks.svg": blocks,
    "reduction-stride.svg": stride,
    "reduction-cascade.svg": cascade,
    "reduction-warps.svg": warps,
    "reduction-ladder.svg": ladder,
}
