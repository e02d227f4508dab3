"""Bars for the notebooks. Every bar names its source."""

import matplotlib.pyplot as plt

from lab32.svg import BLUE, GREEN, ORANGE, PINK

# Colour and hatch: distinguishable for colour-blind people, and in print.
KINDS = {
    "documented": dict(color=ORANGE, hatch="//"),
    "measured": dict(color=BLUE, hatch=""),
    "modelled": dict(color=PINK, hatch="xx"),
    "simulated": dict(color=GREEN, hatch=".."),
}


def bars(labels, series, title, unit, axes=None):
    """Groups of bars. `series` maps a kind, "simulated" or "simulated: ideal", to {label: value}.

    A label that a series does not have gets no bar: the gap says that there is no such figure.
    """
    unknown = [name for name in series if name.split(":")[0] not in KINDS]
    if unknown:
        raise ValueError(f"a bar must be {', '.join(KINDS)}; not {', '.join(unknown)}")
    if not any(values for values in series.values()):
        raise ValueError(f"nothing to plot for “{title}”: the result has no such figures")
    if axes is None:
        _, axes = plt.subplots(figsize=(8, 0.6 + 0.32 * len(labels) * len(series)))
    height = 0.8 / len(series)
    for k, (name, values) in enumerate(series.items()):
        there = [n for n, label in enumerate(labels) if label in values]
        style = KINDS[name.split(":")[0]]
        # Several series of one kind differ in strength.
        alike = [other for other in series if other.split(":")[0] == name.split(":")[0]]
        strength = (alike.index(name) + 1) / len(alike)
        drawn = axes.barh(
            [n + (k + 0.5) * height - 0.4 for n in there],
            [values[labels[n]] for n in there],
            height=height * 0.92,
            label=name,
            edgecolor="white",
            **style,
            alpha=0.3 + 0.7 * strength,
        )
        axes.bar_label(drawn, fmt="%.3g", padding=3, fontsize=8)
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.set_xlabel(unit)
    axes.set_title(title, loc="left")
    axes.margins(x=0.12)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
    axes.figure.tight_layout()
    return axes
