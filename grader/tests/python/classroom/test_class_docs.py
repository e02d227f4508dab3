"""The README of classes names every existing option, file, status and key, and no others."""

import re
import tomllib
from dataclasses import fields

import pytest

from lab32 import ROOT
from lab32.classroom import __main__ as command
from lab32.classroom import scores, store
from lab32.course import reader
from lab32.course.reader import read_course

README = (ROOT / "grader/python/lab32/classroom/README.md").read_text()


def section(title):
    return README.partition(f"## {title}\n")[2].partition("\n## ")[0]


def options_of_the_parser(capsys):
    with pytest.raises(SystemExit):
        command.parse_options(["--help"])
    return set(
        re.findall(r"(?<![\w-])--?[a-z][\w-]*", capsys.readouterr().out.partition("options:")[2])
    )


def test_the_readme_lists_every_option(capsys):
    written = set(re.findall(r"`(--?[a-z][\w-]*)", section("Options")))
    assert written == options_of_the_parser(capsys) - {"-h", "--help"}


def test_the_readmes_example_of_a_course_is_valid_and_has_every_key(tmp_path):
    text = section("The course").partition("```toml\n")[2].partition("```")[0]
    (tmp_path / "course.toml").write_text(text)
    course = read_course(tmp_path / "course.toml")
    record = tomllib.loads(text)
    (lab,) = record["labs"].values()
    changes = course.labs["histogram"].changes
    assert changes == {"by_warp": {"points": 0}, "by_block_adds": {"ideal": "40 * blocks"}, "by_block": {}}
    assert record.keys() == set(reader.TOP_KEYS)
    assert lab.keys() == set(reader.LAB_KEYS)
    assert record["late"].keys() == {key.name for key in fields(reader.LatePolicy)}


def test_the_readme_lists_every_status():
    rows = re.findall(r"^\| ([a-z ]+) \|", section("What OUT holds"), re.M)
    assert rows[1:] == [
        "status of a student", store.GRADED, store.REFUSED, scores.ABSENT, scores.NOT_READABLE, store.NOT_GRADED,
        scores.UNFINISHED, "exit status",
    ]  # fmt: skip
    numbers = re.findall(r"^\| (\d+) \|", section("What OUT holds"), re.M)
    assert [int(number) for number in numbers] == [
        command.ALL_GRADED, command.NOT_ALL_GRADED, command.INTERRUPTED,
    ]  # fmt: skip


def test_the_readme_lists_the_columns_of_scores():
    header = scores.scores_csv([], ["LAB"]).split("\r\n")[0].split(",")
    row = next(line for line in section("What OUT holds").splitlines() if "`scores.csv`" in line)
    assert re.findall(r"`(\w+)`", row) == [name for name in header if name != "LAB"]
