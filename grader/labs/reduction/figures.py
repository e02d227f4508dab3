"""The figures of handouts/reduction.md and its notes."""

import math

from handouts.drawing import BLUE, GREEN, GREY, INK, ORANGE, PALE, PAPER, PINK, RED, SKY, Drawing
from lab32 import tables
from lab32.labs.reduction import notebook as reduction
from lab32.labs.reduction import tables as reduction_tables

THREADS, WARP = 16, 8  # of the small block in the picture


def words_added_by_thread(version, step):
    """For one step of a tree over THREADS words, {thread: (its own word, the word that it adds)}."""
    near, far = 1 << step, THREADS >> (step + 1)
    if version == "v1":
        return {t: (t, t + near) for t in range(THREADS) if t % (2 * near) == 0}
    if version == "v2":
        return {t: (2 * near * t, 2 * near * t + near) for t in range(THREADS // (2 * near))}
    return {t: (t, t + far) for t in range(far)}


def draw_reduction_trees():
    """Draws the threads that add in each step of v1, v2 and v3, and the words that they add."""
    drawing = Drawing(760, 548, "The trees of v1, v2 and v3")
    drawing.text(16, 24, "A block of 16 threads in warps of 8, for the picture (really 32)", 14)
    cell, height, left, right = 20, 20, 66, 424
    drawing.text(left, 48, "threads; a frame: a warp that executes the step", 12, fill=GREY)
    drawing.text(right, 48, "words of shared memory", 12, fill=GREY)
    titles = {
        "v1": "v1: interleaved",
        "v2": "v2: interleaved, by the first threads",
        "v3": "v3: sequential",
    }
    for k, (version, title) in enumerate(titles.items()):
        top = 92 + 148 * k
        drawing.text(16, top - 14, title, 15, font_weight="bold")
        steps = int(math.log2(THREADS))
        for step in range(steps):
            who = words_added_by_thread(version, step)
            y = top + step * (height + 8)
            drawing.text(16, y + 15, f"step {step + 1}", 12)
            for t in range(THREADS):
                x = left + t * cell + 10 * (t // WARP)
                drawing.rect(
                    x, y, cell, height, ORANGE if t in who else PALE, PAPER, stroke_width=1
                )
                drawing.text(x + cell / 2, y + 15, str(t), 11, "middle")
            for w in range(THREADS // WARP):
                if any(u // WARP == w for u in who):
                    drawing.rect(left + w * (WARP * cell + 10), y, WARP * cell, height, "none", INK,
                                 stroke_width=2)  # fmt: skip
            own = {a for a, _ in who.values()}
            other = {b for _, b in who.values()}
            for word in range(THREADS):
                fill = BLUE if word in own else SKY if word in other else PALE
                x = right + word * cell
                drawing.rect(x, y, cell, height, fill, PAPER, stroke_width=1)
                ink = PAPER if word in own else INK
                drawing.text(x + cell / 2, y + 15, str(word), 11, "middle", ink)
    marks = (
        (16, ORANGE, "thread that adds"),
        (right, BLUE, "read and written"),
        (right + 160, SKY, "read"),
    )
    for x, fill, words in marks:
        drawing.rect(x, 524, 14, 14, fill, "none")
        drawing.text(x + 22, 536, words, 12)
    return drawing


def draw_block_tickets():
    """Draws four blocks that finish at different times and take tickets; the block with the last ticket adds all
    sums."""
    drawing = Drawing(760, 316, "Four blocks, one counter: which block adds up the sums")
    left, scale, top, row = 96, 62, 60, 46
    drawing.text(
        16,
        24,
        "Time runs to the right. Each block stores its sum, then a fence, then it draws a ticket.",
        14,
    )
    # (start, duration of the sum, ticket), chosen so that no two blocks draw at the same time.
    shapes = [(0, 3.2, 1), (0, 2.2, 0), (0.4, 6.2, 3), (2.6, 2.6, 2)]
    for k, (start, length, number) in enumerate(shapes):
        y = top + row * k
        x, wide = left + start * scale, length * scale
        drawing.text(left - 12, y + 20, f"block {k}", 13, "end")
        drawing.rect(x, y, wide, 28, SKY, "none")
        drawing.text(x + 8, y + 19, "adds its elements", 12)
        drawing.rect(x + wide + 2, y, 40, 28, BLUE, "none")
        drawing.text(x + wide + 22, y + 19, "store", 12, "middle", PAPER)
        drawing.line(x + wide + 45, y - 4, x + wide + 45, y + 32, INK, stroke_width=3)
        drawing.add("circle", cx=x + wide + 64, cy=y + 14, r=14, fill=ORANGE)
        drawing.text(x + wide + 64, y + 19, str(number), 13, "middle", font_weight="bold")
        if number == len(shapes) - 1:
            drawing.rect(x + wide + 82, y, 166, 28, GREEN, "none")
            drawing.text(x + wide + 90, y + 19, "adds up all four sums", 12, fill=INK)
        else:
            drawing.text(x + wide + 84, y + 19, "ends", 12, fill=GREY)
    y = top + row * len(shapes) + 14
    drawing.text(left, y + 12, "the counter:", 12)
    x = left + 110
    for value in range(5):
        drawing.rect(x + 44 * value, y - 4, 26, 24, PAPER, ORANGE, stroke_width=2)
        drawing.text(x + 44 * value + 13, y + 13, str(value), 13, "middle")
        if value < 4:
            drawing.arrow(x + 44 * value + 28, y + 8, x + 44 * value + 42, y + 8)
    drawing.text(x + 232, y + 12, "and before the next launch?", 12)
    drawing.line(left + 3, y + 32, left + 3, y + 52, INK, stroke_width=3)
    drawing.text(left + 14, y + 47, "fence", 12)
    drawing.add("circle", cx=left + 117, cy=y + 42, r=9, fill=ORANGE)
    drawing.text(left + 134, y + 47, "ticket", 12)
    return drawing


def draw_version_speed_ups():
    """Draws the speed-up of each version over v1, on the G80 and on an H200."""
    drawing = Drawing(760, 468, "The versions as multiples of v1, then and now")
    head = tables.read_measured_table("h200-reduction").head
    drawing.text(16, 24, "Times as fast as v1, log scale; in brackets: as the version before", 14)
    row, left, width, high = 46, 56, 600, 40
    top = 52

    def x_of_ratio(ratio):
        return left + width * math.log(ratio) / math.log(high)

    for ratio in (1, 2, 5, 10, 20, 40):
        bottom = top + row * len(reduction.VERSIONS)
        drawing.line(x_of_ratio(ratio), top, x_of_ratio(ratio), bottom, "#cccccc")
        drawing.text(x_of_ratio(ratio), bottom + 18, str(ratio), 12, "middle", GREY)
    then = [reduction.published_g80_value_by_kernel(f"{which} speed-up") for which in ("step", "cumulative")]
    now = reduction.step_and_total_speed_ups(reduction.measured_times())
    series = [
        (*then, ORANGE, "G80 (documented)"),
        (*now, BLUE, f"{head['device']} (measured)"),
    ]
    for k, name in enumerate(reduction.VERSIONS):
        y = top + 4 + row * k
        drawing.text(left - 10, y + 24, name, 14, "end")
        for part, (step, total, colour, _) in enumerate(series):
            if k and name not in total:
                continue
            ratio = total[name] if k else 1
            words = f"{ratio:.2f} ({step[name]:.2f})" if k else "1"
            drawing.rect(left, y + 19 * part, max(x_of_ratio(ratio) - left, 1.5), 17, colour, "none")
            drawing.text(x_of_ratio(ratio) + 6, y + 19 * part + 13, words, 12)
    for k, (*_, colour, words) in enumerate(series):
        drawing.rect(left + 240 * k, 446, 14, 14, colour, "none")
        drawing.text(left + 22 + 240 * k, 458, words, 12)
    return drawing


def draw_time_by_block_size():
    """Draws the times of v4, v5 and v6, which add two ints per thread, for several block sizes."""
    drawing = Drawing(760, 452, "Where v4, v5 and v6 spend their time")
    drawing.text(
        16, 24, "Two ints per thread, 2^28 in all, by threads per block (measured, H200)", 14
    )
    forms = [
        ("empty", "blocks that come and go", GREY),
        ("no tree", "and load", SKY),
        ("v6", "and add: v6", BLUE),
        ("v4", "and add: v4", PINK),
    ]
    table = tables.read_measured_table("h200-reduction")
    copy = table.value("copy_ms", task="int", form="v8", n=reduction.LARGE)
    left, scale, row, top = 136, 600, 78, 74
    x = 16
    for _, words, colour in forms:
        drawing.rect(x, 40, 14, 14, colour, "none")
        drawing.text(x + 20, 52, words, 12)
        x += 40 + 8 * len(words)
    bottom = top + 4 * row
    for tick in range(0, 10, 2):
        x = left + scale * tick / 10
        drawing.line(x, top - 8, x, bottom, "#dddddd")
        drawing.text(x, bottom + 18, f"{tick / 10:g} ms", 12, "middle", GREY)
    x = left + copy * scale
    drawing.line(x, top - 8, x, bottom + 26, INK, stroke_dasharray="4 3")
    drawing.text(x, bottom + 42, "a copy of as many bytes", 12, "middle")
    for k, threads in enumerate((128, 256, 512, 1024)):
        y = top + row * k
        drawing.text(left - 12, y + 28, f"{threads} threads", 13, "end")
        drawing.text(
            left - 12, y + 46, f"{reduction.LARGE // (2 * threads):,} blocks", 12, "end", GREY
        )
        for part, (form, _, colour) in enumerate(forms):
            name = form if threads == 128 else f"{form}, {threads} threads"
            ms = table.value("median_ms", task="int", form=name, n=reduction.LARGE)
            drawing.rect(left, y + 17 * part, ms * scale, 15, colour, "none")
            end = left + ms * scale
            drawing.rect(end + 2, y + 17 * part + 1, 42, 13, PAPER, "none")
            drawing.text(end + 5, y + 17 * part + 12, f"{ms:.3f}", 12)
    return drawing


def draw_grid_stride():
    """Draws four loads of a warp: from contiguous pieces, and with a grid stride."""
    drawing = Drawing(760, 300, "One piece per thread, or a stride of the grid")
    drawing.text(
        16,
        26,
        "What one load of a warp touches (8 of its lanes drawn; frames are sectors of 8 ints)",
        14,
    )
    cell, sectors = 10.6, 8
    for k, (title, verdict, each, next_load) in enumerate(
        [
            ("a contiguous piece per thread", "a sector for each lane: 32 per load", 8, 1),
            ("a stride of the whole grid", "neighbours: 4 sectors per load", 1, 16),
        ]
    ):
        y = 66 + 118 * k
        drawing.text(16, y - 10, title, 14, font_weight="bold")
        drawing.text(66 + 64 * cell, y - 10, verdict, 13, "end")
        for load in range(3):
            top = y + 26 * load
            drawing.text(16, top + 15, f"load {load + 1}", 12)
            lane_of = {each * lane + next_load * load: lane for lane in range(8)}
            for word in range(8 * sectors):
                x = 66 + word * cell
                fill = ORANGE if word in lane_of else PALE
                drawing.rect(x, top, cell, 20, fill, PAPER, stroke_width=0.8)
                if word in lane_of:
                    drawing.text(x + cell / 2, top + 14, str(lane_of[word]), 11, "middle")
            for sector in range(sectors):
                hit = any(word // 8 == sector for word in lane_of)
                drawing.rect(
                    66 + 8 * sector * cell, top, 8 * cell, 20, "none", INK if hit else "#cccccc",
                    stroke_width=1.6 if hit else 0.6,
                )  # fmt: skip
    drawing.text(
        16, 288, "Above, a sector comes once and waits in L1 for seven more loads, beside those of 2047 threads.",
        12, fill=GREY,
    )  # fmt: skip
    return drawing


def draw_sum_by_many_and_few_threads():
    """Draws Brent's theorem: the same 63 additions by 32 threads and by 8."""
    drawing = Drawing(760, 328, "63 additions by 32 threads, and by 8")
    cell, x = 13, 40
    drawing.text(
        16,
        24,
        "A sum of 64 numbers. A column is a thread, a row is a step; orange: the thread adds.",
        14,
    )
    shapes = [
        ("32 threads: a tree", 32, [32, 16, 8, 4, 2, 1]),
        ("8 threads: first 8 each", 8, [8] * 7 + [4, 2, 1]),
    ]
    for title, threads, steps in shapes:
        adds = sum(steps)
        drawing.text(x, 56, title, 14, font_weight="bold")
        drawing.text(
            x,
            76,
            f"{len(steps)} steps, {100 * adds / (threads * len(steps)):.0f} % of the places add",
            12,
        )
        for step, busy in enumerate(steps):
            for t in range(threads):
                drawing.rect(x + t * cell, 90 + step * 22, cell, 20, ORANGE if t < busy else PALE,
                             PAPER, stroke_width=1)  # fmt: skip
            drawing.text(x - 6, 105 + step * 22, str(step + 1), 11, "end", GREY)
        x += threads * cell + 64
    return drawing


def draw_warps_of_blocks():
    """Draws the active lanes in the warps of blocks with 32, 48 and 64 threads."""
    drawing = Drawing(760, 172, "The warps of a block")
    cell, left = 7.6, 104
    drawing.text(16, 24, "Orange: lanes with a thread. Hollow: lanes without one.", 14)
    for k, threads in enumerate((32, 48, 64)):
        y = 44 + 42 * k
        count = -(-threads // 32)
        drawing.text(16, y + 18, f"{threads} threads", 13)
        for w in range(count):
            for lane in range(32):
                mine = 32 * w + lane < threads
                drawing.rect(
                    left + w * (32 * cell + 12) + lane * cell, y, cell, 26,
                    ORANGE if mine else PAPER, PAPER if mine else "#bbbbbb", stroke_width=1,
                )  # fmt: skip
        share = f"{100 * threads / (32 * count):.0f} % of the lanes"
        drawing.text(left + count * (32 * cell + 12) + 2, y + 18, share, 12)
    return drawing


def draw_block_size_mark(drawing, x, y, size, colour):
    """Draws the point of a block size; shape and colour both say which size it is."""
    if size == "8":
        drawing.add("circle", cx=x, cy=y, r=6, fill=colour, stroke=PAPER)
        return
    shapes = {
        "32": [(-5, -5), (5, -5), (5, 5), (-5, 5)],
        "128": [(0, -7), (7, 6), (-7, 6)],
        "256": [(0, -7), (7, 0), (0, 7), (-7, 0)],
    }
    corners = " ".join(f"{x + dx:.2f},{y + dy:.2f}" for dx, dy in shapes[size])
    drawing.add("polygon", points=corners, fill=colour, stroke=PAPER)


def draw_tutorial_times():
    """Draws the times of the Reduce Tutorial's versions against the number of blocks."""
    drawing = Drawing(760, 440, "The Reduce Tutorial's versions follow the number of blocks")
    drawing.text(
        16,
        26,
        "10^8 ints: time over the number of blocks (measured, H200). Each point is a kernel.",
        14,
    )
    left, top, width, height = 72, 50, 660, 320
    low_x, high_x, low_y, high_y = 6e4, 2e7, 0.06, 15

    def position_of(blocks, ms):
        return (
            left + width * math.log(blocks / low_x) / math.log(high_x / low_x),
            top + height - height * math.log(ms / low_y) / math.log(high_y / low_y),
        )

    for exponent in range(5, 8):
        x, _ = position_of(10.0**exponent, 1)
        drawing.line(x, top, x, top + height, "#dddddd")
        drawing.text(x, top + height + 18, f"{10**exponent:,}", 12, "middle", GREY)
    for ms in (0.1, 1, 10):
        _, y = position_of(1e6, ms)
        drawing.line(left, y, left + width, y, "#dddddd")
        drawing.text(left - 8, y + 4, f"{ms:g} ms", 12, "end", GREY)
    drawing.text(left + width, top + height + 36, "blocks", 12, "end", GREY)
    points = reduction_tables.tutorial_rows_sorted_by_blocks()
    each = points[0][2] / points[0][1]
    a, b = 8e4, 1.8e7
    drawing.line(*position_of(a, a * each), *position_of(b, b * each), GREY, stroke_dasharray="5 4")
    x, y = position_of(2.4e5, 2.4e5 * each)
    drawing.text(x + 4, y + 24, f"{1e6 * each:.2f} ns per block", 12, fill=GREY)
    copy = tables.read_measured_table("h200-reduction").value(
        "copy_ms", task="tutorial", form="shuffle, 256 threads"
    )
    _, y = position_of(1e6, copy)
    drawing.line(left, y, left + width, y, INK, stroke_dasharray="4 3")
    drawing.text(left + width - 4, y - 6, "a copy of as many bytes", 12, "end")
    groups = {}
    for form, blocks, ms, _ in points:
        groups.setdefault(blocks, []).append((form, ms))
    colours = {"8": RED, "32": ORANGE, "128": GREEN, "256": BLUE}
    for blocks, members in groups.items():
        for form, ms in members:
            size = form.split(", ")[1].split()[0] if "threads" in form else "32"
            x, y = position_of(blocks, ms)
            draw_block_size_mark(drawing, x, y, size, colours[size])
    # Keeps the lines of the grid from crossing the words.
    drawing.rect(left + 14, top + 8, 150, 20 * len(colours), PAPER, "none")
    for k, (size, colour) in enumerate(colours.items()):
        draw_block_size_mark(drawing, left + 24, top + 20 + 20 * k, size, colour)
        drawing.text(left + 38, top + 24 + 20 * k, f"{size} threads per block", 12)
    return drawing


FIGURES = {
    "reduction/trees.svg": draw_reduction_trees,
    "reduction/measured.svg": draw_version_speed_ups,
    "reduction/blocks.svg": draw_time_by_block_size,
    "reduction/stride.svg": draw_grid_stride,
    "reduction/cascade.svg": draw_sum_by_many_and_few_threads,
    "reduction/warps.svg": draw_warps_of_blocks,
    "reduction/ticket.svg": draw_block_tickets,
    "reduction/ladder.svg": draw_tutorial_times,
}
