"""data/limits: the points of every lab, and what its steps cite."""

import re

import pytest

from lab32 import ROOT, tables

LABS = sorted(path.stem for path in (ROOT / "data/limits").glob("*.toml"))


def lines_of(limits):
    """The lines of the score board, {table: its content}."""
    return {name: v for name, v in limits.items() if isinstance(v, dict) and "points" in v}


def gain(lab, line, name):
    """What the H200's record says of a step, and what the reason says."""
    before, cited = re.search(r"From (\S+): ([0-9.]+) on an H200", line["reason"]).groups()
    task, n = ("int", line["n"]) if lab == "reduction" else ("float", "{0}x{0}".format(line["n"]))
    record = tables.measured(f"h200-{lab}")
    copies = [
        record.value("median_ms", task=task, form=form, n=n)
        / record.value("copy_ms", task=task, form=form, n=n)
        for form in (before, name.removesuffix("_step"))
    ]
    return copies[0] / copies[1], float(cited)


@pytest.mark.parametrize("lab", LABS)
def test_points_add_up(lab):
    limits = tables.limits(lab)
    lines = lines_of(limits)
    timed = {name: line for name, line in lines.items() if "n_modelled" in line}
    counted = sum(line["points"] for name, line in lines.items() if name not in timed)
    assert counted == limits["max_score"] == 100
    # What is timed comes on top: 10 points of what an H200 is asked for.
    asked = [
        line["points"]
        for name, line in timed.items()
        if "fraction" in line or gain(lab, line, name)[0] >= 1 + limits["steps"]["least_gain"]
    ]
    assert sum(asked) == 10
    for line in lines.values():
        assert line["credit"] in ("all", "share")
        assert all({"answer", "hint"} <= set(q) for q in line.get("questions", {}).values())
        assert "reason" in line or "questions" in line


@pytest.mark.parametrize("lab", LABS)
def test_steps_cite_the_record(lab):
    for name, line in lines_of(tables.limits(lab)).items():
        if name.endswith("_step"):
            recorded, cited = gain(lab, line, name)
            assert cited == pytest.approx(recorded, abs=0.0051), name


def test_fractions_cite_the_record():
    """The n-th line of a lab that has a `fraction` is the n-th of the record's that has one."""
    record = [row for row in tables.measured("h200-solutions").rows if row["fraction"]]
    for lab in LABS:
        measured = [float(row["fraction"]) for row in record if row["lab"] == lab]
        reasons = [line["reason"] for line in lines_of(tables.limits(lab)).values() if "fraction" in line]
        cited = [re.search(r"solution has ([0-9.]+) on an H200 \(data/", r)[1] for r in reasons]
        assert cited == [f"{fraction:.2f}" for fraction in measured], lab
