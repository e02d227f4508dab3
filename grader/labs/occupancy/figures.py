"""The figures of handouts/occupancy.md and its notes."""

import math

from handouts.drawing import BLUE, GREEN, GREY, INK, ORANGE, RED, SKY, Drawing
from lab32.labs.occupancy import notebook as occupancy
from lab32.labs.occupancy import tables
from lab32.tables import read_device_profile

EXAMPLE = {"threads": 256, "registers": 40, "shared": 40000}


def blocks_allowed_by_resource(gpu, threads, registers, shared):
    """{resource: blocks per multiprocessor that it allows} for a device profile, by the lab's rules."""
    m = gpu["multiprocessor"]
    up = lambda n, unit: -(-n // unit) * unit  # noqa: E731
    warps = -(-threads // 32)
    of_warp = up(registers * 32, m["register_allocation_unit"])
    of_block = up(shared + m["reserved_shared_bytes_per_block"], m["shared_allocation_unit"])
    return {
        "threads": m["max_threads"] // 32 // warps,
        "blocks": m["max_blocks"],
        "registers": m["registers"] // 4 // of_warp * 4 // warps,
        "shared memory": m["shared_bytes"] // of_block if of_block else m["max_threads"],
    }


def draw_blocks_by_resource():
    """The blocks that each resource allows: a worked example on three generations of GPUs."""
    drawing = Drawing(760, 330, "Blocks that each resource allows; the scarcest decides")
    drawing.text(
        16, 24, "A block of 256 threads, 40 registers per thread, 40,000 bytes of shared memory", 14
    )
    left, wide, most = 190, 500, 32
    for k, (gpu, name) in enumerate((("h200", "H200"), ("rtx4060", "RTX 4060"), ("t4", "T4"))):
        top = 44 + 94 * k
        drawing.text(16, top + 42, name, 14, font_weight="bold")
        limits = blocks_allowed_by_resource(read_device_profile(gpu), **EXAMPLE)
        least = min(limits.values())
        for r, (resource, blocks) in enumerate(limits.items()):
            y = top + 20 * r
            drawing.text(left - 10, y + 13, resource, 12, "end")
            drawing.rect(
                left, y, wide * min(blocks, most) / most, 16, ORANGE if blocks == least else SKY, "none"
            )  # fmt: skip
            drawing.text(left + wide * min(blocks, most) / most + 6, y + 13, str(blocks), 12)
    drawing.text(left, 324, "blocks per multiprocessor; orange: what limits", 12, fill=GREY)
    return drawing


class PlotAxes:
    """The frame of a plot with ticks; each axis is linear or logarithmic."""

    def __init__(self, drawing, x, y, box, log=(False, False)):
        self.drawing, self.x, self.y, self.box, self.log = drawing, x, y, box, log

    def position_of(self, x, y):
        left, top, wide, high = self.box
        parts = []
        for value, (low, most), log in zip((x, y), (self.x, self.y), self.log, strict=True):
            if log:
                parts.append(math.log(value / low) / math.log(most / low))
            else:
                parts.append((value - low) / (most - low))
        return left + wide * parts[0], top + high * (1 - parts[1])

    def draw_ticks(self, xs, ys, unit=""):
        left, top, wide, high = self.box
        for x in xs:
            place, _ = self.position_of(x, self.y[0])
            self.drawing.line(place, top, place, top + high, "#dddddd")
            self.drawing.text(place, top + high + 16, f"{x:g}", 12, "middle", GREY)
        for y in ys:
            _, place = self.position_of(self.x[0], y)
            self.drawing.line(left, place, left + wide, place, "#dddddd")
            self.drawing.text(left - 8, place + 4, f"{y:,g}{unit}", 12, "end", GREY)

    def draw_series(self, points, colour, shape="circle"):
        places = [self.position_of(x, y) for x, y in points]
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        self.drawing.add("path", d=path, fill="none", stroke=colour, stroke_width=1.6)
        for x, y in places if shape else []:
            draw_mark(self.drawing, x, y, colour, shape)


def draw_mark(drawing, x, y, colour, shape):
    """A point of a series; its shape repeats what its colour says."""
    if shape == "circle":
        drawing.add("circle", cx=x, cy=y, r=3.6, fill=colour)
    elif shape == "square":
        drawing.rect(x - 3.4, y - 3.4, 6.8, 6.8, colour, "none")
    else:
        corners = {"triangle": ((0, -4.6), (4.6, 3.6), (-4.6, 3.6)), "diamond": ((0, -5), (5, 0), (0, 5), (-5, 0))}[shape]
        points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
        drawing.add("polygon", points=points, fill=colour)


def draw_legend(drawing, x, y, entries, step=20):
    """`entries`: (colour, shape or None, words)."""
    for k, (colour, shape, words) in enumerate(entries):
        middle = y + step * k + 7
        drawing.line(x - 4, middle, x + 16, middle, colour, stroke_width=1.6)
        if shape:
            draw_mark(drawing, x + 6, middle, colour, shape)
        drawing.text(x + 24, middle + 4, words, 12)


def draw_time_by_blocks():
    """Time against the number of blocks: a staircase, and the same work in one wave."""
    drawing = Drawing(760, 340, "Time goes in waves; a grid that strides has none")
    drawing.text(
        16, 24, "Blocks of the same work, one per multiprocessor at a time (measured, H200, 132 of them)", 14
    )
    axes = PlotAxes(drawing, (0, 540), (0, 140), (62, 44, 660, 244))
    axes.draw_ticks([132, 264, 396, 528], [0, 20, 40, 60, 80, 100, 120, 140])
    blocks, strided = occupancy.measured_wave_times()
    axes.draw_series([(b, 1e3 * ms) for b, ms in blocks], ORANGE)
    axes.draw_series([(b, 1e3 * ms) for b, ms in strided], BLUE, "square")
    drawing.text(66, 40, "µs", 12, fill=GREY)
    drawing.text(722, 326, "blocks' worth of work", 12, "end", GREY)
    draw_legend(drawing, 84, 60, [(ORANGE, "circle", "a block each"), (BLUE, "square", "132 blocks that stride over all of it")])
    return drawing


def draw_time_by_warps():
    """Time of chains of loads against the number of resident warps."""
    drawing = Drawing(760, 330, "Loads that wait for each other: twice the warps, half the time")
    drawing.text(16, 24, "Chains of loads, by warps per multiprocessor (measured, H200, log scales)", 14)
    axes = PlotAxes(drawing, (1, 64), (8, 512), (62, 44, 660, 234), (True, True))
    axes.draw_ticks([1, 2, 4, 8, 16, 32, 64], [8, 16, 32, 64, 128, 256, 512])
    ones = [(w, 1e3 * ms) for w, ms in tables.measured_times_by_warps("follow", starts="32 ")]
    more = [(w, 1e3 * ms) for w, ms in tables.measured_times_by_warps("follow", starts="256 ")]
    axes.draw_series([(w, ones[0][1] / w) for w in (1, 32)], "#bbbbbb", None)
    axes.draw_series(ones, BLUE)
    axes.draw_series(more, ORANGE, "square")
    drawing.text(66, 40, "µs", 12, fill=GREY)
    drawing.text(722, 316, "resident warps", 12, "end", GREY)
    draw_legend(drawing, 480, 60, [(BLUE, "circle", "blocks of 32"), (ORANGE, "square", "blocks of 256"), ("#bbbbbb", None, "half for twice")])
    return drawing


def draw_copy_bandwidth_by_warps():
    """Bandwidth of copies against warps, by bytes in flight."""
    drawing = Drawing(760, 340, "A copy needs bytes under way, not warps")
    drawing.text(16, 24, "Copy of 2^26 floats (measured, H200)", 14)
    axes = PlotAxes(drawing, (0, 64), (0, 4500), (62, 44, 540, 244))
    axes.draw_ticks([8, 16, 24, 32, 48, 64], [0, 1000, 2000, 3000, 4000])
    forms = [
        ("8 float4", GREEN, "triangle"), ("4 float4", SKY, "diamond"), ("1 float4", BLUE, "circle"), ("one float", ORANGE, "square"),
    ]  # fmt: skip
    for form, colour, shape in forms:
        points = tables.copy_times_by_warps_per_sm(form)
        axes.draw_series([(w, 8 * tables.LARGE_COPY / ms / 1e6) for w, ms in points], colour, shape)
    drawing.text(70, 40, "GB/s", 12, fill=GREY)
    drawing.text(602, 326, "warps that are launched per multiprocessor", 12, "end", GREY)
    drawing.text(616, 66, "in flight per thread", 12, fill=GREY)
    draw_legend(drawing, 616, 78, [(colour, shape, form.replace("one", "1")) for form, colour, shape in forms])
    return drawing


def draw_cache_hits_by_warps():
    """Time and L1 hits of rows against warps."""
    drawing = Drawing(760, 340, "More warps than L1 has room for: slower")
    drawing.text(16, 24, "match: four rows of 128 bytes per thread (measured, H200)", 14)
    hits = tables.l1_hit_rates("match")
    times = tables.measured_times_by_warps("match", n=132 * 2048, starts="128 ")
    for k, (title, points, y, colour) in enumerate(
        [
            ("time, µs", [(w, 1e3 * ms) for w, ms in times], (0, 600), RED),
            ("L1 hits, %", sorted((4 * int(shape.split()[-1]), value) for shape, value in hits.items()
                                  if shape.startswith("128 x 1 in")), (0, 100), BLUE),
        ]
    ):  # fmt: skip
        axes = PlotAxes(drawing, (0, 64), y, (56 + 370 * k, 60, 310, 226))
        axes.draw_ticks([4, 16, 32, 48, 64], [y[1] * part / 4 for part in range(5)])
        axes.draw_series(points, colour)
        drawing.text(56 + 370 * k, 50, title, 12, fill=INK)
        drawing.text(366 + 370 * k, 322, "resident warps", 12, "end", GREY)
    return drawing


FIGURES = {
    "occupancy/places.svg": draw_blocks_by_resource,
    "occupancy/waves.svg": draw_time_by_blocks,
    "occupancy/warps.svg": draw_time_by_warps,
    "occupancy/copies.svg": draw_copy_bandwidth_by_warps,
    "occupancy/cache.svg": draw_cache_hits_by_warps,
}
