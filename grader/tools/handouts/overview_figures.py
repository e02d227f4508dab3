"""The picture of the README: what happens to a submission."""

from handouts.drawing import BLUE, GREEN, GREY, INK, ORANGE, PAPER, PINK, Drawing
from lab32.labs.coalescing.figures import draw_warp


def draw_grading_pipeline():
    drawing = Drawing(900, 300, "From a student's file to a score, without a GPU")
    boxes = [
        ("coalescing.cu", "device code only", GREY),
        ("nvcc, sandboxed", "PTX and cubin", PINK),
        ("simulator", "warp by warp", GREEN),
        ("counters", "requests, sectors", BLUE),
        ("doctest", "checks and points", ORANGE),
    ]
    for k, (name, note, colour) in enumerate(boxes):
        x = 16 + 178 * k
        ink = PAPER if colour in (GREY, BLUE) else INK
        drawing.rect(x, 20, 146, 58, colour, "none", rx=6)
        drawing.text(x + 73, 46, name, 14, "middle", ink, font_weight="bold")
        drawing.text(x + 73, 65, note, 11, "middle", ink)
        if k + 1 < len(boxes):
            drawing.arrow(x + 149, 49, x + 175, 49)
    drawing.text(16, 122, "z[i] = x[i]: a warp of 32 lanes reads 4 sectors of 32 bytes", 14)
    draw_warp(drawing, 16, 132, 420, list(range(32)), 15)
    drawing.text(464, 122, "z[4 * i] = x[4 * i]: the same 128 bytes cost 16", 14)
    draw_warp(drawing, 464, 132, 420, [4 * lane for lane in range(32)], 15)
    drawing.text(16, 250, "The counters equal Nsight Compute's, number for number;", 13, fill=INK)
    drawing.text(
        16,
        270,
        "so the left one earns the points and the right one is told which line lost them.",
        13,
    )
    return drawing


FIGURES = {"overview.svg": draw_grading_pipeline}
