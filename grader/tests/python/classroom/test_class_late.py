"""The deduction for late submissions."""

from datetime import UTC, datetime, timedelta

import pytest

from lab32.classroom.collect import SubmittedFile
from lab32.classroom.late import (
    days_late_and_note,
    deduction_per_cent,
    late_deductions_by_lab,
    points_after_deduction,
)
from lab32.classroom.scores import rounded_to_hundredths, sum_of_points
from lab32.course.reader import read_course

DUE = datetime(2026, 11, 23, 22, 59, tzinfo=UTC)
TEXT = "due = 2026-11-23T23:59:00+01:00\n[late]\ngrace_minutes = 15\nper_cent_per_day = 10\ncap_per_cent = 45\n"
DAY = timedelta(days=1)


def course(folder, text):
    (folder / "course.toml").write_text(text)
    return read_course(folder / "course.toml")


def taken(of_course, lab, when):
    return deduction_per_cent(of_course, days_late_and_note(of_course, lab, SubmittedFile(b"", "x", time=when))[0])


@pytest.mark.parametrize(
    "late, taken_of_it",
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
def test_each_started_day_costs_points(tmp_path, late, taken_of_it):
    assert taken(course(tmp_path, TEXT), "shuffle", DUE + late) == taken_of_it


def test_each_lab_may_have_its_own_due_time(tmp_path):
    text = "[late]\nper_cent_per_day = 10\n[labs]\nshuffle.due = 2026-11-23T23:59:00+01:00\nswizzle = {}\n"
    late = course(tmp_path, text)
    assert taken(late, "shuffle", DUE + timedelta(hours=1)) == 10
    assert taken(late, "swizzle", DUE + timedelta(hours=1)) == 0


def test_the_rosters_time_precedes_the_platforms(tmp_path):
    source = SubmittedFile(b"", "x", time=DUE + DAY, file_time=DUE + 3 * DAY)

    def deducted(of_course, when=None):
        return late_deductions_by_lab(of_course, {"shuffle": source}, when=when)["shuffle"]

    late = course(tmp_path, TEXT)
    assert deducted(late, DUE - DAY) == (0, [])  # the roster's
    assert deducted(late) == (10, ["shuffle: late, 10 % taken"])  # the platform's
    source.time = None
    assert deducted(late) == (0, ["shuffle: submission time unknown: nothing taken"])
    source.late = True
    said = "shuffle: LATE according to the platform, which gives no time: counted as"
    assert deducted(late) == (10, [f"{said} 1 day", "shuffle: late, 10 % taken"])
    mild = course(tmp_path, TEXT + "marked_late_days = 0\n")
    assert deducted(mild) == (0, [f"{said} 0 days"])
    by_files = course(tmp_path, TEXT + "use_file_times = true\n")
    assert deducted(by_files)[0] == 30


def test_slip_days_are_used_in_the_order_of_the_deadlines(tmp_path):
    text = TEXT + "slip_days = 3\n[labs]\nswizzle.due = 2026-11-24T23:59:00+01:00\nshuffle = {}\n"
    files = {lab: SubmittedFile(b"", "x", time=DUE + 3 * DAY) for lab in ("swizzle", "shuffle")}
    found = late_deductions_by_lab(course(tmp_path, text), files)
    assert found == {
        "shuffle": (0, ["shuffle: late, 3 slip days used, 0 left"]),
        "swizzle": (20, ["swizzle: late, 20 % taken"]),
    }
    files["shuffle"].time = DUE + DAY
    assert late_deductions_by_lab(course(tmp_path, text), files)["swizzle"] == (0, ["swizzle: late, 2 slip days used, 0 left"])
    files["swizzle"].time = DUE + 4 * DAY
    assert late_deductions_by_lab(course(tmp_path, text), files)["swizzle"] == (
        10, ["swizzle: late, 2 slip days used, 0 left", "swizzle: late, 10 % taken"],
    )  # fmt: skip


def test_an_extension_moves_a_students_deadline(tmp_path):
    late = course(tmp_path, TEXT + "[extensions.ada]\ndays = 2\nswizzle = 2026-12-01T00:00:00Z\n")
    for lab, when, days in (("shuffle", DUE + 3 * DAY, 1), ("swizzle", DUE + 7 * DAY, 0), ("transpose", DUE + DAY, 0)):
        source = SubmittedFile(b"", "x", time=when)
        assert days_late_and_note(late, lab, source, [("sid", "Ada")])[0] == days
        assert days_late_and_note(late, lab, source, [("sid", "ben")])[0] > days


@pytest.mark.parametrize(
    "points, per_cent, rest", [(100, 10, 90), (27.7, 10, 24.93), (33.33, 33, 22.33), (0, 45, 0)]
)
def test_points_are_cut_to_hundredths(points, per_cent, rest):
    assert points_after_deduction(points, per_cent) == rest


def test_sums_of_points_have_no_rounding_errors():
    assert [rounded_to_hundredths(points) for points in (86.03999999999999, 88.0, 0, 99.99)] == [
        86.04,
        88,
        0,
        99.99,
    ]
    assert isinstance(rounded_to_hundredths(88.0), int)
    assert sum_of_points([0.1, 0.2, 86.04]) == 86.34
