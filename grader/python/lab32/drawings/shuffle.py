"""The figures of handouts/shuffle.md."""

import math

from lab32 import shuffle, tables
from lab32.svg import BLUE, GREEN, GREY, INK, ORANGE, PALE, PAPER, RED, SKY, Drawing

MONO = "DejaVu Sans Mono, monospace"


def down():
    """How many lanes' values each lane holds, step by step."""
    drawing = Drawing(900, 328, "Five steps down: whose values a lane has")
    drawing.text(
        30, 28, "v += __shfl_down_sync(kAll, v, step). A number: how many lanes' values the lane's v "
        "holds.", 14,
    )  # fmt: skip
    left, top, cell, row = 130, 56, 23, 38
    holds = [{lane: 1} for lane in range(32)]  # of each lane: how often it has whose value
    for k, step in enumerate((None, 16, 8, 4, 2, 1)):
        y = top + row * k
        useful = 32 if step is None else step
        if step is not None:
            holds = [
                sum_of(holds[lane], holds[lane + step] if lane + step < 32 else holds[lane])
                for lane in range(32)
            ]
        drawing.text(left - 12, y + 19, "before" if step is None else f"step {step}", 13, "end")
        for lane, held in enumerate(holds):
            sound = lane < useful and max(held.values()) == 1
            drawing.rect(left + cell * lane, y, cell, 28, SKY if sound else PALE, PAPER)
            drawing.text(
                left + cell * (lane + 0.5), y + 19, str(len(held)) if sound else "–", 12, "middle",
                INK if sound else GREY,
            )  # fmt: skip
    for lane in (0, 8, 16, 24, 31):
        drawing.text(left + cell * (lane + 0.5), top + 6 * row + 8, f"lane {lane}", 10, "middle", GREY)
    drawing.text(
        30, 314, "Grey: lanes with nothing useful. After step 16 these are lanes 16 to 31, which got "
        "their own value back and have doubled it.", 12, fill=GREY,
    )  # fmt: skip
    return drawing


def sum_of(a, b):
    return {lane: a.get(lane, 0) + b.get(lane, 0) for lane in a | b}


def butterfly():
    """The same with xor, for eight lanes: both of a pair add, and all end with the sum."""
    drawing = Drawing(900, 330, "A butterfly: every lane has the sum")
    drawing.text(
        30, 28, "v += __shfl_xor_sync(kAll, v, step), drawn for 8 lanes (a warp has two steps more). "
        "In the boxes: whose values.", 14,
    )  # fmt: skip
    left, top, cell, row = 120, 56, 92, 76
    for k, step in enumerate((None, 4, 2, 1)):
        y = top + row * k
        drawing.text(left - 12, y + 19, "before" if step is None else f"step {step}", 13, "end")
        group = 8 if step is None else step
        for lane in range(8):
            holds = sorted(range(lane % group, 8, group)) if step else [lane]
            x = left + cell * lane
            drawing.rect(x + 6, y, cell - 12, 28, SKY if len(holds) < 8 else GREEN, PAPER)
            words = " ".join(map(str, holds)) if len(holds) < 8 else "all"
            drawing.text(x + cell / 2, y + 19, words, 12, "middle", INK if len(holds) < 8 else PAPER)
            if step is not None:
                for source in (lane, lane ^ step):
                    drawing.line(
                        left + cell * (source + 0.5), y - row + 30, x + cell / 2, y - 2,
                        BLUE if source != lane else GREY,
                        stroke_width=1.4 if source != lane else 0.8,
                    )  # fmt: skip
    return drawing


def block():
    """A block's sum: the tree with nine barriers, and two warps' sums with one."""
    drawing = Drawing(900, 346, "A block of 256: by a tree in shared memory, and by shuffles")
    for k, (title, verdict) in enumerate(
        [
            ("reduce_shared", "45 wavefronts, 9 barriers"),
            ("reduce_shuffle", "9 wavefronts, 1 barrier"),
        ]
    ):
        x = 30 + 450 * k
        drawing.text(x, 34, title, 15, font_weight="bold", font_family=MONO)
        drawing.text(x + 384, 34, verdict, 13, "end")
    left, width, y = 30, 48, 48
    for warp in range(8):
        drawing.text(left + width * (warp + 0.5), y + 14, f"warp {warp}", 10, "middle", GREY)
        drawing.text(480 + width * (warp + 0.5), y + 14, f"warp {warp}", 10, "middle", GREY)
    y = 70
    threads = 256
    while threads:
        drawing.rect(left, y, 8 * width, 18, PALE, "none")
        drawing.rect(left, y, 8 * width * threads / 256, 18, ORANGE, "none")
        if threads == 256:
            drawing.text(left + 6, y + 14, "256 store a word each", 11)
        elif threads in (128, 32, 1):
            words = f"{threads} threads add" if threads > 1 else "1 thread adds"
            drawing.text(left + max(8 * width * threads / 256, 1) + 6, y + 14, words, 11)
        drawing.line(left, y + 22, left + 8 * width, y + 22, INK, stroke_width=2)
        y += 27
        threads //= 2
    drawing.text(left, y + 14, "orange: active threads, in shared memory; black: a barrier", 12, fill=GREY)
    x = 480
    for warp in range(8):
        for step in range(5):
            lanes = 16 >> step
            drawing.rect(x + width * warp + 3, 70 + 14 * step, width - 6, 11, PALE, "none")
            drawing.rect(
                x + width * warp + 3, 70 + 14 * step, (width - 6) * lanes / 32, 11, SKY, "none"
            )
        drawing.rect(x + width * (warp + 0.5) - 6, 146, 12, 12, ORANGE, "none")
    drawing.line(x, 166, x + 8 * width, 166, INK, stroke_width=2)
    for warp in range(8):
        drawing.arrow(x + width * (warp + 0.5), 170, x + 10 + 4 * warp, 196)
    for step in range(5):
        lanes = 16 >> step
        drawing.rect(x + 3, 200 + 14 * step, width - 6, 11, PALE, "none")
        drawing.rect(x + 3, 200 + 14 * step, (width - 6) * lanes / 32, 11, SKY, "none")
    drawing.text(x + 62, 212, "warp 0 does the same with the eight sums:", 12)
    drawing.text(x + 62, 230, "all 32 lanes come, 24 bring a zero", 12)
    drawing.text(x, 313, "blue: shuffles, registers only; orange: a word", 12, fill=GREY)
    drawing.text(x, 329, "in shared memory; black: a barrier", 12, fill=GREY)
    return drawing


KEYS = [3, 7, 3, 3, 5, 7, 3, 7]


def keys():
    """Lanes of one key find their sum: each adds the next one's, and looks at its next's."""
    drawing = Drawing(900, 350, "Sums of groups: who adds whose value, round by round")
    drawing.text(
        30, 28, "Eight lanes with three keys. Arrow: the lane that a lane reads from in this round. "
        "In the boxes: whose values it holds.", 14,
    )  # fmt: skip
    colours = {3: BLUE, 7: ORANGE, 5: GREEN}
    left, top, cell, row = 120, 64, 92, 96
    following = [
        next((other for other in range(lane + 1, 8) if KEYS[other] == KEYS[lane]), None)
        for lane in range(8)
    ]
    holds = [[lane] for lane in range(8)]
    for k in range(3):
        y = top + row * k
        drawing.text(left - 12, y + 19, f"round {k + 1}" if k < 2 else "then", 13, "end")
        for lane in range(8):
            x = left + cell * lane
            colour = colours[KEYS[lane]]
            drawing.rect(x + 6, y, cell - 12, 28, PAPER, colour, stroke_width=2)
            drawing.text(x + cell / 2, y + 19, " ".join(map(str, holds[lane])), 12, "middle")
            if k == 0:
                drawing.text(x + cell / 2, y - 8, f"key {KEYS[lane]}", 12, "middle", colour)
            if k < 2 and following[lane] is not None:
                other = left + cell * (following[lane] + 0.5)
                drawing.arrow(other, y + 32, x + cell / 2, y + row - 4, colour)
        if k == 2:
            for lane in (0, 1, 4):
                x = left + cell * (lane + 0.5)
                drawing.text(x, y + 48, "adds", 12, "middle", colours[KEYS[lane]], font_weight="bold")
        then = [list(held) for held in holds]
        after = list(following)
        for lane in range(8):
            if following[lane] is not None:
                then[lane] = sorted(set(holds[lane]) | set(holds[following[lane]]))
                after[lane] = following[following[lane]]
        holds, following = then, after
    drawing.text(
        30, 338, "Twice as many in each round: five rounds for 32 lanes of one key, none for 32 "
        "different ones.", 12, fill=GREY,
    )  # fmt: skip
    return drawing


def spacing():
    """Floats around 2^24, and where adding one to 2^24 ends."""
    drawing = Drawing(900, 200, "Where 1.0f stops: floats around 2^24")
    drawing.text(30, 28, "Floats around 2^24 = 16777216 (24 significant bits)", 14)
    left, step, y = 90, 88, 110
    first = (1 << 24) - 3
    drawing.line(left - 40, y, left + 8.5 * step, y, GREY)
    for k in range(9):
        value, x = first + k, left + step * k
        there = value <= 1 << 24 or value % 2 == 0
        drawing.line(x, y - (12 if there else 5), x, y + (12 if there else 5),
                     INK if there else GREY, stroke_width=2 if there else 1)  # fmt: skip
        if there:
            drawing.text(x, y + 30, str(value), 12, "middle", font_weight="bold" if k == 3 else "normal")
        else:
            drawing.text(x, y + 30, "no float", 11, "middle", GREY)
    at = left + 3 * step
    drawing.arrow(at, y - 18, at + step - 4, y - 18, RED)
    drawing.text(at + step / 2, y - 26, "+ 1.0f", 12, "middle", RED)
    drawing.arrow(at + step, y - 38, at + 3, y - 38, RED)
    drawing.text(at + step + 8, y - 34, "half way: rounded to the even one, back", 12, fill=RED)
    drawing.text(
        30, 186, "16777216 + 1 is 16777216 again, however often it is repeated. 16777216 + 16777216 is exact.",
        12, fill=GREY,
    )  # fmt: skip
    return drawing


def measured():
    """Times of the ways to a sum on an H200, and the Shuffle Lesson's ratios beside ours."""
    table = tables.measured("h200-shuffle")
    drawing = Drawing(900, 432, "What a sum of 2^24 floats takes on an H200")
    drawing.text(
        20, 28, f"Sum of 2^24 floats, ms, logarithmic (measured, {table.head['device']}, cold L2)", 14
    )
    forms = [
        ("reduce_atomic", "an add per lane"),
        ("sum_by_warps", "an add per warp"),
        ("lanes to block to total", "shared atomics per lane, then one per block"),
        ("sum_by_blocks", "an add per block"),
        ("reduce_shared", "three passes, trees"),
        ("reduce_shuffle", "three passes, shuffles"),
    ]
    left, row, low, high = 230, 34, -2, 2
    scale = 600 / (high - low)
    for power in range(low, high + 1):
        x = left + (power - low) * scale
        drawing.line(x, 44, x, 50 + row * len(forms), "#cccccc")
        drawing.text(x, 66 + row * len(forms), f"{10.0 ** power:g}", 11, "middle", GREY)
    for k, (form, words) in enumerate(forms):
        ms = table.value("median_ms", task="sum", form=form, n=shuffle.LESSON)
        y = 52 + row * k
        width = (math.log10(ms) - low) * scale
        drawing.text(left - 10, y + 17, form, 12, "end")
        drawing.rect(left, y, width, 24, BLUE, "none")
        inside = width > 250
        drawing.text(left + (width - 6 if inside else width + 6), y + 16, f"{ms:.3f}  {words}", 11,
                     "end" if inside else "start", PAPER if inside else INK)  # fmt: skip
    top = 90 + row * len(forms)
    drawing.text(20, top + 14, "Speed-up: the Shuffle Lesson's T4 (documented), an H200 (measured); logarithmic", 14)
    then, now = shuffle.documented_ratios(), shuffle.ratios(shuffle.measured_times())
    for k, name in enumerate(then):
        y = top + 26 + 34 * k
        drawing.text(left - 10, y + 18, name.replace("reduce_", ""), 12, "end")
        for part, (value, colour, whose) in enumerate(
            [(then[name], ORANGE, "documented, T4"), (now[name], BLUE, "measured, H200")]
        ):
            width = math.log10(value) * 180
            drawing.rect(left, y + 14 * part, width, 12, colour, "none")
            drawing.text(left + width + 6, y + 14 * part + 10, f"{value:.4g}  {whose}", 10)
    return drawing


FIGURES = {
    "shuffle-down.svg": down,
    "shuffle-butterfly.svg": butterfly,
    "shuffle-block.svg": block,
    "shuffle-keys.svg": keys,
    "shuffle-spacing.svg": spacing,
    "shuffle-measured.svg": measured,
}
