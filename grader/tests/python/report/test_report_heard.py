"""The pages of `lab32 report` for screen readers and keyboards, through Chromium's accessibility tree."""

import re

import devtools
import pytest
from test_report_browser import report

CONTROLS = {"button", "link", "slider", "DisclosureTriangle"}
SIGNS = re.compile(r"[●▲▸▾✓✗⋯–]")


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """The page of a launch that has all kinds of pictures, with all folds open."""
    folder = tmp_path_factory.mktemp("heard")
    with devtools.page(f"file://{report(folder)}", folder) as shown:
        shown.run("document.querySelector('[data-folds=open]').click()")
        shown.run("new Promise((done) => setTimeout(done, 100))")
        yield shown


def faults(heard):
    """Descriptions of faults that a screen reader's user would hear."""
    found, level = [], 0
    pictures = [name for _, role, name, _ in heard if role == "image" and len(name) > 1]
    for n, (depth, role, name, properties) in enumerate(heard):
        if role in CONTROLS and not name.strip():
            found.append(f"a {role} without a name")
        if role == "image" and (not name or len(name) < 20 and name not in STATES):
            found.append(f"a picture that says no more than “{name}”")
        if role == "image" and name not in STATES and n + 1 < len(heard) and heard[n + 1][0] > depth:
            found.append(f"the marks of “{name[:40]}” are read out one by one")
        if role == "heading":
            now = int(properties["level"])
            if now > level + 1:
                found.append(f"from a heading {level} to {now}: {name}")
            level = now
        if role == "table" and not {"columnheader", "rowheader"} <= {r for d, r, _, _ in inside(heard, n)}:
            found.append("a table without headers")
        if role == "columnheader" and not name.strip():
            found.append("a column without a name")
        if role == "StaticText" and SIGNS.fullmatch(name.strip()) and heard[n - 1][1] != "image":
            found.append(f"a sign is read out: {name}")
        if role == "StaticText" and name in pictures:
            found.append(f"heard twice: {name[:60]}")
    return found


STATES = {"passed", "failed", "error", "not run", "not graded", "more than needed"}


def inside(heard, n):
    for node in heard[n + 1 :]:
        if node[0] <= heard[n][0]:
            return
        yield node


def test_the_accessibility_tree_has_no_faults(opened):
    heard = opened.heard()
    assert faults(heard) == []
    roles = [role for _, role, _, _ in heard]
    # Nine kinds of pictures or plots, a table, two sliders, and a heading for each check.
    assert roles.count("image") >= 9 and roles.count("slider") == 2 and roles.count("table") == 1
    headings = {name for _, role, name, _ in heard if role == "heading"}
    assert {"A1 asks", "B1 scale: sectors", "v1"} <= headings
    # Columns with the same name are distinguished.
    columns = [name for _, role, name, _ in heard if role == "columnheader"]
    assert {"ideal sectors", "ideal wavefronts"} <= set(columns) and len(set(columns)) == len(columns)


def test_the_keyboard_reaches_all_controls_with_a_visible_focus(opened):
    reached, unseen = [], []
    for _ in range(200):
        opened.press("Tab")
        at = opened.run(WHERE)
        if at is None or at["path"] in reached:
            break
        reached.append(at["path"])
        if not at["seen"]:
            unseen.append(at["path"])
    assert unseen == []
    assert set(reached) == set(opened.run(ALL))


WHERE = """(() => {
  const e = document.activeElement;
  if (!e || e === document.body) return null;
  const style = getComputedStyle(e), box = e.getBoundingClientRect();
  return { path: path(e), seen: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 && box.bottom > 0 && box.top < innerHeight };
  function path(e) { return e.parentElement ? path(e.parentElement) + "/" + [...e.parentElement.children].indexOf(e) : ""; }
})()"""
ALL = """[...document.querySelectorAll("a[href],button,summary,input,[tabindex='0']")].filter((e) => e.checkVisibility()).map(
  function path(e) { return e.parentElement ? path(e.parentElement) + "/" + [...e.parentElement.children].indexOf(e) : ""; })"""


def test_keys_open_folds_and_move_sliders(opened):
    opened.run("document.querySelector('.check summary').focus(); document.querySelector('.check').open = false")
    opened.press("Enter")
    assert opened.run("document.querySelector('.check').open")
    opened.run("document.querySelector('input[type=range]').focus()")
    before = opened.run("document.querySelector('.slide output').textContent")
    opened.press("ArrowRight")
    opened.run("new Promise((done) => setTimeout(done, 100))")
    assert opened.run("document.querySelector('.slide output').textContent") != before
    # The name that a screen reader announces is that of the visible picture.
    said = opened.run("document.querySelector('input[type=range]').getAttribute('aria-valuetext')")
    assert said == opened.run("document.querySelector('.frame:not([hidden]) svg').getAttribute('aria-label')")


def test_accessibility_faults_are_detected():
    heard = [
        (0, "heading", "a", {"level": 1}), (0, "heading", "b", {"level": 3}), (0, "button", "", {}),
        (0, "image", "Memory chart", {}), (0, "image", "A picture of a warp's lanes", {}), (1, "StaticText", "7", {}),
        (0, "StaticText", "A picture of a warp's lanes", {}), (0, "table", "", {}), (1, "cell", "", {}), (0, "StaticText", "▲", {}),
    ]  # fmt: skip
    words = "; ".join(faults(heard))
    for fault in ("from a heading 1 to 3", "a button without a name", "no more than “Memory chart”", "one by one", "heard twice", "without headers", "a sign is read out"):
        assert fault in words
