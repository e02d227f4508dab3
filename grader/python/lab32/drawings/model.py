"""The picture of handouts/model.md: modelled against measured time."""

import math

from lab32 import model
from lab32.svg import BLUE, GREEN, GREY, INK, ORANGE, Drawing

LEAST, MOST = 1.0, 10000.0  # microseconds, both axes
SIZE = 420
COLOURS = {"fit": ORANGE, "test": BLUE, "labs": GREEN}


def place(us):
    return SIZE * math.log(us / LEAST) / math.log(MOST / LEAST)


def dot(drawing, x, y, radius, colour, **more):
    drawing.add("circle", cx=x, cy=y, r=radius, fill=colour, **more)


def scatter():
    drawing = Drawing(600, 500, "Modelled against measured times of launches on an H200")
    left, bottom = 70, 450

    def point(x, y):
        return left + place(x), bottom - place(y)

    for us in (1, 10, 100, 1000, 10000):
        x, y = point(us, us)
        drawing.line(x, bottom, x, bottom - SIZE, GREY, stroke_width=0.5)
        drawing.line(left, y, left + SIZE, y, GREY, stroke_width=0.5)
        drawing.text(x, bottom + 18, f"{us:,}", 11, "middle")
        drawing.text(left - 8, y + 4, f"{us:,}", 11, "end")
    # The diagonal, and a quarter more or less.
    for factor, width in ((1, 1.5), (1.25, 0.7), (0.8, 0.7)):
        low, high = max(LEAST, LEAST / factor), min(MOST, MOST / factor)
        drawing.line(*point(low, low * factor), *point(high, high * factor), INK, stroke_width=width)
    for launch in model.launches():
        x, y = point(launch["measured"], launch["modelled"])
        dot(drawing, x, y, 2.6, COLOURS[launch["set"]], fill_opacity=0.6)
    drawing.text(left + SIZE / 2, 488, "measured, µs", 12, "middle")
    drawing.text(14, 24, "modelled, µs", 12)
    for k, (name, title) in enumerate(model.SETS.items()):
        dot(drawing, left + SIZE + 20, 60 + 20 * k, 4, COLOURS[name])
        drawing.text(left + SIZE + 30, 64 + 20 * k, title, 12)
    drawing.text(left + SIZE + 12, 128, "thin: ± a quarter", 11)
    return drawing


FIGURES = {"model-scatter.svg": scatter}
