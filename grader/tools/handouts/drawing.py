"""Draws the handouts' figures as SVG with lab32.pictures.canvas, as the same text on every machine, so that a test
detects outdated figures. Words are given in English and drawn in the current language (translation.py)."""

import math
from html import escape

from handouts.translation import translate
from lab32.pictures.canvas import (  # noqa: F401 (the drawings take BLUE from here)
    BLUE,
    GREEN,
    INK,
    ORANGE,
    PINK,
    RED,
    SKY,
    svg_element,
    trimmed_two_decimal_text,
)

# Darker variants for words on white, with a contrast of at least 4.5.
DARK = {GREEN: "#00694d", ORANGE: "#8a5f00", RED: "#a84a00", PINK: "#9c3f74", SKY: "#1f6f9f"}
# Paler variants, for areas that a word or a number names as well.
TINTS = CREAM, STRAW, LILAC, SALMON = "#fbe3b0", "#e8d44d", "#9fb4e8", "#e8a48c"
GREY, PALE, PAPER = "#767676", "#eeeeee", "#ffffff"
SANS = "DejaVu Sans, Verdana, Noto Sans CJK SC, PingFang SC, Microsoft YaHei, sans-serif"
MONO = "DejaVu Sans Mono, Consolas, monospace"


class Drawing:
    """Collects shapes; `str()` is the file. Coordinates are pixels, y grows downwards."""

    def __init__(self, width, height, title):
        self.width, self.height, self.title = width, height, translate(title)
        self.parts = []

    def add(self, tag, words=None, **attributes):
        self.parts.append(svg_element(tag, attributes, words))

    def rect(self, x, y, width, height, fill=PAPER, stroke=INK, **more):
        self.add("rect", x=x, y=y, width=width, height=height, fill=fill, stroke=stroke, **more)

    def line(self, x1, y1, x2, y2, stroke=INK, **more):
        self.add("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=stroke, **more)

    def text(self, x, y, words, size=13, anchor="start", fill=INK, **more):
        self.add("text", translate(words), x=x, y=y, font_size=size, text_anchor=anchor, fill=fill, **more)

    def code(self, x, y, text, size=12, anchor="start", fill=INK, **more):
        """Text that is the same in every language."""
        self.add(
            "text", text, x=x, y=y, font_size=size, text_anchor=anchor, fill=fill,
            font_family=MONO, **more,
        )  # fmt: skip

    def arrow(self, x1, y1, x2, y2, stroke=INK, **more):
        """The arrow's head is a shape of its own, because some programs print SVG markers wrongly."""
        length = math.hypot(x2 - x1, y2 - y1)
        dx, dy = (x2 - x1) / length, (y2 - y1) / length
        base = x2 - 7 * dx, y2 - 7 * dy
        self.line(x1, y1, *base, stroke, **more)
        corners = (x2, y2), (base[0] - 3.5 * dy, base[1] + 3.5 * dx), (base[0] + 3.5 * dy, base[1] - 3.5 * dx)
        self.add("path", d="M" + "L".join(f"{trimmed_two_decimal_text(x)} {trimmed_two_decimal_text(y)}" for x, y in corners) + "z", fill=INK)

    def __str__(self):
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
                f'width="{self.width}" height="{self.height}" role="img" '
                f'font-family="{SANS}">',
                f"<title>{escape(self.title, quote=False)}</title>",
                f'<rect width="{self.width}" height="{self.height}" fill="{PAPER}"/>',
                *self.parts,
                "</svg>\n",
            ]
        )
