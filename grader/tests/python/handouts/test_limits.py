"""The points of every lab in data/limits, and the measurements that its reasons cite.
grader/tests/grading/test_rubric.cpp tests that a rubric fits its checks."""

import re
import tomllib

import pytest

from lab32 import ROOT, labs, tables

CORE = labs.lab_names("core")


def rows_of(limits):
    """The rows of the score report: {table: its contents}."""
    return {name: v for name, v in limits.items() if isinstance(v, dict) and "check" in v}


def gain(lab, row, name):
    """The gain of a step in the H200's measurements, and the gain that the reason cites."""
    before, cited = re.search(r"From (\S+): ([0-9.]+) on an H200", row["reason"]).groups()
    record = tables.read_measured_table(f"h200-{lab}")
    sizes = {measured["n"] for measured in record.rows}
    task, n = record.rows[0]["task"], row["n"]
    if str(n) not in sizes:  # the side of a square matrix
        n = f"{n}x{n}"
    copies = [
        record.value("median_ms", task=task, form=form, n=n)
        / record.value("copy_ms", task=task, form=form, n=n)
        for form in (before, name.removesuffix("_step"))
    ]
    return copies[0] / copies[1], float(cited)


@pytest.mark.parametrize("lab", labs.lab_names())
def test_points_add_up(lab):
    limits = tables.read_rubric_of_lab(lab)
    rows = rows_of(limits)
    assert sum(row.get("points", 0) for row in rows.values()) == limits["max_score"] == 100


@pytest.mark.parametrize("lab", CORE)
def test_each_limit_has_a_measurement_and_a_reason(lab):
    rows = rows_of(tables.read_rubric_of_lab(lab))
    # A bonus comes in addition: 10 points for what an H200 requires.
    record = tables.read_measured_table("h200-solutions").rows
    asked_there = {row["check"] for row in record if row["lab"] == lab and row["ratio"]}
    asked = [
        row["bonus"]
        for row in rows.values()
        if "bonus" in row and ("fraction" in row or row["check"] in asked_there)
    ]
    assert sum(asked) == 10
    for row in rows.values():
        assert "reason" in row or "questions" in row


@pytest.mark.parametrize("lab", CORE)
def test_steps_cite_the_record(lab):
    for name, row in rows_of(tables.read_rubric_of_lab(lab)).items():
        if name.endswith("_step"):
            recorded, cited = gain(lab, row, name)
            assert cited == pytest.approx(recorded, abs=0.0051), name


def test_fractions_cite_the_record():
    """A check with a `fraction` is in the measurements under its name."""
    record = [row for row in tables.read_measured_table("h200-solutions").rows if row["fraction"]]
    for lab in CORE:
        rows = [row for row in rows_of(tables.read_rubric_of_lab(lab)).values() if "fraction" in row]
        fractions = {r["check"]: float(r["fraction"]) for r in record if r["lab"] == lab}
        measured = [fractions[row["check"]] for row in rows]
        reasons = [row["reason"] for row in rows]
        cited = [re.search(r"solution has ([0-9.]+) on an H200 \(data/", r)[1] for r in reasons]
        assert cited == [f"{fraction:.2f}" for fraction in measured], lab


def test_the_instructors_page_has_the_hours_of_the_rubrics():
    page = (ROOT / "handouts/instructors.md").read_text()
    hours = dict(re.findall(r"^\| \[(\w+)\]\(\w+\.md\) \| (\d+) \|", page, re.MULTILINE))
    assert hours.keys() == set(labs.lab_names("core"))
    for lab, number in hours.items():
        assert tomllib.loads((ROOT / f"data/limits/{lab}.toml").read_text())["hours"] == int(number)
