"""Inspects every figure: those of the notebooks for an empty, a skeleton, a half-done and a solved submission,
and those of the handouts in each language. `gallery` finds the faults."""

import ast
import functools
import html.parser
import re

import gallery
import matplotlib.pyplot as plt
import notebook_cells
import numpy
import pytest
from graded import LABS, STATES, of_state
from IPython.core.interactiveshell import InteractiveShell

from handouts import drawing as svg
from handouts import figures
from lab32 import ROOT, explained, plots, results
from lab32.labs.shuffle import notebook as shuffle
from lab32.labs.transpose import notebook as transpose
from lab32.pictures import canvas, draw_picture, picture_kinds
from lab32.report import plots as report_plots

pytestmark = pytest.mark.slow

# ---- the notebooks --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def monkeymodule():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="module")
def shell(monkeymodule):
    """A notebook's shell without slow computations, which test_transpose and test_shuffle test."""
    monkeymodule.setattr(transpose, "time_cpu_traversals", lambda: WALKS)
    monkeymodule.setattr(shuffle, "sums_of_ones_by_order", sums_of_ones)
    monkeymodule.setattr(shuffle, "relative_sum_errors", errors)
    monkeymodule.setattr(explained, "picture_of_check_costing_most", lambda lab: explained.MissingPicture("drawn elsewhere"))
    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


WALKS = [
    dict(what=what, form=form, size=size, ms=ms)
    for what, form, size, ms in [
        ("walk", "row by row", "8000", "41"), ("walk", "column by column", "8000", "640"),
        ("product", "ikj", "600", "75"), ("product", "ijk", "600", "260"),
        *(("stride", "", f"{1 << k}", f"{60 - 9 * k}") for k in range(7)),
    ]
]  # fmt: skip


def sums_of_ones(exponents):
    grown = {f"2^{k}": 2.0**k for k in exponents}
    stopped = {name: min(value, 2.0**24) for name, value in grown.items()}
    return {name: stopped if name == "one by one" else grown for name in shuffle.ORDERS}


def errors(exponents):
    return {
        name: {f"2^{k}": 10.0 ** -(7 + 2 * n + k / 8) for k in exponents}
        for n, name in enumerate(shuffle.ORDERS)
    }


@functools.cache
def code(lab):
    """A notebook's cells: (source, whether it depends on the result)."""
    cells, write_notebook_of_stored_result = [], {"result", "lab"}
    for source in notebook_cells.sources(lab):
        names = [n for n in ast.walk(ast.parse(re.sub(r"(?m)^%.*|%lab32 .*", "0", source))) if isinstance(n, ast.Name)]
        depends = any(n.id in write_notebook_of_stored_result for n in names)
        if depends:
            write_notebook_of_stored_result |= {n.id for n in names if isinstance(n.ctx, ast.Store)}
        cells.append((source, depends))
    return cells


SEEN = set()  # figures already seen in another state: texts with positions, or shapes


def run(shell, monkeypatch, lab, state):
    """The faults of a notebook's figures, and the number of figures. Figures that are equal in all states are drawn
    for the first state only."""
    monkeypatch.setattr(results, "grade", lambda *_, **__: of_state(lab, state))
    found, number = [], 0
    for source, depends in code(lab):
        if not depends and state != STATES[0] and "plots.bars" in source:
            continue
        notebook_cells.run(shell, source)
        for n in plt.get_fignums():
            number += 1
            figure = plt.figure(n)
            words = tuple((t.get_text(), t.get_position()) for t in figure.findobj(plt.Text))
            if words in SEEN:
                continue
            SEEN.add(words)
            title = figure.axes[0].get_title("left")
            found += [f"“{title}”: {fault}" for fault in gallery.faults(gallery.of_plot(figure))]
        plt.close("all")
    return found, number


class Tags(html.parser.HTMLParser):
    """Whether every tag is closed."""

    def __init__(self, text):
        super().__init__()
        self.open = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, _):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("lab", LABS)
def test_figures_of_a_notebook(shell, monkeypatch, lab, state):
    found, number = run(shell, monkeypatch, lab, state)
    assert found == []
    drawn = [s for s, depends in code(lab) if "plots.bars" in s and (depends or state == STATES[0])]
    assert number == len(drawn) >= 1
    Tags(shell.user_ns["result"]._repr_html_())


# ---- the report -----------------------------------------------------------------------------------


def pictures_of(result, lab):
    """Every plot and picture of a lab's part of the report: [(where, Canvas)]."""
    record = result.lab(lab)
    for make in (report_plots.plot_counts_over_needed, report_plots.plot_speedup_over_previous_version, report_plots.plot_simulated_and_documented):
        yield make.__name__, make(record)
    yield "times", report_plots.plot_times_by_check(record, result.device)
    for test in record.tests:
        launch = test.pictures or {}
        for kind in picture_kinds(launch) if "kernel" in launch else ():
            count = len(launch["accesses"]) if kind == "access" else 1
            for n in range(count):
                part = launch | {"accesses": launch["accesses"][n:]} if kind == "access" else launch
                yield f"{test.name}, {kind}", draw_picture(part, kind)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("lab", LABS)
def test_figures_of_the_report(lab, state):
    found, number = set(), 0
    for where, picture in pictures_of(of_state(lab, state), lab):
        if picture is None:
            continue
        number += 1
        if repr(picture.shapes) in SEEN:
            continue
        SEEN.add(repr(picture.shapes))
        assert picture.title and picture.alt_text.endswith("."), where
        for colours in (canvas.LIGHT, canvas.DARK):
            found |= {f"{where}: {fault}" for fault in gallery.faults(gallery.of_picture(picture, colours))}
    assert found == set()
    # The solved state has pictures of its kernels, except in the lab whose tasks are mostly shapes. A skeleton has
    # answered no question, so all of its pictures may be withheld.
    if state == "skeleton" and number == 0:
        tests = of_state(lab, state).lab(lab).tests
        assert any("withheld_until" in (test.pictures or {}) for test in tests)
        return
    assert number >= {"solved": 2, "empty": 0}.get(state, 1)


# ---- the handouts ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def drawn():
    return figures.figure_texts_by_path()


def test_figures_of_the_handouts(drawn):
    found = [
        f"{path.relative_to(ROOT)}: {fault}"
        for path, text in drawn.items()
        for fault in gallery.faults(gallery.of_drawing(text))
    ]
    assert found == []


def test_charts_of_the_handouts_name_their_unit(drawn):
    """Checks for a unit at the ticks, or a ratio in the words: `times a copy`, `given over optimised`."""
    charts = [path for path in drawn if re.search(r"measured|scatter|ladder|then-and-now", path.name)]
    assert len(charts) >= 10
    for path in charts:
        words = [word.text for word in gallery.of_drawing(drawn[path]).words]
        assert any(re.search(UNIT, word) for word in words), path


UNIT = r"\b(ms|µs|GB/s)\b|%|[Tt]imes\b|\bover\b|倍|比|之"

PALETTE = {svg.BLUE, svg.SKY, svg.GREEN, svg.ORANGE, svg.RED, svg.PINK}


def test_drawings_use_colours_that_colour_blind_people_tell_apart(drawn):
    """Whether a colour is one of the palette, one of its dark or pale forms, or a grey."""
    for path, text in drawn.items():
        for colour in set(re.findall(r"#[0-9a-fA-F]{6}\b", text)):
            assert colour.lower() in ALLOWED or is_grey(colour), f"{path.name}: {colour}"


ALLOWED = {c.lower() for c in (*PALETTE, *svg.DARK.values(), *svg.TINTS)}


def is_grey(colour):
    parts = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return max(parts) - min(parts) <= 8


# ---- colours ---------------------------------------------------------------------------------------

# Red, green and blue as seen by people who lack one kind of cones completely (Machado, Oliveira and
# Fernandes 2009, severity 1).
BLIND = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}  # fmt: skip


@pytest.mark.parametrize("kind", BLIND)
def test_sources_differ_for_colour_blind_people(kind):
    """Colours differ by more than 15 in CIE L*a*b*, where 2.3 is just visible; hatches and markers differ as well."""
    seen = {}
    for name, look in plots.KINDS.items():
        rgb = numpy.array([int(look["color"][i : i + 2], 16) / 255 for i in (1, 3, 5)])
        linear = numpy.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        seen[name] = lab_of(numpy.clip(numpy.array(BLIND[kind]) @ linear, 0, 1))
    for a in seen:
        for b in seen:
            assert a == b or numpy.linalg.norm(seen[a] - seen[b]) > 15, (kind, a, b)


def lab_of(linear):
    """Linear sRGB to CIE L*a*b* (D65)."""
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    x, y, z = (
        t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116
        for t in numpy.array(to_xyz) @ linear / numpy.array([0.9505, 1, 1.089])
    )
    return numpy.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


# ---- the gallery itself ---------------------------------------------------------------------------


def wrong(change):
    figure, axes = plt.subplots(figsize=(8, 3), layout="constrained")
    plots.bars(["a", "b"], {"measured": {"a": 1, "b": 2}, "modelled": {"a": 2}}, "t", "ms", axes)
    change(axes)
    found = gallery.faults(gallery.of_plot(figure))
    plt.close(figure)
    return " ".join(found)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda axes: None, ""),
        (lambda axes: axes.text(0.5, 0.5, "here") and axes.text(0.5, 0.55, "there"), "“here” overlaps “there”"),
        (lambda axes: axes.text(0.4, 0, "over"), "“over” covers a mark"),
        (lambda axes: axes.set_xlim(0, 1.5), "leaves its axes"),
        (lambda axes: axes.set_xlabel(""), "no unit on the axis"),
        (lambda axes: axes.text(1, 0.52, "tiny", fontsize=4), "“tiny” is 5.6 pixels high, 9 are the least"),
        (lambda axes: axes.text(1.2, 0.52, "pale", color="#999999"), "“pale” is hard to read"),
        (lambda axes: axes.set_title("x" * 150, loc="left"), "leaves the picture"),
        (lambda axes: [h.set_hatch("/") for h in axes.get_legend().legend_handles], "measured and modelled look alike"),
    ],
)  # fmt: skip
def test_the_gallery_sees_what_is_wrong_with_a_plot(change, fault):
    assert fault in wrong(change) and bool(fault) == bool(wrong(change))


@pytest.mark.parametrize(
    ("draw", "fault"),
    [
        (lambda d: d.text(10, 40, "fine"), None),
        (lambda d: d.text(10, 40, "one") or d.text(12, 42, "two"), "“one” overlaps “two”"),
        (lambda d: d.text(380, 40, "outside"), "“outside” leaves the picture"),
        (lambda d: d.text(10, 40, "small", 8), "“small” is 8.0 pixels high"),
        (lambda d: d.rect(0, 20, 90, 30, svg.ORANGE) or d.text(10, 40, "0", fill="#888888"), "“0” is hard to read"),
    ],
)  # fmt: skip
def test_the_gallery_sees_what_is_wrong_with_a_drawing(draw, fault):
    drawing = svg.Drawing(400, 100, "t")
    draw(drawing)
    found = gallery.faults(gallery.of_drawing(str(drawing)))
    assert (fault in found[0]) if fault else found == []
