"""The lab's pictures on the report page, drawn from the figures of a check: blocks on a multiprocessor, waves, bytes in
flight."""

import math

from lab32 import tables
from lab32.pictures.canvas import Canvas, decimal_byte_size_text, with_thousands_separators
from lab32.report.plots import draw_bars

WIDTH, LEFT = 760, 130
MOST_WAVES = 6  # that are drawn one by one
# The checks' figures with the blocks that each resource allows.
ALLOWED = {"threads": "threads_allow", "blocks": "blocks_allow", "registers": "registers_allow", "shared memory": "shared_allows"}


def pictures_of_check_result(test, device):
    """The pictures of a check's shape; of an example for the checks of the calculator, once they are right; and of answers
    that are right."""
    figures, gpu = test.figures, profile_of(device)
    part = test.name.partition(" ")[0]
    if not gpu or part[0] == "A" and test.status != "passed":
        return []
    drawn = pictures_of_answered_questions(gpu, figures)
    if "threads_allow" in figures and part != "A3":
        drawn.append(draw_blocks_by_resource(gpu, figures, example=part[0] == "A"))
    if "grid" in figures:
        drawn.append(draw_waves_of_grid(gpu, figures["grid"], figures["fit"], figures.get("balance"), example=part[0] == "A"))
    if "l1_bytes" in figures:
        drawn.insert(0, draw_row_bytes_against_l1(figures["bytes"], figures["l1_bytes"], figures["warps"]))
    if "read_bytes" in figures:
        drawn.append(draw_bytes_in_flight_bars(gpu, figures["read_bytes"], figures["modelled_seconds"], figures["full_seconds"]))
    return drawn


def profile_of(device):
    """The profile of "sim:h200"; None for a device without one."""
    name = device.removeprefix("sim:")
    return tables.read_device_profile(name) if (tables.DATA / "devices" / f"{name}.toml").exists() else None


def count_text(number, noun):
    return f"{with_thousands_separators(round(number))} {noun}{'' if number == 1 else 's'}"


def kilobytes_text(size):
    """As the check says it, in units of 1,024."""
    return f"{with_thousands_separators(round(size / 1024))} KB"


def draw_blocks_by_resource(gpu, figures, example=False):
    """The blocks that each resource allows, and the warps that therefore reside, which may be fewer if the grid has few
    blocks."""
    each = -(-round(figures["threads"]) // 32)
    most_warps = gpu["multiprocessor"]["max_warps"]
    blocks = {name: round(figures[figure]) for name, figure in ALLOWED.items()}
    fit = min(blocks.values())
    binding = [name for name, number in blocks.items() if number == fit]
    resident = round(figures.get("warps", fit * each))
    verb = "binds" if binding == ["shared memory"] else "bind"
    title = f"{'An example: blocks' if example else 'Blocks'} on a multiprocessor: {count_text(fit, 'block')} fit{'s' * (fit == 1)}; {' and '.join(binding)} {verb}"
    threads, registers, shared = (figures[name] for name in ("threads", "registers", "shared_bytes"))
    used = f"A block of {count_text(threads, 'thread')}, {count_text(registers, 'register')} per thread, {count_text(shared, 'byte')} of shared memory; {gpu['name']}"
    counts = ", ".join(f"{name} {number}" for name, number in blocks.items())
    filled = f"{resident} of {count_text(most_warps, 'warp')} reside"
    picture = Canvas(WIDTH, 212, title, f"{used}. Blocks that each resource allows: {counts}. {filled}.")
    picture.text(12, 20, title, 13, font_weight="bold")
    picture.text(12, 40, used, 11, kind="soft")
    longest = max(min(number, gpu["multiprocessor"]["max_blocks"]) for number in blocks.values())
    rows = [(name, min(number, longest) / longest, f"▲ {number}: binds" if number == fit else number) for name, number in blocks.items()]
    picture.terminal = used, [*rows, ("warps", resident / most_warps, filled)], ""
    for n, (name, number) in enumerate(blocks.items()):
        y, end = 58 + 20 * n, LEFT + 480 * rows[n][1]
        picture.text(LEFT - 10, y + 12, name, 11, "end")
        picture.rect(LEFT, y, end - LEFT, 14, "cell warn" if number == fit else "cell unused")
        picture.text(end + 6, y + 12, rows[n][2] if number <= longest else f"{number}, bar cut", 11)
    draw_resident_warps(picture, each, fit, resident, most_warps)
    words = f"{filled}; a gap separates blocks"
    if resident < fit * each:
        words += f"; grey: {count_text(fit * each - resident, 'warp')} more would fit, but the grid has too few blocks"
    picture.text(LEFT, 184, words, 10.5, kind="soft")
    picture.text(LEFT, 202, "dashed: places of warps that stay empty" if fit * each < most_warps else "", 10.5, kind="soft")
    return picture


def draw_resident_warps(picture, each, fit, resident, most_warps):
    """A cell for each warp that a multiprocessor can hold, block by block."""
    picture.text(LEFT - 10, 160, "warps", 11, "end")
    cell = min(9, (WIDTH - LEFT - 20 - 3 * fit) / most_warps - 0.5)
    for n in range(most_warps):
        x = LEFT + n * (cell + 0.5) + 3 * min(n // each, fit)
        kind = "good" if n < resident else "unused" if n < fit * each else "idle"
        picture.rect(x, 146, cell, 18, kind if kind == "idle" else f"cell {kind}")


def draw_waves_of_grid(gpu, grid, fit, balance=None, example=False):
    """The waves of a grid along time, with the last one as full as it is."""
    places = round(fit) * gpu["multiprocessors"]
    count = math.ceil(grid / places)
    last = (grid - (count - 1) * places) / places
    share = f"{100 * last:.3g} %"
    tail = "fills all places" if last == 1 else f"fills {share} of the places"
    what = f"{'An example: ' if example else ''}{count} waves" if count > 1 else "One wave"
    title = f"{what}; {'the last one' if count > 1 else 'it'} {tail}"
    used = f"{count_text(grid, 'block')}; {with_thousands_separators(places)} places: {count_text(fit, 'block')} on each of {gpu['multiprocessors']} multiprocessors"
    busy = "" if balance is None else f"On average a multiprocessor works {100 * balance:.3g} % of the time until the busiest one finishes"
    picture = Canvas(WIDTH, 176 if busy else 150, title, f"{used}. {busy}.".replace(". .", "."))
    picture.text(12, 20, title, 13, font_weight="bold")
    picture.text(12, 40, used + "; time runs to the right", 11, kind="soft")
    drawn = min(count, MOST_WAVES)
    waves = [(f"wave {n + 1}", 1, "") for n in range(drawn - 1)] if count == drawn else [(f"{with_thousands_separators(count - 1)} waves", 1, "all places")]
    picture.terminal = used, [*waves, (f"wave {count}", last, f"{share} of the places")], busy and busy + "."
    wide, top, high = 590 / drawn, 56, 60
    for n in range(drawn):
        skipped = count > MOST_WAVES and n == MOST_WAVES - 2
        full = last if n == drawn - 1 else 1
        x, label = LEFT + n * wide, f"wave {count if n == drawn - 1 else n + 1}"
        if skipped:
            label = f"… {count - MOST_WAVES + 1} more …"
        picture.rect(x, top, wide - 4, high, "idle")
        picture.rect(x, top + high * (1 - full), wide - 4, max(high * full, 1), "cell good", fill_opacity=0.4 if skipped else 1)
        picture.text(x + wide / 2 - 2, top + high + 16, label, 10.5, "middle", "soft")
    picture.text(LEFT - 10, top + 12, "all places", 10.5, "end", "soft")
    picture.text(LEFT - 10, top + high, "none", 10.5, "end", "soft")
    if busy:
        picture.text(12, 166, busy + ".", 11)
    return picture


def draw_row_bytes_against_l1(rows, l1, warps):
    """The rows that the resident warps are reading, and the L1 that has to keep them."""
    look = "good" if rows <= l1 else "bad"
    words = f"{kilobytes_text(rows)}: the rows of {count_text(warps, 'warp')}"
    groups = [("rows under way", [(look, rows, words if look == "good" else f"▲ {words}")])]
    return draw_bars("Bytes in flight on a multiprocessor: rows that are read column by column", "a row's sectors stay in L1 from one column to the next only if all rows fit", groups, mark=(l1, f"L1: {kilobytes_text(l1)}"))  # fmt: skip


def draw_ratio(title, subtitle, base, other, ratio):
    """What a question asked: the student's own answer, once it is right."""
    groups = [(base, [("good", 1, "1")]), (other, [("bad", ratio, f"▲ {ratio:g} times as long")])]
    return draw_bars(title, subtitle + "; measured on an H200, rounded as your answer", groups)


def draw_spills_against_l1_size(gpu):
    """The values that 24 registers cannot hold, for all threads that reside."""
    threads, l1 = gpu["multiprocessor"]["max_threads"], gpu["multiprocessor"]["l1_and_shared_bytes"]
    size = threads * MISSING_REGISTERS * 4
    words = f"{kilobytes_text(size)}: {MISSING_REGISTERS} values of 4 bytes for each of {count_text(threads, 'thread')}"
    groups = [("local memory", [("good" if size <= l1 else "bad", size, words)])]
    return draw_bars("Bytes in flight on a multiprocessor: values that 24 of 32 registers cannot hold", "they stay in L1, but each use costs a load or a store that a register does not need", groups, mark=(l1, f"L1: {kilobytes_text(l1)}"))  # fmt: skip


MISSING_REGISTERS = 8  # of 32, in C2


def pictures_of_answered_questions(gpu, figures):
    """The pictures of the questions that are answered."""
    drawn = []
    if "constant_time" in figures:
        drawn.append(draw_ratio("A table in constant memory: time of a load", "constant memory delivers one word at a time", "lanes want one word", "lanes want 32 words", figures["constant_time"]))  # fmt: skip
    if "window_time" in figures:
        drawn.append(draw_ratio("A window over a signal: time", "the kernel waits for device memory, which moves one array more if weights are loaded", "weights computed", "weights loaded", figures["window_time"]))  # fmt: skip
    if "spilled_time" in figures:
        drawn.append(draw_ratio("trace with fewer registers: time", "as many warps reside", "32 registers", "24 registers", figures["spilled_time"]))
        drawn.append(draw_spills_against_l1_size(gpu))
    return drawn


def draw_bytes_in_flight_bars(gpu, read, mine, full):
    """The bytes in flight on average, by Little's law, and those that keep device memory busy."""
    time = gpu["time"]
    latency = time["l1_latency"] + time["l2_latency"] + time["dram_latency"]

    def bytes_in_flight_per_sm(rate):
        return rate * latency / gpu["multiprocessors"]

    def bytes_in_flight_row(look, seconds, who):
        return (look, bytes_in_flight_per_sm(read / seconds), f"{decimal_byte_size_text(round(bytes_in_flight_per_sm(read / seconds)))}, {who}")

    groups = [
        ("8 warps", [bytes_in_flight_row("good" if mine <= full else "bad", mine, "yours")]),
        ("all warps", [bytes_in_flight_row("reference", full, "the given kernel, a float per thread")]),
    ]
    # A copy writes as much as it reads.
    most = bytes_in_flight_per_sm(time["dram_bytes_per_second"] / 2)
    return draw_bars("Bytes in flight on a multiprocessor, on average", f"loads; Little's law: bytes per second × {1e9 * latency:.0f} ns from request to reply; modelled, the whole launch", groups, mark=(most, f"device memory at its full rate: {decimal_byte_size_text(round(most))}"))  # fmt: skip
