"""Draws the plots of the page. Every number is marked as yours, the reference's or documented, and as simulated,
modelled or measured."""

import functools
import math
import re

from lab32 import labs, tables
from lab32.pictures.canvas import Canvas, truncate_to_characters, with_thousands_separators

# The names of a check's figures, and of the figures that the task needs.
COUNTED = (
    ("sectors", "sectors"), ("wavefronts", "wavefronts"), ("requests", "requests"), ("barriers", "barriers"),
    ("adds", "adds"), ("accesses", "accesses"), ("idle_lanes", "idle lanes"), ("instructions", "instructions"),
)  # fmt: skip
LEFT, BAR, ROOM, WIDTH = 250, 18, 230, 820
WIDEST = 7  # pixels of a character in the words right of a bar
# The look of a bar; the words next to it say the same.
LOOK = {"good": "good", "bad": "bad", "yours": "warn", "reference": "unused", "documented": "bare"}


def number_text(value):
    """131,634; 20.27; 4"""
    return with_thousands_separators(round(value)) if abs(value - round(value)) < 1e-9 else f"{value:.3g}"


def draw_bars(title, subtitle, groups, log=False, mark=None):
    """`groups`: [(label, [(look, value, words right of the bar)])]. `mark`: (value, words), a dashed line."""
    values = [value for _, rows in groups for _, value, _ in rows]
    # A bar with an ideal value must not be the longest possible one.
    most = max([*values, 2 * mark[0] if mark else 0])
    least = 0.5 if log else 0  # below 1, so that a bar of 1 is visible

    # On a phone, the first words right of the bars are visible.
    begin = min(LEFT, 22 + WIDEST * max(len(truncate_to_characters(label, 36)) for label, _ in groups))

    def x_of(value):
        if log:
            return begin + ROOM * math.log(max(value, least) / least) / math.log(most / least)
        return begin + ROOM * value / most

    # The alternative text has no signs, which are for the eye.
    alt_text = ". ".join(f"{label}: {'; '.join(words.lstrip('▲✓ ') for _, _, words in rows)}" for label, rows in groups)
    if mark and not log:
        alt_text += f". Dashed line: {mark[1]}"
    count = sum(len(rows) for _, rows in groups)
    bottom = 62 + BAR * count + 8 * len(groups)
    mark = None if log else mark
    picture = Canvas(WIDTH, bottom + (28 if mark else 12), title, alt_text + ".")
    picture.text(12, 20, title, 13, font_weight="bold")
    picture.text(12, 40, subtitle, 11, kind="soft")
    rows = [("" if n else label, (x_of(value) - begin) / ROOM, words) for label, group in groups for n, (_, value, words) in enumerate(group)]
    picture.terminal = subtitle, rows, f"{mark[1]}, at {mark[0] / most:.0%} of a full bar" if mark else ""
    y, clear = 62, []  # heights at which words would cover the mark
    for label, rows in groups:
        picture.text(begin - 10, y + 12, truncate_to_characters(label, 36), 11, "end")
        for look, value, words in rows:
            x = x_of(value)
            picture.rect(begin, y, max(x - begin, 2), BAR - 4, f"cell {LOOK[look]}")
            left = max(x, begin + 2) + 6
            picture.text(left, y + 11, words, 10.5)
            if mark and left - 2 < x_of(mark[0]) < left + WIDEST * len(words):
                clear.append(y)
            y += BAR
        y += 8
    if mark:
        x, start = x_of(mark[0]), 54
        for y in [*clear, bottom + 2]:
            if y - 4 > start:
                picture.line(x, start, x, y - 4, "", stroke_width=1, stroke_dasharray="3 3")
            start = y + BAR - 2
        picture.text(x, bottom + 12, mark[1], 10, "middle", "soft")
    return picture


# ---- yours, the reference's, what is needed --------------------------------------------------------


@functools.cache
def reference_counts():
    """{(lab, check): {figure: value}}: recorded counts of the reference solutions."""
    found = {}
    try:
        for row in tables.read_data_table(tables.DATA / "simulated/solutions-checks.csv").rows:
            figures = found.setdefault((row["lab"], row["check"]), {})
            figures[row["figure"]] = float(row["value"])
    except OSError:
        pass
    return found


def main_counts_of_checks(lab):
    """[(check, unit, yours, needed, the reference's or None)]: the main count of each check."""
    rows = []
    for test in lab.tests:
        theirs = reference_counts().get((lab.name, test.name), {})
        for figure, unit in COUNTED:
            needed = test.figures.get(f"ideal_{figure}")
            if needed and figure in test.figures and unit.split()[-1] in test.measured:
                rows.append((test.name, unit, test.figures[figure], needed, theirs.get(figure)))
                break
    return rows


def plot_counts_over_needed(lab):
    """Each count divided by the needed count; None if the lab counts nothing."""
    rows = main_counts_of_checks(lab)
    if not rows:
        return None
    groups = []
    for name, unit, yours, needed, theirs in rows:
        times = yours / needed
        enough = f"{number_text(needed)} would do" if times < 0.9999 else f"needed {number_text(needed)}"
        words = f"✓ {number_text(yours)} {unit}, yours; {enough}"
        if times > 1.0001:
            words = f"▲ {number_text(yours)} {unit}, yours: {times:.3g} times the {number_text(needed)} needed"
        group = [("good" if times <= 1.0001 else "bad", times, words)]
        if theirs is not None:
            group.append(("reference", theirs / needed, f"{number_text(theirs)}, reference"))
        groups.append((name, group))
    log = max(value for _, group in groups for _, value, _ in group) > 12
    scale = "a longer bar is worse" + ("; logarithmic, from 0.5" if log else "")
    subtitle = f"times as many as needed; {scale}. Yours and the reference solution's: simulated"
    return draw_bars("Your counts relative to what the task needs", subtitle, groups, log, (1, "needed"))


# ---- steps of a ladder ----------------------------------------------------------------------------


def reference_time_rows_by_check(lab):
    """{check: row}: times of the reference solutions measured on an H200; {} without that table."""
    try:
        return {row["check"]: row for row in tables.read_measured_table("h200-solutions").where(lab=lab)}
    except OSError:
        return {}


def plot_speedup_over_previous_version(lab):
    """The speed-up of each version over the one before: yours, the reference's, documented."""
    reference, groups = reference_time_rows_by_check(lab.name), []
    documented, source, note = labs.notebook_attribute(lab.name, "published_step_speed_ups", lambda: ({}, "", ""))()
    shown = False
    for test in lab.tests:
        step = re.fullmatch(r"(?:\w+ )?(\w+) to (\w+): time", test.name)
        if not step:
            continue
        group = []
        if modelled := test.figures.get("modelled_ratio"):
            group.append(("yours", modelled, f"{modelled:.2f}, yours, modelled"))
        if measured := test.figures.get("ratio"):
            group.append(("good", measured, f"{measured:.2f}, yours, measured"))
        row = reference.get(test.name)
        if row and row["ratio"]:
            ratio = float(row["ratio"])
            group.append(("reference", ratio, f"{ratio:.2f}, reference, measured on an H200"))
        if ratio := documented.get(step[2]):
            shown = True
            group.append(("documented", ratio, f"{ratio:.2f}, documented ({source})"))
        if group:
            groups.append((f"{step[1]} to {step[2]}", group))
    if not groups:
        return None
    subtitle = "times as fast as the version before; 1: no gain; a longer bar is better"
    if shown:
        subtitle += f". {note}"
    return draw_bars("Step by step", subtitle, groups, mark=(1, "as fast as before"))


# ---- documented counts ----------------------------------------------------------------------------


def simulated_and_documented_rows(lab):
    """[(label, simulated, documented, unit)] of given kernels that a source document counts, too, except those that an
    open question asks about."""
    return labs.notebook_attribute(lab.name, "simulated_and_documented_rows", lambda _: [])(lab)


def plot_simulated_and_documented(lab):
    rows = simulated_and_documented_rows(lab)
    if not rows:
        return None
    groups = [
        (what, [
            ("good", now, f"{number_text(now)} {unit}, simulated"),
            ("documented", then, f"{number_text(then)}, documented"),
        ])
        for what, now, then, unit in rows
    ]  # fmt: skip
    subtitle = "counts of given kernels, simulated and from the source documents; the lab's notes explain the differences"
    return draw_bars("Counted and documented", subtitle, groups)


# ---- times ----------------------------------------------------------------------------------------


def your_and_reference_times_by_check(lab, device):
    """[(check, [(look, seconds, kind)])]: yours measured or modelled, the reference's measured. A check of a step
    shows its later version."""
    reference, groups = reference_time_rows_by_check(lab.name), []
    for test in lab.tests:
        group = []
        modelled = (test.not_run or {}).get("modelled")
        if modelled and modelled["seconds"]:
            group.append(("yours", modelled["seconds"], f"yours, modelled, n = {with_thousands_separators(modelled['n'])}"))
        elif test.figures.get("seconds"):
            group.append(("good", test.figures["seconds"], "yours, measured"))
            # Only times for the same n compare, and the model times a smaller launch.
            row = reference.get(test.name)
            if row and row["seconds"] and "h200" in device:
                group.append(("reference", float(row["seconds"]), "reference, measured on an H200"))
        if group:
            groups.append((test.name.removesuffix(": time"), group))
    return groups


def three_digits_text(value):
    """8.00, 31.4, 127: three digits make all times equally exact."""
    return f"{value:#.3g}".removesuffix(".")


def seconds_text(seconds):
    for least, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= least:
            return f"{three_digits_text(seconds / least)} {unit}"
    return f"{three_digits_text(seconds * 1e9)} ns"


def plot_times_by_check(lab, device):
    groups = [
        (
            name,
            [(look, seconds, f"{seconds_text(seconds)}, {kind}") for look, seconds, kind in group],
        )
        for name, group in your_and_reference_times_by_check(lab, device)
    ]
    if not groups:
        return None
    subtitle = "modelled: what the simulator's model predicts; a shorter bar is better where n is the same"
    if any(" to " in name for name, _ in groups):
        subtitle += ". A step shows its later version"
    return draw_bars("Times", subtitle, groups)


# ---- attempts -------------------------------------------------------------------------------------


def plot_attempt_scores(attempts):
    """The score over all attempts, as dots on a line; None for fewer than two attempts."""
    if len(attempts) < 2:
        return None
    shown = attempts[-40:]
    words = ", ".join(f"{a['score']:g}" for a in shown)
    picture = Canvas(720, 190, "Your attempts", f"Points, attempt by attempt: {words}.")
    picture.text(12, 20, "Points, attempt by attempt", 13, font_weight="bold")
    left, right, top, bottom = 60, 700, 44, 150
    most = max(a["max_score"] for a in shown) or 1

    def position_of(n, score):
        return left + (right - left) * n / max(len(shown) - 1, 1), bottom - (
            bottom - top
        ) * score / most

    for score in (0, most):
        y = position_of(0, score)[1]
        picture.line(left, y, right, y, "", stroke_width=0.6)
        picture.text(left - 8, y + 4, f"{score:g}", 10.5, "end", "soft")
    points = [position_of(n, a["score"]) for n, a in enumerate(shown)]
    for (x1, y1), (x2, y2) in zip(points, points[1:], strict=False):
        picture.line(x1, y1, x2, y2, "good", stroke_width=1.6)
    for x, y in points:
        picture.circle(x, y, 3.5, "good")
    picture.text(left, bottom + 24, shown[0]["time"][:16].replace("T", " "), 10.5, kind="soft")
    picture.text(right, bottom + 24, shown[-1]["time"][:16].replace("T", " "), 10.5, "end", "soft")
    return picture


# ---- predictions ----------------------------------------------------------------------------------

PREDICTION = "answer "  # the figures with the student's answers (grader/report/result.h)


def counts_of_attempt(attempt, check):
    return attempt["checks"].get(check, {}).get("figures", {})


def prediction_error_factor(answers, right):
    """The factor between the answers and the right ones, on average; None if none is answered."""
    off = [abs(math.log2(max(answers[key], 0.5) / max(right[key], 0.5))) for key in right if key in answers]
    return 2 ** (sum(off) / len(off)) if off else None


def prediction_errors_and_count_ratios(attempts):
    """([(check, prediction error by attempt)], [(check, its count in terms of the ideal, by attempt)]). The errors begin
    with that of the first predictions. Only checks whose answers are right by now have errors, since an error would tell
    the answer to an open question."""
    errors, counts = [], []
    for name, check in attempts[-1]["checks"].items():
        right = {key: value for key, value in counts_of_attempt(attempts[-1], name).items() if key.startswith(PREDICTION)}
        if right and check.get("status") == "passed":
            answers = [attempts[-1].get("predictions", {}), *(counts_of_attempt(attempt, name) for attempt in attempts)]
            errors.append((name, [prediction_error_factor(each, right) for each in answers]))
        for count, _ in COUNTED:
            ideal = f"ideal_{count}"
            found = [counts_of_attempt(attempt, name) for attempt in attempts]
            times = [each[count] / each[ideal] if count in each and each.get(ideal) else None for each in found]
            if any(each and each > 1.005 for each in times):
                counts.append((name, [None, *times]))
                break
    return errors, counts


def plot_prediction_errors_by_attempt(attempts):
    """Prediction errors and counts, attempt by attempt; None unless a prediction was wrong and is right by now."""
    shown = attempts[-9:]
    errors, counts = prediction_errors_and_count_ratios(shown) if shown else ([], [])
    if not any(each and each > 1.01 for _, row in errors for each in row):
        return None
    rows = [(f"{name}: off by", row) for name, row in errors] + [(f"{name}: times the ideal", row) for name, row in counts[:6]]
    words = ". ".join(f"{name} " + ", ".join(f"{each:.3g}" for each in row if each) for name, row in rows)
    left, step, height = 330, 48, 34
    picture = Canvas(WIDTH, 66 + height * len(rows), "Your predictions and your counts", f"Attempt by attempt. {words}.")
    picture.text(12, 20, "Your predictions and your counts, attempt by attempt", 13, font_weight="bold")
    picture.text(12, 38, "off by: the factor between your answers and the right ones, on average; 1 is right, or ideal", 11, kind="soft")
    for n in range(len(shown) + 1):
        picture.text(left + step * n, 58, "first" if n == 0 else str(len(attempts) - len(shown) + n), 10, "middle", "soft")
    for at, (name, row) in enumerate(rows):
        bottom, most = 60 + height * (at + 1), max(2, *(each for each in row if each))
        picture.text(12, bottom - 4, truncate_to_characters(name, 50), 11)
        dots = [
            (left + step * n, bottom - 10 * math.log(max(each, 1)) / math.log(most), each) for n, each in enumerate(row) if each
        ]
        for (x1, y1, _), (x2, y2, _) in zip(dots, dots[1:], strict=False):
            picture.line(x1, y1, x2, y2, "", stroke_width=1.2)
        for x, y, each in dots:
            picture.circle(x, y, 3.5, "good" if each < 1.01 else "bad")
            picture.text(x, y - 7, f"{each:.3g}", 10, "middle")
    return picture
