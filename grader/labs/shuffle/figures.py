"""The figures of handouts/shuffle.md and shuffle-notes.md."""

import math

from handouts.drawing import BLUE, GREEN, GREY, INK, ORANGE, PALE, PAPER, RED, SKY, Drawing
from lab32 import tables
from lab32.labs.shuffle import notebook as shuffle

VALUES = [3, 1, 4, 1, 5, 9, 2, 6]  # of the eight lanes in the picture


def draw_source_lanes():
    """Draws the lanes from which shuffles read: down by 4, and xor 4. It does not show what a lane without a partner
    gets, because the lab asks for that."""
    drawing = Drawing(760, 268, "Lanes that shuffles read: down by 4, and xor 4")
    cell, top, low = 42, 66, 176
    down = [VALUES[l] + VALUES[l + 4] if l < 4 else None for l in range(8)]
    xor = [VALUES[l] + VALUES[l ^ 4] for l in range(8)]
    for left, call, after, partner in (
        (24, "v += __shfl_down_sync(kAll, v, 4)", down, lambda l: l + 4),
        (400, "v += __shfl_xor_sync(kAll, v, 4)", xor, lambda l: l ^ 4),
    ):
        drawing.code(left, 26, call, 13)
        for l in range(8):
            middle = left + cell * (l + 0.5)
            drawing.text(middle, top - 8, str(l), 11, "middle", GREY)
            if partner(l) < 8:
                source = left + cell * (partner(l) + 0.5)
                drawing.line(middle, top + 30, middle, low - 2, "#bbbbbb", stroke_width=1.5)
                drawing.arrow(
                    source, top + 30, middle + (3 if source > middle else -3), low - 3, BLUE
                )
        for y, held in ((top, VALUES), (low, after)):
            for l in range(8):
                known = held[l] is not None
                drawing.rect(left + cell * l + 2, y, cell - 4, 28, SKY if known else PAPER,
                             PAPER if known else GREY)  # fmt: skip
                drawing.text(
                    left + cell * (l + 0.5), y + 19, str(held[l]) if known else "?", 14, "middle"
                )
    drawing.text(
        24,
        236,
        "Above: v of each lane before. Below: v after. Blue: what is read from another lane.",
        12,
        fill=GREY,
    )
    drawing.text(
        24, 254, "Lanes 4 to 7, left: they take part; what they get is question A1.", 12, fill=GREY
    )
    return drawing


def draw_sums_by_shuffle_down():
    """Draws, step by step, how many lanes' values each lane has in its sum."""
    drawing = Drawing(760, 352, "Five steps down: whose values a lane has")
    drawing.code(16, 26, "v += __shfl_down_sync(kAll, v, step)", 13)
    drawing.text(330, 26, "A number: how many lanes' values v holds.", 13)
    left, top, cell, row = 80, 56, 20.8, 38
    holds = [{lane: 1} for lane in range(32)]  # for each lane: {lane: how often its value is in the sum}
    for k, step in enumerate((None, 16, 8, 4, 2, 1)):
        y = top + row * k
        useful = 32 if step is None else step
        if step is not None:
            holds = [
                sum_counts_by_lane(holds[lane], holds[lane + step] if lane + step < 32 else holds[lane])
                for lane in range(32)
            ]
        drawing.text(16, y + 19, "before" if step is None else f"step {step}", 13)
        for lane, held in enumerate(holds):
            sound = lane < useful and max(held.values()) == 1
            drawing.rect(left + cell * lane, y, cell, 28, SKY if sound else PALE, PAPER)
            if sound:
                drawing.text(left + cell * (lane + 0.5), y + 19, str(len(held)), 12, "middle")
    for lane in (0, 8, 16, 24, 31):
        drawing.text(left + cell * (lane + 0.5), top + 6 * row + 10, str(lane), 12, "middle", GREY)
    drawing.text(16, top + 6 * row + 10, "lane", 12, fill=GREY)
    drawing.text(
        16,
        322,
        "Grey: lanes with nothing useful. After step 16 these are lanes 16 to 31, which got",
        12,
        fill=GREY,
    )
    drawing.text(16, 340, "their own value back and have doubled it.", 12, fill=GREY)
    return drawing


def sum_counts_by_lane(a, b):
    return {lane: a.get(lane, 0) + b.get(lane, 0) for lane in a | b}


def draw_butterfly():
    """Draws the sum by xor for eight lanes, like draw_sums_by_shuffle_down(): both lanes of a pair add, and all lanes end with the
    sum."""
    drawing = Drawing(760, 344, "A butterfly: every lane has the sum")
    drawing.code(16, 26, "v += __shfl_xor_sync(kAll, v, step)", 13)
    drawing.text(320, 26, "8 lanes (a warp has two steps more). In the boxes: whose values.", 13)
    left, top, cell, row = 84, 56, 83, 84
    for k, step in enumerate((None, 4, 2, 1)):
        y = top + row * k
        drawing.text(16, y + 19, "before" if step is None else f"step {step}", 13)
        group = 8 if step is None else step
        for lane in range(8):
            holds = sorted(range(lane % group, 8, group)) if step else [lane]
            x = left + cell * lane
            drawing.rect(x + 6, y, cell - 12, 28, SKY if len(holds) < 8 else ORANGE, PAPER)
            words = " ".join(map(str, holds)) if len(holds) < 8 else "all"
            drawing.text(x + cell / 2, y + 19, words, 12, "middle")
            if step is not None:
                for source in (lane, lane ^ step):
                    drawing.line(
                        left + cell * (source + 0.5), y - row + 30, x + cell / 2, y - 2,
                        BLUE if source != lane else GREY,
                        stroke_width=1.4 if source != lane else 0.8,
                    )  # fmt: skip
    return drawing


def draw_tree_and_shuffle_sum():
    """Draws a block's sum in two ways: a tree with nine barriers, and two levels of warp sums with one barrier."""
    drawing = Drawing(760, 392, "A block of 256: by a tree in shared memory, and by shuffles")
    left, right, wide = 16, 400, 43
    drawing.code(left, 26, "reduce_shared", 14, font_weight="bold")
    drawing.code(right, 26, "reduce_shuffle", 14, font_weight="bold")
    for x in (left, right):
        drawing.text(x + 8 * wide, 26, "warps 0 to 7", 12, "end", GREY)
    for warp in range(8):
        for x in (left, right):
            drawing.text(x + wide * (warp + 0.5), 52, str(warp), 11, "middle", GREY)
    y, threads = 62, 256
    while threads:
        drawing.rect(left, y, 8 * wide, 20, PALE, "none")
        drawing.rect(left, y, 8 * wide * threads / 256, 20, ORANGE, "none")
        if threads == 256:
            drawing.text(left + 6, y + 15, "256 store a word each", 12)
        elif threads in (128, 1):
            words = f"{threads} threads add" if threads > 1 else "1 thread adds"
            drawing.text(left + max(8 * wide * threads / 256, 1) + 6, y + 15, words, 12)
        drawing.line(left, y + 25, left + 8 * wide, y + 25, INK, stroke_width=2.5)
        y += 31
        threads //= 2

    def draw_warp_steps(x, y):
        for step in range(5):
            drawing.rect(x + 3, y + 15 * step, wide - 6, 12, PALE, "none")
            drawing.rect(x + 3, y + 15 * step, (wide - 6) * (16 >> step) / 32, 12, SKY, "none")

    for warp in range(8):
        draw_warp_steps(right + wide * warp, 62)
        drawing.rect(right + wide * (warp + 0.5) - 6, 142, 12, 12, ORANGE, "none")
    drawing.line(right, 164, right + 8 * wide, 164, INK, stroke_width=2.5)
    drawing.arrow(right + wide / 2, 168, right + wide / 2, 204)
    draw_warp_steps(right, 208)
    drawing.text(right + 56, 222, "warp 0 sums the eight words:", 12)
    drawing.text(right + 56, 240, "32 lanes take part, 24 bring a 0", 12)
    marks = ((left, ORANGE, "words in shared memory"), (left + 230, SKY, "lanes that shuffle"))
    for x, fill, words in marks:
        drawing.rect(x, 362, 14, 14, fill, "none")
        drawing.text(x + 22, 374, words, 12)
    drawing.line(left + 430, 369, left + 460, 369, INK, stroke_width=2.5)
    drawing.text(left + 468, 374, "a barrier", 12)
    return drawing


KEYS = [3, 7, 3, 3, 5, 7, 3, 7]


def draw_sums_by_key():
    """Draws how lanes with the same key sum their values: each adds the next lane's sum, then follows that lane's
    link."""
    drawing = Drawing(760, 356, "Sums of groups: which lane reads which, round by round")
    drawing.text(
        16,
        24,
        "Eight lanes with three keys. In the boxes: the lanes whose values are in the sum so far.",
        14,
    )
    colours = {3: BLUE, 7: ORANGE, 5: GREEN}
    dashes = {3: "none", 7: "7 3", 5: "2 3"}
    left, top, cell, row = 84, 70, 83, 96
    following = [
        next((other for other in range(lane + 1, 8) if KEYS[other] == KEYS[lane]), None)
        for lane in range(8)
    ]
    holds = [[lane] for lane in range(8)]
    for k in range(3):
        y = top + row * k
        drawing.text(16, y + 19, f"round {k + 1}" if k < 2 else "then", 13)
        for lane in range(8):
            x = left + cell * lane
            colour, dash = colours[KEYS[lane]], dashes[KEYS[lane]]
            drawing.rect(
                x + 4, y, cell - 8, 28, PAPER, colour, stroke_width=2, stroke_dasharray=dash
            )
            drawing.text(x + cell / 2, y + 19, " ".join(map(str, holds[lane])), 12, "middle")
            if k == 0:
                drawing.text(x + cell / 2, y - 8, f"key {KEYS[lane]}", 12, "middle")
            if k < 2 and following[lane] is not None:
                other = left + cell * (following[lane] + 0.5)
                drawing.arrow(other, y + 32, x + cell / 2, y + row - 4, colour,
                              stroke_width=1.6, stroke_dasharray=dash)  # fmt: skip
        if k == 2:
            for lane in (0, 1, 4):
                drawing.text(
                    left + cell * (lane + 0.5), y + 48, "adds", 13, "middle", font_weight="bold"
                )
        then, after = [list(held) for held in holds], list(following)
        for lane in range(8):
            if following[lane] is not None:
                then[lane] = sorted(set(holds[lane]) | set(holds[following[lane]]))
                after[lane] = following[following[lane]]
        holds, following = then, after
    drawing.text(
        16,
        340,
        "The groups double in each round; how many rounds are needed depends on the largest.",
        12,
        fill=GREY,
    )
    return drawing


def draw_merge_of_moments():
    """Draws the moments of a row of 3 elements in 8 lanes, where merging two empty triples divides by zero."""
    drawing = Drawing(760, 334, "A row of 3 elements: empty lanes and the merge")
    drawing.text(
        16, 24, "How many elements each lane's triple holds (8 lanes, shuffles down by 4, 2, 1)", 14
    )
    left, top, cell, row = 96, 66, 78, 66
    held, spoilt = [1] * 3 + [0] * 5, [False] * 8
    for lane in range(8):
        drawing.text(left + cell * (lane + 0.5), top - 10, f"lane {lane}", 12, "middle", GREY)
    for k, step in enumerate((None, 4, 2, 1)):
        y = top + row * k
        if step:
            drawing.code(16, y + 19, f"down {step}", 13)
        else:
            drawing.text(16, y + 19, "before", 13)
        if step:
            for lane in range(step):
                other, middle = lane + step, left + cell * (lane + 0.5)
                bad = spoilt[lane] or spoilt[other] or held[lane] == held[other] == 0
                drawing.line(middle, y - row + 30, middle, y - 2, "#bbbbbb", stroke_width=1.5)
                drawing.arrow(left + cell * (other + 0.5), y - row + 30, middle + 4, y - 3,
                              RED if bad else BLUE, stroke_dasharray="5 3" if bad else "none")  # fmt: skip
                held[lane], spoilt[lane] = held[lane] + held[other], bad
        for lane in range(step or 8):
            x = left + cell * lane + 10
            drawing.rect(x, y, cell - 20, 28, SKY if held[lane] else PAPER,
                         RED if spoilt[lane] else GREY, stroke_width=2.5 if spoilt[lane] else 1)  # fmt: skip
            words = f"{held[lane]}: NaN" if spoilt[lane] else str(held[lane])
            drawing.text(x + cell / 2 - 10, y + 19, words, 12, "middle")
    drawing.text(
        16,
        318,
        "Dashed, red: by the formula alone two empty triples make 0 / 0, and it spreads.",
        12,
        fill=GREY,
    )
    return drawing


def draw_floats_around_2_to_24():
    """Draws the floats around 2^24, where adding 1 has no effect."""
    drawing = Drawing(760, 210, "Where 1.0f stops: floats around 2^24")
    drawing.text(16, 26, "Floats around 2^24 = 16,777,216 (24 significant bits)", 14)
    left, step, y = 60, 80, 116
    first = (1 << 24) - 3
    drawing.line(left - 40, y, left + 8.4 * step, y, GREY)
    for k in range(9):
        value, x = first + k, left + step * k
        there = value <= 1 << 24 or value % 2 == 0
        drawing.line(x, y - (12 if there else 5), x, y + (12 if there else 5),
                     INK if there else GREY, stroke_width=2 if there else 1)  # fmt: skip
        if there:
            drawing.text(
                x, y + 32, f"{value:,}", 11, "middle", font_weight="bold" if k == 3 else "normal"
            )
        else:
            drawing.text(x, y + 32, "no float", 12, "middle", GREY)
    at = left + 3 * step
    drawing.arrow(at, y - 18, at + step - 4, y - 18, RED)
    drawing.text(at + step / 2, y - 26, "+ 1.0f", 12, "middle")
    drawing.arrow(at + step, y - 46, at + 3, y - 46, RED)
    drawing.text(at + step + 8, y - 42, "half way: rounded to the even one, back", 12)
    drawing.text(
        16,
        194,
        "16,777,216 + 1 is 16,777,216 again, however often. 16,777,216 + 16,777,216 is exact.",
        12,
        fill=GREY,
    )
    return drawing


def draw_times_on_h200():
    """Draws the times of several ways to sum on an H200, and the Shuffle Lesson's ratios beside ours."""
    table = tables.read_measured_table("h200-shuffle")
    drawing = Drawing(760, 516, "What a sum of 2^24 floats takes on an H200")
    drawing.text(
        16, 24, f"Sum of 2^24 floats (measured, {table.head['device']}, cold L2, log scale)", 14
    )
    forms = [
        ("reduce_atomic", "an add per lane"),
        ("sum_by_warps", "an add per warp"),
        ("lanes to block to total", "shared atomics"),
        ("sum_by_blocks", "an add per block"),
        ("reduce_shared", "three passes, trees"),
        ("reduce_shuffle", "three passes, shuffles"),
    ]
    left, row, low, high = 186, 36, -2, 2

    def draw_x_ticks(top, rows, ticks, at, unit):
        for tick in ticks:
            drawing.line(at(tick), top - 6, at(tick), top + rows, "#cccccc")
            drawing.text(at(tick), top + rows + 18, f"{tick:,g}{unit}", 12, "middle", GREY)

    def x_of_ms(value):
        return left + (math.log10(value) - low) * 460 / (high - low)

    draw_x_ticks(46, row * len(forms), [10.0**power for power in range(low, high + 1)], x_of_ms, " ms")
    for k, (form, words) in enumerate(forms):
        ms, y = table.value("median_ms", task="sum", form=form, n=shuffle.LESSON), 48 + row * k
        drawing.text(left - 10, y + 13, form, 12, "end")
        drawing.text(left - 10, y + 27, words, 11, "end", GREY)
        drawing.rect(left, y, x_of_ms(ms) - left, 26, BLUE, "none")
        drawing.text(x_of_ms(ms) + 6, y + 18, f"{ms:.3f}", 12)
    top = 340
    drawing.text(16, top - 16, "The first over the second (log scale): times as fast", 14)
    then, now = shuffle.documented_speed_ups(), shuffle.speed_ups_of_pairs(shuffle.measured_times())

    def x_of_ratio(value):
        return left + math.log10(value) * 460 / 3

    draw_x_ticks(top, 42 * len(then), (1, 10, 100, 1000), x_of_ratio, "")
    for k, name in enumerate(then):
        y = top + 4 + 42 * k
        drawing.text(left - 10, y + 22, name.replace("reduce_", ""), 12, "end")
        for part, (value, colour) in enumerate([(then[name], ORANGE), (now[name], BLUE)]):
            drawing.rect(left, y + 17 * part, x_of_ratio(value) - left, 15, colour, "none")
            drawing.text(x_of_ratio(value) + 6, y + 17 * part + 12, f"{value:.4g}", 12)
    for k, (colour, words) in enumerate(((ORANGE, "T4 (documented)"), (BLUE, "H200 (measured)"))):
        drawing.rect(left + 200 * k, 494, 14, 14, colour, "none")
        drawing.text(left + 22 + 200 * k, 506, words, 12)
    return drawing


FIGURES = {
    "shuffle/down.svg": draw_sums_by_shuffle_down,
    "shuffle/butterfly.svg": draw_butterfly,
    "shuffle/block.svg": draw_tree_and_shuffle_sum,
    "shuffle/keys.svg": draw_sums_by_key,
    "shuffle/lanes.svg": draw_source_lanes,
    "shuffle/merge.svg": draw_merge_of_moments,
    "shuffle/spacing.svg": draw_floats_around_2_to_24,
    "shuffle/measured.svg": draw_times_on_h200,
}
