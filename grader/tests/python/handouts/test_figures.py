import re

import pytest

from handouts.drawing import Drawing
from handouts.figures import FIGURES
from lab32.labs.coalescing import figures as coalescing


def test_patterns_touch_the_documented_sectors():
    expected = {"add1": 4, "add2": 5, "add3": 4, "add4": 1, "add5": 16}
    for name, (_, word_of) in coalescing.PATTERNS.items():
        words = [word_of(lane) for lane in range(32)]
        drawing = Drawing(100, 100, "")
        touched = coalescing.draw_warp(drawing, 0, 0, 100, words, max(words) // 8)
        assert len(touched) == expected[name]
        assert sum("<line" in part for part in drawing.parts) == 32


def test_text_is_escaped():
    drawing = Drawing(10, 10, "a < b")
    drawing.text(0, 0, "x[i] & y")
    assert "a &lt; b" in str(drawing) and "x[i] &amp; y" in str(drawing)


def numbers(part, *names):
    return [float(re.search(rf' {name}="([^"]*)"', part)[1]) for name in names]


@pytest.mark.parametrize("name", FIGURES)
def test_no_bar_or_line_leaves_the_picture(name):
    drawing = FIGURES[name]()
    for part in drawing.parts:
        if part.startswith("<rect"):
            x, y, width, height = numbers(part, "x", "y", "width", "height")
            assert 0 <= x <= x + width <= drawing.width, part
            assert 0 <= y <= y + height <= drawing.height, part
        if part.startswith("<line"):
            x1, y1, x2, y2 = numbers(part, "x1", "y1", "x2", "y2")
            assert 0 <= min(x1, x2) <= max(x1, x2) <= drawing.width, part
            assert 0 <= min(y1, y2) <= max(y1, y2) <= drawing.height, part
