"""Draws bar charts for the notebooks. Every series names its source.

A bar's length is its value, so it starts at zero. A logarithmic axis has no zero: there, ratios start at 1,
with losses pointing left, and other values are points.
"""

import math
from itertools import groupby

import matplotlib.pyplot as plt
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator
from matplotlib.transforms import ScaledTranslation

from lab32.pictures.canvas import BLUE, GREEN, INK, ORANGE, PINK

# Colour shows the source. Hatch and marker repeat that for print and for colour-blind readers, and tell
# series of one source apart.
KINDS = {
    "documented": dict(color=ORANGE, hatches=["//", "//--"], markers="^<>"),
    "measured": dict(color=BLUE, hatches=["", "xx", "||", "OO"], markers="sPX*"),
    "modelled": dict(color=PINK, hatches=["\\\\", "\\\\--"], markers="Dd"),
    "simulated": dict(color=GREEN, hatches=["..", "++", "oo"], markers="oph"),
}
STRENGTHS = [1.0, 0.55, 0.3, 0.75]  # opacity of the first, second ... series of one source
SCALES = {
    "linear": "",
    "ratio": "logarithmic; bars start at 1",
    "points": "logarithmic",
}
DIM, LINES = "#595959", "#dddddd"
SMALL = 8.5  # points: 11.8 pixels at 100 dots per inch


def readable_number(value):
    """Rounded for people: 1,210 rather than 1.21e+03, and three significant digits below 1000."""
    if value == 0:
        return "0"
    size = abs(value)
    if size < 0.001:
        power = math.floor(math.log10(size) + 1e-9)
        digits = f"{value / 10**power:.2g}×".removeprefix("1×")
        return f"{digits}10{str(power).translate(SUPERSCRIPT)}"
    if size >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if size < 100 else f"{value:.0f}"


def bar_number_text(value, values):
    """The value with three significant digits, including 3.00; without decimals if all values are whole."""
    if all(v == int(v) for v in values) or not 0.001 <= abs(value) < 100:
        return readable_number(value)
    return f"{value:#.3g}"


SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def series_source(name):
    """`simulated: yours` -> `simulated`."""
    return name.split(":")[0]


def series_styles(names):
    """{name: (colour, hatch, marker)}; a series keeps its look, whichever other series there are."""
    unknown = [name for name in names if series_source(name) not in KINDS]
    if unknown:
        raise ValueError(f"a series must be {', '.join(KINDS)}; not {', '.join(unknown)}")
    found = {}
    for kind, alike in groupby(sorted(names, key=series_source), key=series_source):
        for k, name in enumerate(sorted(alike, key=list(names).index)):
            strength, look = STRENGTHS[k], KINDS[kind]
            rgb = [int(look["color"][i : i + 2], 16) / 255 for i in (1, 3, 5)]
            found[name] = dict(
                color=tuple(1 - strength * (1 - c) for c in rgb),
                hatch=look["hatches"][k],
                marker=look["markers"][k],
            )
    return found


def log_ticks(low, high, most=7):
    """Round numbers for a logarithmic axis, at most `most` of them."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ([1, 2, 5], [1, 3], [1]):
        found = [s * 10.0**d for d in decades for s in steps if low <= s * 10.0**d <= high]
        if len(found) <= most:
            return found
    return found[:: math.ceil(len(found) / most)]


def bars(labels, series, title, unit, axes=None, *, scale="linear", limit=None, expected=None):
    """Groups of bars. `series` maps a source, "simulated: yours" or "documented", to {label: value}.

    A label that a series lacks gets no bar, and the note "not counted" if the series is the student's own.
    `limit` and `expected` (the student's predictions, or None) are marks on the rows. Without any data, the
    figure says so.
    """
    if scale not in SCALES:
        raise ValueError(f"scale must be {', '.join(SCALES)}; not {scale}")
    look = series_styles(series)
    limit = limit or {}
    expected = {k: v for k, v in (expected or {}).items() if v is not None}
    if not any(label in values for values in series.values() for label in labels):
        return draw_placeholder_figure(title, axes)
    if axes is None:
        _, axes = plt.subplots(figsize=(8, figure_height(labels, series, bool(limit) + bool(expected))), layout="constrained")
    there = [v[k] for v in [*series.values(), limit, expected] for k in labels if k in v]
    start = set_value_axis(axes, there, scale, 1.26 if limit else 1.16)
    drawn = {name: values for name, values in series.items() if values}
    thick = 0.8 / len(drawn)
    for k, (name, values) in enumerate(drawn.items()):
        style = look[name]
        for n, label in enumerate(labels):
            y = n + (k + 0.5) * thick - 0.4
            if label in values:
                words = bar_number_text(values[label], [values[k] for k in labels if k in values])
                draw_annotated_value(axes, y, values[label], words, start, thick * 0.9, style, scale, limit.get(label))
            elif name == "simulated: yours":
                annotate_bar(axes, y, start, "not counted", 1, color=DIM, style="italic")
    draw_marks(axes, labels, limit, dict(marker="|", color=INK, s=180 * thick + 60, linewidths=2.5))
    draw_marks(axes, labels, expected, dict(marker="D", facecolor="white", edgecolor=INK, s=34))
    for n in range(1, len(labels) if scale == "points" else 0):
        axes.axhline(n - 0.5, color=LINES, linewidth=0.8, zorder=0)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.45, -0.55)
    remark = SCALES[scale]
    axes.set_xlabel(f"{unit} ({remark})" if remark else unit)
    axes.set_title(title, loc="left", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    add_legend(axes, series, look, scale, limit, expected)
    return axes


def figure_height(labels, series, marked=1):
    """The figure's height in inches: its rows, and the legend below them. `marked` is the number of marks per row."""
    rows = len(labels) * sum(bool(values) for values in series.values())
    return 1.35 + 0.25 * max(rows, 1) + 0.22 * math.ceil((len(series) + marked) / 3)


def make_stacked_chart_axes(*groups):
    """One figure with several charts above each other; each group is (labels, series), as for bars()."""
    heights = [figure_height(labels, series) for labels, series in groups]
    _, all_axes = plt.subplots(
        len(groups), figsize=(8, sum(heights)), height_ratios=heights, layout="constrained"
    )
    return all_axes


def draw_placeholder_figure(title, axes=None):
    """Stands in for a figure whose numbers do not exist yet."""
    if axes is None:
        _, axes = plt.subplots(figsize=(8, 0.9), layout="constrained")
    axes.set_axis_off()
    axes.set_title(title, loc="left", fontsize=11)
    axes.text(
        0, 0.5, "Nothing to draw yet: the figure appears once the result, or your answer about it, is correct.",
        transform=axes.transAxes, va="center", color=INK, fontsize=9.5,
    )  # fmt: skip
    return axes


def set_value_axis(axes, values, scale, room=1.16):
    """Sets limits and ticks of the value axis; returns where bars start. `room`: for the numbers right of the bars."""
    top = max(values)
    if scale == "linear":
        axes.set_xlim(0, room * top or 1)
        axes.xaxis.set_major_locator(MaxNLocator(7, integer=all(v == int(v) for v in values)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: readable_number(v)))
        return 0
    seen = [v for v in values if v > 0] or [1]
    low, top = min(seen), max(seen)
    if scale == "ratio":
        low, top = min(low, 1), max(top, 2)  # an axis for values that are all 1 needs some length
    # Leaves room for the numbers: right of all bars, and left of bars below 1.
    room = max(math.log10(top / low), 0.3)
    left = 0.16 if scale == "ratio" and low < 1 or scale == "points" or 0 in values else 0
    low, top = low / 10 ** (left * room), top * 10 ** (0.16 * room)
    axes.set_xscale("log")
    axes.set_xlim(low, top)
    axes.xaxis.set_major_locator(FixedLocator(log_ticks(low, top)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: readable_number(v)))
    if scale == "ratio":
        axes.axvline(1, color=INK, linewidth=1)
        return 1
    axes.grid(axis="x", color=LINES, linewidth=0.8)
    axes.set_axisbelow(True)
    return low


def draw_annotated_value(axes, y, value, words, start, thick, style, scale, limit=None):
    low, high = axes.get_xlim()
    if value <= 0 < low:
        annotate_bar(axes, y, low, f"{readable_number(value)} (off the axis)", 1)
        return
    if scale == "points":
        axes.scatter(value, y, marker=style["marker"], color=[style["color"]], edgecolor=INK, s=46)
        annotate_bar(axes, y, value, words, 1, gap=7)
        return
    axes.barh(
        y, value - start, left=start, height=thick, color=[style["color"]], hatch=style["hatch"],
        edgecolor="white", linewidth=0.5,
    )  # fmt: skip
    # If the limit's mark would cross a number, the number stands right of the mark.
    behind = limit is not None and value <= limit < value + 0.14 * (high - low) and scale == "linear"
    words += f" of {readable_number(limit)}" if behind and value < limit else ""
    annotate_bar(axes, y, limit if behind else value, words, 1 if value >= start or words == "1.00" else -1)


def annotate_bar(axes, y, x, words, side, gap=4, **more):
    shown = axes.annotate(
        words, (x, y), xytext=(side * gap, 0), textcoords="offset points", va="center",
        ha="left" if side > 0 else "right", fontsize=SMALL, **({"color": INK} | more),
    )  # fmt: skip
    shown.set_in_layout(False)  # has its room from set_value_axis(); leaving it out halves the time of the layout


def draw_marks(axes, labels, values, look):
    rows = [n for n, label in enumerate(labels) if label in values]
    low = axes.get_xlim()[0]
    axes.scatter([max(values[labels[n]], low) for n in rows], rows, zorder=3, **look)


def add_legend(axes, series, look, scale, limit, expected):
    """Places the legend below the axes, where there are no bars."""
    handles = []
    for name, values in series.items():
        style, words = look[name], name if values else f"{name} (none yet)"
        if scale == "points":
            key = axes.scatter([], [], marker=style["marker"], color=[style["color"]],
                               edgecolor=INK, label=words)  # fmt: skip
        else:
            key = Patch(facecolor=style["color"], hatch=style["hatch"], edgecolor="white", label=words)
        handles.append(key)
    if limit:
        handles.append(axes.scatter([], [], marker="|", color=INK, s=80, linewidths=2.5, label="limit"))
    if expected:
        handles.append(axes.scatter([], [], marker="D", facecolor="white", edgecolor=INK,
                                    label="your prediction"))  # fmt: skip
    below = axes.transAxes + ScaledTranslation(0, -38 / 72, axes.figure.dpi_scale_trans)
    axes.legend(
        handles=handles, loc="upper left", bbox_to_anchor=(0, 0), bbox_transform=below,
        ncols=3, frameon=False, fontsize=SMALL, borderaxespad=0,
    )  # fmt: skip
