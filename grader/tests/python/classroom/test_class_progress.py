"""The progress display: a bar on a terminal, lines elsewhere."""

import contextlib
import os
import re
import threading

import pytest
from class_tools import Classroom, class_of

from lab32.classroom.progress import ProgressDisplay, clock_text, failure_reasons_summary

TEXTS = {f"s{i}": f"// score {10 * i}" for i in range(4)} | {
    "s7": "// error expected a ;", "s8\x1b[2J": "// error no", "s9": "// machine no nvcc",
}  # fmt: skip


@pytest.fixture
def classroom(tmp_path):
    made = Classroom(tmp_path)
    class_of(made.submissions, TEXTS)
    return made


def on_a_terminal(classroom, *options):
    """Reads the other end of the terminal."""
    master, slave = os.openpty()
    said = []

    def read():
        while True:
            try:
                said.append(os.read(master, 1 << 16))
            except OSError:  # the terminal was closed
                return

    reader = threading.Thread(target=read)
    reader.start()

    def before():
        os.dup2(slave, 2)
        os.environ.update(TERM="xterm", NO_COLOR="1")

    status = classroom.run(*options, before=before)
    os.close(slave)
    reader.join(10)
    os.close(master)
    return status, b"".join(said).decode()


def test_a_bar_with_the_rate_the_estimate_and_the_failures(classroom):
    status, said = on_a_terminal(classroom)
    assert status == 2
    assert "7/7" in said
    assert re.search(r"\d+\.\d per minute, 0:\d\d left", said)
    assert "2 cannot be compiled or loaded, 1 no nvcc" in said
    # Nothing is cut off in 80 columns.
    assert re.search(r"7/7 0:00:\d\d \d+\.\d per minute", said)
    assert "[1/7]" not in said
    assert "\x1b[2J" not in said


def test_without_a_terminal_progress_is_printed_in_lines(classroom):
    assert classroom.run() == 2
    lines = classroom.err_text.splitlines()
    assert lines[:4] == [f"[{i + 1}/7] s{i}: {10 * i} / 100" for i in range(4)]
    assert lines[4:7] == [
        "[5/7] s7: 0 / 100 (cannot be compiled or loaded)",
        "[6/7] s8\\x1b[2J: 0 / 100 (cannot be compiled or loaded)",
        "[7/7] s9: not graded (no nvcc)",
    ]
    assert classroom.out_text == (
        f"6 of 7 graded (shuffle); {classroom.out}/scores.csv; 2 cannot be compiled or loaded, 1 no nvcc\n"
    )


def test_earlier_results_count_as_done(classroom):
    assert classroom.run() == 2
    class_of(classroom.submissions, {"s9": "// score 90"})
    _, said = on_a_terminal(classroom)
    assert "6/7" in said
    assert "7/7" in said


def test_the_rate_is_computed_from_the_last_students(tmp_path):
    with open(tmp_path / "said", "w") as file:
        shown = ProgressDisplay(100, 0, file)
        shown.ends = [0.0] + [1000 + 2.0 * i for i in range(40)]
        shown.done = 40
    assert shown.students_per_minute() == 30
    assert shown.pace_text() == "30.0 per minute, 2:00 left"


def test_news_of_jobs_is_printed_above_the_bar_or_between_the_lines(tmp_path, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    master, slave = os.openpty()
    with open(slave, "w") as terminal, ProgressDisplay(9, 0, terminal) as shown:
        shown.print_above_bar("job 7_[1-2] on n2\x1b: NODE_FAIL")
    said = b""
    with contextlib.suppress(OSError):  # at its end, when the terminal was closed
        while True:
            said += os.read(master, 1 << 16)
    os.close(master)
    assert b"lab32: job 7_[1-2] on n2\\x1b: NODE_FAIL\r\n" in said
    with open(tmp_path / "lines", "w") as file, ProgressDisplay(9, 0, file) as shown:
        shown.print_above_bar("job 7 on n2: NODE_FAIL")
    assert (tmp_path / "lines").read_text() == "lab32: job 7 on n2: NODE_FAIL\n"


@pytest.mark.parametrize(
    "seconds, text", [(0, "0:00"), (59.6, "1:00"), (3599, "59:59"), (7384, "2:03:04")]
)
def test_durations(seconds, text):
    assert clock_text(seconds) == text


def test_the_most_frequent_failures_come_first():
    assert failure_reasons_summary(["a", "b", "b", "c\n", "d", "b"]) == "3 b, 1 a, 1 c\\x0a"
