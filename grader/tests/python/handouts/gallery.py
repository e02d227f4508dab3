"""Finds layout faults of a figure that its reader would see, in the same terms for drawings and for plots.

A figure is converted to a `Sheet`: texts with boxes, marks that texts must not cover, and coloured areas. Boxes
are in pixels of the size at which the figure is shown.
"""

import functools
import math
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from itertools import combinations

import matplotlib
from matplotlib.colors import to_rgb
from matplotlib.ft2font import FT2Font
from matplotlib.patches import Rectangle
from matplotlib.text import Text

WIDEST = 830  # width of a page's column in pixels, in JupyterLab and in handouts
SMALLEST = 9  # font size in pixels
CONTRAST = 4.5  # least contrast of text to its background (WCAG 2, AA)


@dataclass
class Word:
    text: str
    box: tuple  # left, top, right, bottom
    size: float
    colour: tuple = (0, 0, 0)
    behind: tuple = (1, 1, 1)


@dataclass
class Sheet:
    width: float
    height: float
    words: list
    marks: list = field(default_factory=list)  # boxes
    clipped: list = field(default_factory=list)  # descriptions of marks that leave their axes
    axes: list = field(default_factory=list)  # (title, label of the value axis)
    looks: list = field(default_factory=list)  # per key: [(name, colour, second cue)]
    widest: float = WIDEST  # width of its page in pixels


def faults(sheet):
    """A description of each fault."""
    scale = min(1, sheet.widest / sheet.width)
    found = [f"clipped: {what}" for what in sheet.clipped]
    for word in sheet.words:
        left, top, right, bottom = word.box
        if left < -1 or top < -1 or right > sheet.width + 1 or bottom > sheet.height + 1:
            found.append(f"“{word.text}” leaves the picture")
        if word.size * scale < SMALLEST:
            found.append(f"“{word.text}” is {word.size * scale:.1f} pixels high, {SMALLEST} are the least")
        if contrast(word.colour, word.behind) < CONTRAST:
            found.append(f"“{word.text}” is hard to read on what is behind it")
        found += [f"“{word.text}” covers a mark" for mark in sheet.marks if overlap(word.box, mark)]
    found += [f"“{a.text}” overlaps “{b.text}”" for a, b in overlapping(sheet.words)]
    found += [f"“{title}”: no unit on the axis" for title, label in sheet.axes if not label]
    for key in sheet.looks:
        for (a, colour_a, cue_a), (b, colour_b, cue_b) in combinations(key, 2):
            if cue_a == cue_b or colour_a == colour_b:
                found.append(f"{a} and {b} look alike without colour, or in it")
    return found


def overlap(a, b, give=1):
    """Whether two boxes share more than a pixel in both directions."""
    return (
        min(a[2], b[2]) - max(a[0], b[0]) > give and min(a[3], b[3]) - max(a[1], b[1]) > give
    )


def overlapping(words):
    """Pairs of words, from left to right."""
    words = sorted(words, key=lambda word: word.box[0])
    for n, a in enumerate(words):
        for b in words[n + 1 :]:
            if b.box[0] >= a.box[2]:
                break
            if overlap(a.box, b.box):
                yield a, b


def contrast(a, b):
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(rgb):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


# ---- plots ----------------------------------------------------------------------------------------


def of_plot(figure):
    """The Sheet of a figure of matplotlib, laid out but not painted."""
    drawn = []
    draw = Text.draw
    Text.draw = lambda text, renderer: (drawn.append(text), draw(text, renderer))[1]
    try:
        figure.draw_without_rendering()
    finally:
        Text.draw = draw
    width, height = figure.bbox.size
    per_point = figure.dpi / 72

    def box(extent):
        return extent.x0, height - extent.y1, extent.x1, height - extent.y0

    words = [
        Word(t.get_text().strip(), box(t.get_window_extent()), t.get_fontsize() * per_point,
             to_rgb(t.get_color()))
        for t in drawn
        if t.get_visible() and t.get_text().strip()
    ]  # fmt: skip
    sheet = Sheet(width, height, words)
    for axes in figure.axes:
        if not axes.axison:
            continue
        inside = box(axes.get_window_extent())
        sheet.axes.append((axes.get_title("left"), axes.get_xlabel()))
        for patch in axes.patches:
            if isinstance(patch, Rectangle):
                sheet.marks.append(box(patch.get_window_extent()))
        for points in axes.collections:
            half = max(points.get_sizes(), default=0) ** 0.5 / 2 * per_point
            wide = 2 if points.get_paths() and len(points.get_paths()[0].vertices) <= 2 else half
            for x, y in points.get_offset_transform().transform(points.get_offsets()):
                sheet.marks.append((x - wide, height - y - half, x + wide, height - y + half))
        for mark in sheet.marks:
            if mark[0] < inside[0] - 12 or mark[2] > inside[2] + 1:
                sheet.clipped.append(f"a mark of “{axes.get_title('left')}” leaves its axes")
        if axes.get_legend():
            sheet.looks.append([look(h) for h in axes.get_legend().legend_handles])
    return sheet


def look(handle):
    """The name, colour, and hatch or marker of an entry in a key."""
    if hasattr(handle, "get_hatch") and not handle.get_paths if hasattr(handle, "get_paths") else True:
        return handle.get_label(), tuple(handle.get_facecolor()), f"hatch {handle.get_hatch()}"
    shape = handle.get_paths()[0].vertices.round(3).tobytes() if handle.get_paths() else b""
    colours = [tuple(c) for c in (*handle.get_facecolor(), *handle.get_edgecolor())]
    return handle.get_label(), tuple(colours), shape


# ---- drawings -------------------------------------------------------------------------------------

SVG = "{http://www.w3.org/2000/svg}"
FONTS = matplotlib.get_data_path() + "/fonts/ttf/DejaVuSans{}.ttf"


@functools.cache
def font(style):
    loaded = FT2Font(FONTS.format(style))
    loaded.set_size(100, 72)
    return loaded


@functools.cache
def wide(text, style):
    """The width of a text at a size of 1 in DejaVu Sans; a Chinese character is as wide as it is high."""
    others = "".join(c for c in text if ord(c) < 0x2E80)
    loaded = font(style)
    loaded.set_text(others)
    return loaded.get_width_height()[0] / 64 / 100 + len(text) - len(others)


def of_drawing(text):
    """The Sheet of an SVG that consists of rect, text and groups, as `lab32.svg` and `lab32 explain` write it."""
    root = ElementTree.fromstring(text)
    width, height = map(float, root.get("viewBox").split()[2:])
    sheet = Sheet(width, height, [])
    areas = []  # [(box, colour)], later ones in front of earlier ones
    walk(root, {"fill": "#000000"}, (0, 0), sheet, areas)
    return sheet


def walk(node, inherited, at, sheet, areas):
    style = dict(part.split(":", 1) for part in node.get("style", "").split(";") if ":" in part)
    own = inherited | {k: v for k, v in (node.attrib | style).items() if k in INHERITED}
    turned = inherited.get("turned")
    if move := re.search(r"translate\(([-\d.]+)[ ,]+([-\d.]+)\)", node.get("transform", "")):
        at = at[0] + float(move[1]), at[1] + float(move[2])
    if turn := re.search(r"rotate\(([-\d.]+)", node.get("transform", "")):
        turned = float(turn[1])
    own["turned"] = turned
    if node.tag in (SVG + "defs", SVG + "title", SVG + "desc", SVG + "style"):
        return
    if node.tag == SVG + "rect":
        x, y, w, h = (number(node.get(k)) for k in ("x", "y", "width", "height"))
        if own["fill"] not in ("none", "transparent") and number(own.get("opacity", 1)) > 0.3:
            areas.append(((at[0] + x, at[1] + y, at[0] + x + w, at[1] + y + h), rgb(own["fill"])))
    if node.tag == SVG + "text":
        sheet.words.append(word(node, own, at, areas))
    for child in node:
        walk(child, own, at, sheet, areas)


INHERITED = {"fill", "font-size", "font-weight", "font-family", "text-anchor", "opacity"}


def number(value):
    return float(re.match(r"-?[\d.]+", str(value or 0))[0])


def rgb(colour):
    return to_rgb(colour)


def word(node, own, at, areas):
    text = "".join(node.itertext()).strip()
    size = number(own.get("font-size", 16))
    mono = "mono" in own.get("font-family", "").lower()
    bold = own.get("font-weight", "") in ("bold", "600", "700")
    length = size * wide(text, ("Mono" if mono else "") + ("-Bold" if bold else ""))
    x, y = at[0] + number(node.get("x")), at[1] + number(node.get("y"))
    left = x - length * {"start": 0, "middle": 0.5, "end": 1}[own.get("text-anchor", "start")]
    # Capitals and digits reach from the base line up to three quarters of the size.
    box = (left, y - 0.73 * size, left + length, y)
    if own["turned"]:  # rotated by 90 degrees about its own anchor
        box = (x - 0.73 * size, y - (left + length - x), x, y - (left - x))
        if own["turned"] > 0:
            box = (x, y + left - x, x + 0.73 * size, y + left + length - x)
    middle = ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
    behind = (1, 1, 1)
    for (x0, y0, x1, y1), colour in areas:
        if x0 <= middle[0] <= x1 and y0 <= middle[1] <= y1:
            behind = colour
    return Word(text, box, size, rgb(own["fill"]), behind)


# ---- pictures of the report -----------------------------------------------------------------------


def of_picture(picture, colours):
    """The Sheet of a Canvas with one of its colour sets. The report shows it at its own size and lets it scroll."""
    sheet = Sheet(picture.width, picture.height, [], widest=math.inf)
    areas = []

    def fill(kinds, opacity=1):
        name = next((kind for kind in kinds if kind in ("unused", "good", "warn", "bad")), None)
        paper = rgb(colours["paper"])
        if name is None:
            return paper
        return tuple(opacity * a + (1 - opacity) * b for a, b in zip(rgb(colours[name]), paper))

    for tag, a, words in picture.shapes:
        kinds = a["class_"].split()
        if tag == "rect":
            box = a["x"], a["y"], a["x"] + a["width"], a["y"] + a["height"]
            areas.append((box, fill(kinds, a.get("fill_opacity", 1))))
        elif tag == "cells":
            for x, y in a["places"]:
                areas.append(((x, y, x + a["width"], y + a["height"]), fill(kinds)))
        elif tag == "text":
            ink = {"soft": colours["soft"], "inv": colours["ongood"], "invdark": "#000000"}
            node = ElementTree.Element(SVG + "text", x=str(a["x"]), y=str(a["y"]))
            node.text = words
            look = {
                "fill": next((ink[kind] for kind in kinds if kind in ink), colours["ink"]),
                "font-size": a["font_size"], "text-anchor": a["text_anchor"], "turned": None,
                "font-family": "mono" if "mono" in kinds else "", "font-weight": a.get("font_weight", ""),
            }  # fmt: skip
            sheet.words.append(word(node, look, (0, 0), [((0, 0, sheet.width, sheet.height), rgb(colours["paper"])), *areas]))
    return sheet
