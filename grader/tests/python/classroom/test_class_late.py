"""The deduction for late submissions."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from lab32.classroom.collect import Source
from lab32.classroom.late import points_after_deduction, read_policy
from lab32.classroom.problem import Problem
from lab32.classroom.scores import rounded_to_hundredths, total

LABS = ["shuffle", "swizzle"]
DUE = datetime(2026, 11, 23, 22, 59, tzinfo=UTC)
TEXT = "due = 2026-11-23T23:59:00+01:00\ngrace_minutes = 15\nper_cent_per_day = 10\ncap_per_cent = 45\n"


def policy(folder, text):
    (folder / "late.toml").write_text(text)
    return read_policy(folder / "late.toml", LABS)


@pytest.mark.parametrize(
    "late, per_cent",
    [
        (timedelta(days=-3), 0),
        (timedelta(0), 0),
        (timedelta(minutes=15), 0),
        (timedelta(minutes=15, seconds=1), 10),
        (timedelta(days=1), 10),
        (timedelta(days=1, seconds=1), 20),
        (timedelta(days=4), 40),
        (timedelta(days=5), 45),
        (timedelta(days=900), 45),
    ],
)
def test_each_started_day_costs_points(tmp_path, late, per_cent):
    assert policy(tmp_path, TEXT).per_cent("shuffle", DUE + late) == per_cent


def test_each_lab_may_have_its_own_due_time(tmp_path):
    text = "per_cent_per_day = 10\n[due]\nshuffle = 2026-11-23T23:59:00+01:00\n"
    late = policy(tmp_path, text)
    assert late.per_cent("shuffle", DUE + timedelta(hours=1)) == 10
    assert late.per_cent("swizzle", DUE + timedelta(hours=1)) == 0


def test_the_rosters_time_precedes_the_platforms(tmp_path):
    day = timedelta(days=1)
    source = Source(b"", "x", time=DUE + day, file_time=DUE + 3 * day)
    late = policy(tmp_path, TEXT)
    assert late.applied("shuffle", source, DUE - day)[0] == 0  # the roster's
    assert late.applied("shuffle", source, None)[0] == 10  # the platform's
    source.time = None
    assert late.applied("shuffle", source, None) == (0, "shuffle: submission time unknown: nothing taken")
    source.late = True
    said = "shuffle: LATE according to the platform, which gives no time: counted as"
    assert late.applied("shuffle", source, None) == (10, f"{said} 1 day")
    mild = policy(tmp_path, TEXT + "marked_late_days = 0\n")
    assert mild.applied("shuffle", source, None) == (0, f"{said} 0 days")
    by_files = policy(tmp_path, TEXT + "use_file_times = true\n")
    assert by_files.applied("shuffle", source, None)[0] == 30


@pytest.mark.parametrize(
    "points, per_cent, rest", [(100, 10, 90), (27.7, 10, 24.93), (33.33, 33, 22.33), (0, 45, 0)]
)
def test_points_are_cut_to_hundredths(points, per_cent, rest):
    assert points_after_deduction(points, per_cent) == rest


@pytest.mark.parametrize(
    "text, words",
    [
        ("due = 2026-11-23T23:59:00+01:00\nper_cent = 10\n", "there is no key `per_cent`; the keys are cap_per_cent, "),
        ("due = 2026-11-23T23:59:00+01:00\n", "per_cent_per_day must be a number of at least 0, such as per_cent_per_day = 10"),
        (TEXT.replace("45", "101"), "cap_per_cent must be at most 100"),
        (TEXT.replace("45", "nan"), "cap_per_cent must be a number of at least 0"),
        (TEXT.replace("45", "true"), "cap_per_cent must be a number of at least 0"),
        (TEXT.replace("15", "-1"), "grace_minutes must be a number of at least 0"),
        (TEXT.replace("+01:00", ""), "due must be a time with its zone"),
        ("per_cent_per_day = 10\n", "due must be a time with its zone"),
        (TEXT + "use_file_times = 1\n", "use_file_times must be true or false"),
        ("per_cent_per_day = 10\n[due]\nreduction = 2026-11-23T23:59:00Z\n", "[due] names `reduction`, which is not graded"),
        ("due =\n", "Invalid value"),
    ],
)  # fmt: skip
def test_a_bad_policy_is_reported(tmp_path, text, words):
    with pytest.raises(Problem) as caught:
        policy(tmp_path, text)
    assert re.search(rf"late\.toml(:\d)?: {re.escape(words)}", str(caught.value))


def test_a_missing_policy_is_reported(tmp_path):
    with pytest.raises(Problem, match="none.toml: cannot be read: No such file"):
        read_policy(tmp_path / "none.toml", LABS)


def test_sums_of_points_have_no_rounding_errors():
    assert [rounded_to_hundredths(points) for points in (86.03999999999999, 88.0, 0, 99.99)] == [
        86.04,
        88,
        0,
        99.99,
    ]
    assert isinstance(rounded_to_hundredths(88.0), int)
    assert total([0.1, 0.2, 86.04]) == 86.34
