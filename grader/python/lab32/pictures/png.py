"""Renders a picture as PNG at twice its size in pixels, for documents that cannot contain SVG."""

import io
from pathlib import Path

from lab32.pictures.canvas import COLOURS

SCALE = 2


def rgb_of_colour_name(name):
    code = COLOURS[name].lstrip("#")
    return tuple(int(c * 2, 16) for c in code) if len(code) == 3 else tuple(bytes.fromhex(code))


def rgb_blended_with_white(name, opacity):
    return tuple(round(opacity * c + (1 - opacity) * 255) for c in rgb_of_colour_name(name))


def fill_rgb_of_css_classes(kinds, opacity=1):
    for kind in ("good", "warn", "bad", "unused"):
        if kind in kinds:
            return rgb_blended_with_white(kind, opacity)
    return None


def dash_segments(x1, y1, x2, y2, pattern):
    """The visible segments of a dashed line."""
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    at, on = 0.0, True
    while at < length:
        step = min(pattern[0 if on else 1], length - at)
        if on:
            a, b = at / length, (at + step) / length
            yield x1 + a * (x2 - x1), y1 + a * (y2 - y1), x1 + b * (x2 - x1), y1 + b * (y2 - y1)
        at, on = at + step, not on


def png_bytes(picture):
    """The bytes of the PNG file."""
    import matplotlib
    from PIL import Image, ImageDraw, ImageFont

    fonts = Path(matplotlib.get_data_path()) / "fonts/ttf"
    image = Image.new("RGB", (round(SCALE * picture.width), round(SCALE * picture.height)), "white")
    draw = ImageDraw.Draw(image, "RGBA")  # RGBA: translucent lines show the shapes below them

    def scaled_up(*values):
        return [SCALE * v for v in values]

    def rasterize_svg_line(a, kinds):
        name = next((kind for kind in kinds if kind in ("good", "warn", "bad")), "soft")
        ink = (*rgb_of_colour_name(name), round(255 * a.get("stroke_opacity", 1)))
        width = max(1, round(SCALE * a.get("stroke_width", 1)))
        ends = a["x1"], a["y1"], a["x2"], a["y2"]
        pattern = [float(v) for v in a.get("stroke_dasharray", "").split()]
        for piece in dash_segments(*ends, pattern) if pattern else [ends]:
            draw.line(scaled_up(*piece), ink, width)

    def draw_svg_rect(a, kinds):
        box = scaled_up(a["x"], a["y"], a["x"] + a["width"], a["y"] + a["height"])
        if box[2] <= box[0] or box[3] <= box[1]:
            return
        if "idle" in kinds:  # hollow and dashed, because the thing does not exist
            x1, y1, x2, y2 = a["x"], a["y"], a["x"] + a["width"], a["y"] + a["height"]
            for side in ((x1, y1, x2, y1), (x2, y1, x2, y2), (x2, y2, x1, y2), (x1, y2, x1, y1)):
                for piece in dash_segments(*side, (2, 1.5)):
                    draw.line(scaled_up(*piece), rgb_of_colour_name("edge"), 1)
            return
        edge = rgb_of_colour_name("edge") if "cell" in kinds else None
        fill = fill_rgb_of_css_classes(kinds, a.get("fill_opacity", 1))
        draw.rounded_rectangle(box, SCALE * a.get("rx", 0), fill, edge)

    def rasterize_svg_text(a, kinds, words):
        face = "DejaVuSansMono" if "mono" in kinds else "DejaVuSans"
        bold = "-Bold" if a.get("font_weight") == "bold" else ""
        font = ImageFont.truetype(fonts / f"{face}{bold}.ttf", SCALE * a["font_size"])
        ink = {"soft": rgb_of_colour_name("soft"), "inv": rgb_of_colour_name("ongood"), "invdark": (0, 0, 0)}
        fill = next((ink[kind] for kind in kinds if kind in ink), rgb_of_colour_name("ink"))
        anchor = {"start": "ls", "middle": "ms", "end": "rs"}[a["text_anchor"]]
        draw.text(scaled_up(a["x"], a["y"]), words, fill, font, anchor)

    for tag, a, words in picture.shapes:
        kinds = a["class_"].split()
        if tag == "line":
            rasterize_svg_line(a, kinds)
        elif tag == "rect":
            draw_svg_rect(a, kinds)
        elif tag == "cells":
            for x, y in a["places"]:
                draw_svg_rect(dict(x=x, y=y, width=a["width"], height=a["height"]), kinds)
        elif tag == "text":
            rasterize_svg_text(a, kinds, words)
        elif tag == "circle":
            x, y, r = a["cx"], a["cy"], a["r"]
            draw.ellipse(scaled_up(x - r, y - r, x + r, y + r), fill_rgb_of_css_classes(kinds))
        elif tag == "polygon":
            points = [tuple(scaled_up(*map(float, p.split(",")))) for p in a["points"].split()]
            draw.polygon(points, fill_rgb_of_css_classes(kinds) or rgb_of_colour_name("soft"))
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue()
