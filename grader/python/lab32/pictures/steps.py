"""Draws the lanes that work between barriers: a row per step, a cell per lane or group of lanes."""

from lab32.pictures.access import count_text
from lab32.pictures.canvas import ACROSS, Canvas, truncate_to_characters, with_thousands_separators

LANES = 32
LEFT, TOP, HEIGHT = 150, 76, 17
ROOM = 640  # pixels across, for the lanes of all warps


def count_bits(mask, first, count):
    return (mask >> first & ((1 << count) - 1)).bit_count()


def count_working_lanes(step):
    return sum(mask.bit_count() for mask in step["working"])


def barrier_steps_alt_text(block):
    lanes = ", ".join(with_thousands_separators(count_working_lanes(step)) for step in block["steps"])
    more = ", and more steps" * block["more"]
    return f"{len(block['steps'])} steps of {with_thousands_separators(block['threads'])} threads. Lanes that load, store or shuffle, step by step: {lanes}{more}."


def draw_working_lanes_by_step(block):
    warps = -(-block["threads"] // LANES)
    group = 1
    while LANES // group * warps * 3 > ROOM and group < LANES:
        group *= 2
    cell = min(16, ROOM // (LANES // group * warps + warps))
    across = warps * (LANES // group * cell + cell)
    height = TOP + HEIGHT * len(block["steps"]) + 60
    title = f"Lanes at work between barriers, block {block['block']}"
    picture = Canvas(LEFT + across + 170, height, title, barrier_steps_alt_text(block))
    picture.text(12, 20, title, 13, font_weight="bold")
    unit = "a cell is a lane" if group == 1 else f"a cell is {group} lanes"
    picture.text(
        12, 40, f"{with_thousands_separators(block['threads'])} threads, {warps} warp{'s' * (warps != 1)}; {unit}; "
        "filled: they load, store or shuffle in that step", 11.5, kind="soft",
    )  # fmt: skip
    for warp in range(warps):
        if warps <= 16 or warp % 4 == 0:
            x = LEFT + warp * (LANES // group + 1) * cell
            picture.text(x, TOP - 8, f"warp {warp}" if warps <= 8 else str(warp), 10, kind="soft")
    if warps > 8:
        picture.text(LEFT - 12, TOP - 8, "warp", 10, "end", "soft")
    any_partly = False
    for n, step in enumerate(block["steps"]):
        y = TOP + n * HEIGHT
        picture.text(12, y + 12, f"step {n}", 11)
        picture.text(LEFT - 12, y + 12, f"line {step['line']}", 10.5, "end", "soft")
        places, partly = {"good": [], "idle": []}, []
        for warp, mask in enumerate(step["working"]):
            there = min(LANES, block["threads"] - LANES * warp)
            for first in range(0, there, group):
                lanes = min(group, there - first)
                busy = count_bits(mask, first, lanes)
                x = LEFT + (warp * (LANES // group + 1) + first // group) * cell
                places["good" if busy == lanes else "idle"].append((x, y + 1))
                if 0 < busy < lanes:
                    partly.append((x, busy / lanes))
        for kind, at in places.items():
            picture.equal_rects(at, cell - 1, HEIGHT - 4, f"cell {kind}")
        any_partly |= bool(partly)
        for x, share in partly:  # the filled part of a cell is the share of its lanes that work
            height = (HEIGHT - 4) * share
            picture.rect(x, y + 1 + HEIGHT - 4 - height, cell - 1, height, "cell warn")
        lanes = count_working_lanes(step)
        picture.text(
            LEFT + across + 4, y + 12,
            f"{with_thousands_separators(lanes)} of {with_thousands_separators(block['threads'])}, {count_text(sum(map(bool, step['working'])), 'warp')}",
            10.5, kind="soft",
        )  # fmt: skip
        end = "dotted" if step["warp_barrier"] else ""
        picture.line(
            LEFT - 4, y + HEIGHT - 1, LEFT + across, y + HEIGHT - 1, "",
            stroke_width=0.7, **({"stroke_dasharray": "2 3"} if end else {}),
        )  # fmt: skip
    y = TOP + HEIGHT * len(block["steps"])
    more = "… and more steps. " if block["more"] else ""
    picture.text(
        12,
        y + 22,
        f"{more}{'Partly filled: some of its lanes. ' * any_partly}Line below a step: __syncthreads() or the end; dotted: __syncwarp().",
        10.5,
        kind="soft",
    )
    busiest = {step["line"]: step["source"] for step in block["steps"]}
    line, source = max(
        busiest.items(), key=lambda pair: sum(s["line"] == pair[0] for s in block["steps"])
    )
    picture.text(12, y + 40, truncate_to_characters(f"line {line}: {source}", ACROSS), 10.5, kind="mono")
    return picture
