"""The pictures of handouts/model.md: what limits six kernels; modelled against measured time."""

import math

from handouts import model_tables as model
from handouts.drawing import BLUE, GREEN, GREY, INK, ORANGE, PAPER, SKY, Drawing
from lab32 import lab_times

# (lab, kernel, name in the picture)
KERNELS = [
    ("coalescing", "scale (given)", "scale, as given"),
    ("coalescing", "scale", "scale, solution"),
    ("bank_conflicts", "row_scan (given)", "row_scan, as given"),
    ("bank_conflicts", "row_scan", "row_scan, solution"),
    ("bank_conflicts", "spectrum (given)", "spectrum, as given"),
    ("bank_conflicts", "spectrum", "spectrum, solution"),
]


def draw_bottlenecks():
    """The bottleneck and runner-up of six kernels, as shares of the measured time."""
    row, left, scale, top = 58, 160, 420, 66
    bottom = top + row * len(KERNELS)
    drawing = Drawing(760, bottom + 74, "Bottleneck, runner-up and measured time of six kernels")
    drawing.text(16, 26, "What each limit alone would take, in times of what an H200 took", 15)
    for tick in range(6):
        x = left + scale * tick / 4
        drawing.line(x, top - 12, x, bottom, "#dddddd")
        drawing.text(x, bottom + 18, f"{tick / 4:g}", 12, "middle", GREY)
    drawing.line(left + scale, top - 12, left + scale, bottom, INK, stroke_width=1.6)
    drawing.text(left + scale, top - 18, "measured", 12, "middle")
    for k, (lab, name, words) in enumerate(KERNELS):
        launch = lab_times.largest_launches(lab)[name]
        took, y = float(launch["cold_us"]), top + row * k
        drawing.text(left - 10, y + 28, words, 13, "end")
        for part, fill, ink in (("bottleneck", BLUE, PAPER), ("runner_up", SKY, INK)):
            length = float(launch[f"{part}_us"]) / took * scale
            drawing.rect(left, y, length, 20, fill, "none")
            drawing.text(left + 8, y + 15, launch[part], 12, fill=ink)
            y += 22
        modelled = left + scale * float(launch["modelled_us"]) / took
        drawing.line(modelled, y - 46, modelled, y, ORANGE, stroke_width=3, stroke_dasharray="6 3")
    drawing.rect(left, bottom + 34, 16, 14, BLUE, "none")
    drawing.text(left + 22, bottom + 46, "bottleneck", 12)
    drawing.rect(left + 130, bottom + 34, 16, 14, SKY, "none")
    drawing.text(left + 152, bottom + 46, "runner-up", 12)
    drawing.line(left + 252, bottom + 41, left + 278, bottom + 41, ORANGE, stroke_width=3,
                 stroke_dasharray="6 3")  # fmt: skip
    drawing.text(left + 286, bottom + 46, "modelled: all limits together", 12)
    return drawing


LEAST, MOST = 1.0, 10000.0  # microseconds on the axis
WIDE, OCTAVE = 500, 124
LOWEST, HIGHEST = 0.42, 2  # modelled / measured on the axis
# Each set has a marker shape of its own, so that colour is not the only cue.
MARKS = {"fit": ("square", ORANGE), "labs": ("triangle", GREEN), "apart": ("circle", BLUE)}


def draw_mark(drawing, x, y, size, shape, colour):
    outline = dict(fill="none", stroke=colour, stroke_width=1)
    if shape == "circle":
        drawing.add("circle", cx=x, cy=y, r=size, **outline)
    elif shape == "square":
        drawing.rect(x - size, y - size, 2 * size, 2 * size, "none", colour, stroke_width=1)
    else:
        corners = (
            f"{x:.2f},{y - size:.2f} {x - size:.2f},{y + size:.2f} {x + size:.2f},{y + size:.2f}"
        )
        drawing.add("polygon", points=corners, **outline)


def draw_modelled_over_measured():
    high = OCTAVE * math.log2(HIGHEST / LOWEST)
    left, bottom = 74, 44 + high
    drawing = Drawing(760, math.ceil(bottom + 56), "Modelled over measured times of launches on an H200")

    def plot_position(us, ratio):
        assert LOWEST <= ratio <= HIGHEST, "the plot has no room for a launch"
        x = left + WIDE * math.log(us / LEAST) / math.log(MOST / LEAST)
        return x, bottom - OCTAVE * math.log2(ratio / LOWEST)

    for us in (1, 10, 100, 1000, 10000):
        x, _ = plot_position(us, 1)
        drawing.line(x, bottom, x, bottom - high, "#dddddd")
        drawing.text(x, bottom + 20, f"{us:,}", 12, "middle")
    for ratio, dashes in (
        (0.5, "none"),
        (0.8, "6 4"),
        (1, "none"),
        (1.25, "6 4"),
        (2, "none"),
    ):
        _, y = plot_position(1, ratio)
        drawing.line(left, y, left + WIDE, y, GREY if ratio in (0.5, 2) else INK,
                     stroke_dasharray=dashes)  # fmt: skip
        drawing.text(left - 8, y + 4, f"{ratio:g}", 12, "end")
    for launch in model.modelled_launches():
        x, y = plot_position(launch["measured"], launch["modelled"] / launch["measured"])
        draw_mark(drawing, x, y, 3, *MARKS[launch["set"]])
    drawing.text(left + WIDE, bottom + 44, "measured, µs", 13, "end")
    drawing.text(16, 28, "modelled over measured", 13)
    x = left + WIDE + 28
    for k, (name, title) in enumerate(model.SETS.items()):
        draw_mark(drawing, x, 60 + 24 * k, 5, *MARKS[name])
        drawing.text(x + 14, 64 + 24 * k, title, 13)
    drawing.line(x - 8, 146, x + 10, 146, INK, stroke_dasharray="6 4")
    drawing.text(x + 18, 150, "a quarter off", 13)
    return drawing


FIGURES = {"model/limits.svg": draw_bottlenecks, "model/scatter.svg": draw_modelled_over_measured}
