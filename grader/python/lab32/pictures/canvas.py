"""A picture whose colours follow the page: light, dark or printed. Every colour has a second cue.

The text of a picture is the same on every machine, so that a test can detect changes. A picture in a file of
its own includes its style; a picture inside a page uses the page's style.
"""

from html import escape
from itertools import groupby

# Okabe and Ito's colours, which colour-blind readers can tell apart; text is darker, and lighter on dark pages.
BLUE, SKY, GREEN, ORANGE, RED, PINK = (
    "#0072B2", "#56B4E9", "#009E73", "#E69F00", "#D55E00", "#CC79A7",
)  # fmt: skip
INK = "#222222"
LIGHT = dict(ink="#222", soft="#595959", paper="#fff", unused="#d9d9d9", edge="#8a8a8a", good="#0072b2", warn="#e69f00", bad="#d55e00", ongood="#fff")  # fmt: skip
DARK = dict(ink="#eee", soft="#b8b8b8", paper="#1b1d21", unused="#43464d", edge="#8a8f98", good="#56b4e9", warn="#e69f00", bad="#ff8c42", ongood="#000")  # fmt: skip
COLOURS = LIGHT


def css_variables(colours):
    return "{" + ";".join(f"--{name}:{colour}" for name, colour in colours.items()) + "}"


STYLE = (
    f"""
.pic{css_variables(LIGHT)}
@media (prefers-color-scheme:dark){{.pic{css_variables(DARK)}}}
@media print{{.pic{css_variables(LIGHT)}}}
"""
    + """.pic{fill:var(--ink);font-family:"DejaVu Sans",Verdana,sans-serif}
.pic .soft{fill:var(--soft)}.pic .mono{font-family:"DejaVu Sans Mono",Consolas,monospace}
.pic .cell{stroke:var(--edge);stroke-width:.6}
.pic .unused{fill:var(--unused)}.pic .bare{fill:none}
.pic .idle{fill:none;stroke:var(--edge);stroke-dasharray:2 1.5}
.pic .good{fill:var(--good)}.pic .warn{fill:var(--warn)}.pic .bad{fill:var(--bad)}
.pic .way{fill:none;stroke:var(--soft)}
.pic .way.good{stroke:var(--good)}.pic .way.warn{stroke:var(--warn)}.pic .way.bad{stroke:var(--bad)}
.pic .head{fill:var(--soft)}.pic .head.bad{fill:var(--bad)}
.pic .inv{fill:var(--ongood)}.pic .invdark{fill:#000}
"""
)


class Canvas:
    """Collects shapes; `str()` is an SVG file. `alt_text` describes the picture in words, for screen readers."""

    def __init__(self, width, height, title, alt_text):
        self.width, self.height, self.title, self.alt_text = width, height, title, alt_text
        self.shapes = []  # (tag, attributes, words); png.py draws them, too
        self.terminal = ()  # (line above, [(label, part of a full bar, words)], line below); of bars only

    def add_shape(self, tag, words=None, **attributes):
        self.shapes.append((tag, attributes, words))

    def rect(self, x, y, width, height, kind, tooltip=None, **more):
        self.add_shape("rect", tooltip, x=x, y=y, width=width, height=height, class_=kind, **more)

    def equal_rects(self, places, width, height, kind):
        """Many rects of one size and kind at [(x, y)], in a tenth of the text that rect() takes."""
        if places:
            self.add_shape("cells", places=list(places), width=width, height=height, class_=kind)

    def line(self, x1, y1, x2, y2, kind="", **more):
        self.add_shape("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind, **more)

    def circle(self, x, y, radius, kind):
        self.add_shape("circle", cx=x, cy=y, r=radius, class_=kind)

    def polygon(self, points, kind):
        self.add_shape(
            "polygon", points=" ".join(f"{trimmed_two_decimal_text(x)},{trimmed_two_decimal_text(y)}" for x, y in points), class_=kind
        )

    def text(self, x, y, words, size=12, anchor="start", kind="", **more):
        self.add_shape(
            "text", str(words), x=x, y=y, font_size=size, text_anchor=anchor, class_=kind, **more
        )

    def svg_shapes(self):
        """The shapes as short SVG text: neighbours of one look share a group. Text comes last, so that nothing covers it."""
        words = [shape for shape in self.shapes if shape[0] == "text"]
        others = [shape for shape in self.shapes if shape[0] != "text"]
        return "".join(
            svg_shapes_sharing_look(dict(look), list(members))
            for look, members in groupby([*others, *sorted(words, key=svg_look_of_shape)], key=svg_look_of_shape)
        )

    def inline_svg(self, name="", same="", captioned=False):
        """The SVG for a page that already has STYLE. `name`: the drawing's id on the page; `same`: the id of an identical
        drawing to reuse; `captioned`: a caption has the same words, so that screen readers skip the alternative text."""
        title = escape(self.title if captioned else self.title + ". " + self.alt_text)
        marks = f'<use href="#{same}"/>' if same else self.svg_shapes()
        return (
            f'<svg class="pic" xmlns="http://www.w3.org/2000/svg" role="img" '
            f'viewBox="0 0 {trimmed_two_decimal_text(self.width)} {trimmed_two_decimal_text(self.height)}" '
            f'width="{trimmed_two_decimal_text(self.width)}" height="{trimmed_two_decimal_text(self.height)}" '
            # Screen readers must not read out every number inside.
            + f'aria-label="{title}"><g aria-hidden="true"'
            # A reused drawing does not inherit the class of its first place, so it has the class itself.
            + (f' id="{name}" class="pic">' if name else ">")
            + f"{marks}</g></svg>"
        )

    def __str__(self):
        """A file of its own: light, on white, and simple enough for any program that shows SVG."""
        words = escape(self.title, quote=False), escape(self.alt_text, quote=False)
        style = STYLE[STYLE.index(".pic{fill") :]
        for name, colour in COLOURS.items():
            style = style.replace(f"var(--{name})", colour)
        head, rest = self.inline_svg().split(">", 1)
        return (
            f"{head}><title>{words[0]}</title><desc>{words[1]}</desc><style>{style}</style>"
            f'<rect width="100%" height="100%" fill="#fff"/>{rest}\n'
        )


def trimmed_two_decimal_text(value):
    return f"{value:.2f}".rstrip("0").rstrip(".")


# The attributes that belong to each shape itself rather than to its look.
OWN = {
    "rect": ("x", "y", "width", "height", "rx"), "cells": ("places", "width", "height"), "circle": ("cx", "cy", "r"),
    "line": ("x1", "y1", "x2", "y2"), "polygon": ("points",), "text": ("x", "y"),
}  # fmt: skip
ALSO = {"line": "way", "polygon": "head"}  # the class that all shapes of a tag have


def svg_look_of_shape(shape):
    tag, attributes, _ = shape
    more = {key: v for key, v in attributes.items() if key not in OWN[tag] and key != "class_"}
    if more.get("text_anchor") == "start":
        del more["text_anchor"]
    kind = f"{ALSO.get(tag, '')} {attributes['class_']}".strip()
    return ("tag", tag), ("class_", kind), *more.items()


def svg_attributes_text(attributes):
    return "".join(
        f' {key.strip("_").replace("_", "-")}="{trimmed_two_decimal_text(v) if isinstance(v, int | float) else escape(v)}"'
        for key, v in attributes.items()
        if v != ""
    )


def svg_shapes_sharing_look(look, members):
    """Shapes of one look. Lines and cells become one path; other shapes inherit the look from a group."""
    tag = look.pop("tag")
    if tag in ("line", "cells"):
        draw = svg_line_segment_path if tag == "line" else svg_squares_path
        return f'<path{svg_attributes_text(look)} d="{"".join(draw(a) for _, a, _ in members)}"/>'
    alone = len(members) == 1
    text = "".join(
        svg_element(tag, {key: a[key] for key in OWN[tag] if key in a} | (look if alone else {}), words)
        for _, a, words in members
    )
    return text if alone else f"<g{svg_attributes_text(look)}>{text}</g>"


def svg_line_segment_path(a):
    return f"M{trimmed_two_decimal_text(a['x1'])} {trimmed_two_decimal_text(a['y1'])}L{trimmed_two_decimal_text(a['x2'])} {trimmed_two_decimal_text(a['y2'])}"


def svg_squares_path(a):
    w, h = trimmed_two_decimal_text(a["width"]), trimmed_two_decimal_text(a["height"])
    text, left, top = "", None, None
    for x, y in a["places"]:
        text += f"m{trimmed_two_decimal_text(x - left)} 0" if y == top else f"M{trimmed_two_decimal_text(x)} {trimmed_two_decimal_text(y)}"
        text += f"h{w}v{h}h-{w}z"
        left, top = x, y
    return text


def svg_element(tag, attributes, text_or_title):
    if tag == "rect" and text_or_title and "rx" not in attributes:
        places = [(attributes.pop("x"), attributes.pop("y"))]
        size = {name: attributes.pop(name) for name in ("width", "height")}
        tag, attributes = "path", {"d": svg_squares_path(size | {"places": places}), **attributes}
    if text_or_title is None:
        return f"<{tag}{svg_attributes_text(attributes)}/>"
    words = escape(text_or_title, quote=False)
    words = words if tag == "text" else f"<title>{words}</title>"
    return f"<{tag}{svg_attributes_text(attributes)}>{words}</{tag}>"


ACROSS = 112  # characters of code that fit across a picture


def truncate_to_characters(words, most):
    """`words`, cut to at most `most` characters."""
    return words if len(words) <= most else words[: most - 1] + "…"


def with_thousands_separators(value):
    return f"{value:,}"


def decimal_byte_size_text(count):
    """Bytes in a readable unit."""
    for least, unit in ((1e9, "GB"), (1e6, "MB"), (1e4, "kB")):
        if count >= least:
            return f"{count / (1e3 if unit == 'kB' else least):.1f} {unit}"
    return f"{count:,} B"
