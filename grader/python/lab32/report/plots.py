"""Plots of the page: what a lab's checks count beside what they need, times, and attempts."""

import csv
import math

from lab32 import ROOT
from lab32.pictures.canvas import Canvas, grouped, short

# What a figure of a check is called, and that of what is needed.
COUNTED = (
    ("sectors", "ideal_sectors", "sectors"),
    ("wavefronts", "ideal_wavefronts", "wavefronts"),
    ("requests", "ideal_requests", "requests"),
    ("barriers", "ideal_barriers", "barriers"),
)
LEFT, BAR, ROOM = 250, 18, 330


def counted(lab):
    """[(check, unit, yours, needed)]: of each check what it counts."""
    rows = []
    for test in lab.tests:
        for yours, needed, unit in COUNTED:
            if test.figures.get(needed) and yours in test.figures and unit in test.measured:
                rows.append((test.name, unit, test.figures[yours], test.figures[needed]))
                break
    return rows


def ladder(lab):
    """What is counted, as so many times what is needed; None where nothing is."""
    rows = counted(lab)
    if not rows:
        return None
    most = max(max(yours / needed for _, _, yours, needed in rows), 1.25)
    log = most > 12

    def x_of(times):
        if log:
            return (
                LEFT + ROOM * max(math.log(max(times, 1)) / math.log(most), 0)
                if times > 1
                else LEFT
            )
        return LEFT + ROOM * times / most

    words = "; ".join(
        f"{name}: {grouped(round(yours))} {unit} where {grouped(round(needed))} would do"
        for name, unit, yours, needed in rows
    )
    title = "Yours beside what the task needs"
    picture = Canvas(770, 76 + 2 * BAR * len(rows) + 36, title, words + ".")
    picture.text(12, 20, title, 13, font_weight="bold")
    scale = "a longer bar is worse" + ("; logarithmic" if log else "")
    picture.text(12, 40, f"times as many as needed; counts are simulated; {scale}", 11, kind="soft")
    for n, (name, unit, yours, needed) in enumerate(rows):
        y = 62 + 2 * BAR * n
        times = yours / needed
        picture.text(LEFT - 10, y + 13, short(name, 34), 11, "end")
        picture.rect(
            LEFT,
            y,
            max(x_of(times) - LEFT, 2),
            BAR - 3,
            "cell " + ("good" if times <= 1.0001 else "bad"),
        )
        mark = "✓" if times <= 1.0001 else f"▲ {times:.3g} times"
        picture.text(max(x_of(times), LEFT) + 6, y + 12, f"{mark}: {grouped(round(yours))}", 10.5)
        picture.text(
            LEFT - 10, y + 28, f"needed {grouped(round(needed))} {unit}", 9.5, "end", "soft"
        )
    if not log:
        x = x_of(1)
        picture.line(
            x, 54, x, 62 + 2 * BAR * len(rows) - 8, "", stroke_width=1, stroke_dasharray="3 3"
        )
        picture.text(x, 62 + 2 * BAR * len(rows) + 8, "needed", 10, "middle", "soft")
    return picture


def reference_seconds(lab):
    """{check: seconds} of the reference solutions on an H200, measured; {} where that is not here."""
    try:
        with open(ROOT / "data/measured/h200-solutions.csv") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    except OSError:
        return {}
    return {
        row["check"]: float(row["seconds"]) for row in rows if row["lab"] == lab and row["seconds"]
    }


def times_of(lab, device):
    """[(check, kind, seconds)]: yours measured or modelled, the reference's measured."""
    reference, rows = reference_seconds(lab.name), []
    for test in lab.tests:
        modelled = (test.not_run or {}).get("modelled")
        if modelled and modelled["seconds"]:
            rows.append((test.name, "yours, modelled", modelled["seconds"]))
        elif test.figures.get("seconds"):
            rows.append((test.name, "yours, measured", test.figures["seconds"]))
        else:
            continue
        if test.name in reference and "h200" in device:
            rows.append((test.name, "reference, measured on an H200", reference[test.name]))
    return rows


def seconds_text(seconds):
    for least, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= least:
            return f"{seconds / least:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def times(lab, device):
    rows = times_of(lab, device)
    if not rows:
        return None
    most = max(seconds for _, _, seconds in rows)
    title = "Times"
    picture = Canvas(
        800,
        66 + BAR * len(rows) + 30,
        title,
        "; ".join(f"{name}, {kind}: {seconds_text(s)}" for name, kind, s in rows) + ".",
    )
    picture.text(12, 20, title, 13, font_weight="bold")
    picture.text(
        12,
        40,
        "modelled: what the simulator's model predicts; a shorter bar is better",
        11,
        kind="soft",
    )
    kinds = {
        "yours, modelled": "warn",
        "yours, measured": "good",
        "reference, measured on an H200": "unused",
    }
    last = None
    for n, (name, kind, seconds) in enumerate(rows):
        y = 56 + BAR * n
        if name != last:
            picture.text(LEFT - 10, y + 12, short(name, 36), 11, "end")
        last = name
        picture.rect(LEFT, y, max(ROOM * seconds / most, 2), BAR - 4, f"cell {kinds[kind]}")
        picture.text(
            LEFT + ROOM * seconds / most + 6, y + 11, f"{seconds_text(seconds)}, {kind}", 10
        )
    return picture


def attempts_plot(attempts):
    """The score from attempt to attempt, as dots on a line; None for less than two."""
    if len(attempts) < 2:
        return None
    shown = attempts[-40:]
    words = ", ".join(f"{a['score']:g}" for a in shown)
    picture = Canvas(720, 190, "Your attempts", f"Points from attempt to attempt: {words}.")
    picture.text(12, 20, "Points, attempt by attempt", 13, font_weight="bold")
    left, right, top, bottom = 60, 700, 44, 150
    most = max(a["max_score"] for a in shown) or 1

    def at(n, score):
        return (
            left + (right - left) * n / max(len(shown) - 1, 1),
            bottom - (bottom - top) * score / most,
        )

    for score in (0, most):
        y = at(0, score)[1]
        picture.line(left, y, right, y, "", stroke_width=0.6)
        picture.text(left - 8, y + 4, f"{score:g}", 10.5, "end", "soft")
    points = [at(n, a["score"]) for n, a in enumerate(shown)]
    for (x1, y1), (x2, y2) in zip(points, points[1:], strict=False):
        picture.line(x1, y1, x2, y2, "good", stroke_width=1.6)
    for x, y in points:
        picture.circle(x, y, 3.5, "good")
    picture.text(left, bottom + 24, shown[0]["time"][:16].replace("T", " "), 10.5, kind="soft")
    picture.text(right, bottom + 24, shown[-1]["time"][:16].replace("T", " "), 10.5, "end", "soft")
    return picture
