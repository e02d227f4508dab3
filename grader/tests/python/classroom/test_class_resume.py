"""A graded submission is graded again only if something that its score depends on has changed."""

import json
import signal
import time

import pytest
from class_tools import Classroom, class_of, put

FIVE = {f"s{i}": f"// score {i}" for i in range(5)}


@pytest.fixture
def classroom(tmp_path):
    return Classroom(tmp_path)


def times(classroom):
    return {path: path.stat().st_mtime_ns for path in (classroom.out / "results").iterdir()}


def test_only_what_has_changed_is_graded_again(classroom):
    class_of(classroom.submissions, FIVE)
    assert classroom.run() == 0
    before, scores = times(classroom), classroom.scores()

    assert classroom.run(jobs=2) == 0  # other jobs, the same class
    assert (times(classroom), classroom.scores()) == (before, scores)
    assert "5 of 5 graded" in classroom.out_text

    class_of(classroom.submissions, {"s1": "// score 91", "s7": "// score 97"})
    (classroom.submissions / "s4/shuffle.cu").touch()
    assert classroom.run() == 0
    assert classroom.graded() == [*FIVE, "s1", "s7"]
    assert classroom.scores() == scores | {"s1": "91", "s7": "97"}


def test_changes_that_affect_scores_cause_regrading(classroom):
    class_of(classroom.submissions, {"s0": "// score 1", "s1": "// score 2"})
    assert classroom.run() == 0
    for change, again in [
        (lambda: put(classroom.out, {"results/s1.json": "{}"}), ["s1"]),
        (lambda: (classroom.out / "reports/s1.txt").unlink(), ["s1"]),
        (lambda: put(classroom.out, {".class/records/s1.json": '{"key": '}), ["s1"]),
        (
            lambda: put(
                classroom.binary.parent, {"fake_lab32": classroom.binary.read_text() + "#"}
            ),
            ["s0", "s1"],
        ),
        (lambda: ["--seed", "8"], ["s0", "s1"]),
        (lambda: ["--labs", "shuffle,swizzle"], ["s0", "s1"]),
    ]:
        before, options = len(classroom.graded()), change()
        assert classroom.run(*(options if isinstance(options, list) else [])) == 0
        assert classroom.graded()[before:] == again
        assert classroom.scores() == {"s0": "1", "s1": "2"}
        assert classroom.result("s1")["score"] == 2


def test_a_changed_deadline_causes_no_regrading(classroom):
    class_of(classroom.submissions, FIVE)
    assert classroom.run() == 0
    put(
        classroom.folder,
        {"course.toml": "due = 2001-01-01T00:00:00Z\n[late]\nper_cent_per_day = 50\nuse_file_times = true\n"},
    )
    assert classroom.run("--course", classroom.folder / "course.toml") == 0
    assert set(classroom.scores().values()) == {"0"}
    assert {row["before_late"] for row in classroom.rows().values()} == set("01234")
    assert classroom.graded() == list(FIVE)


def test_a_secret_seed_stays_the_same(classroom):
    class_of(classroom.submissions, {"s0": ""})
    command = [word for word in classroom.command() if word not in ("--seed", "7")]
    classroom.command = lambda *options, jobs=1: command
    assert classroom.run() == 0
    seed = classroom.result("s0")["seed"]
    class_of(classroom.submissions, {"s1": ""})
    assert classroom.run() == 0
    assert classroom.result("s1")["seed"] == seed >= 1 << 16


@pytest.mark.slow
def test_an_interrupted_class_can_be_resumed(classroom):
    class_of(classroom.submissions, {f"s{i}": f"// score {i}\n// sleep 0.1" for i in range(6)})
    process = classroom.start()
    until = time.monotonic() + 20
    while len(classroom.graded()) < 2 and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=20)[1]
    assert process.returncode == 130
    assert said.endswith("lab32: interrupted; run the same command again to continue\n")
    assert "Traceback" not in said
    done = {name for name, row in classroom.rows().items() if row["status"] == "graded"}
    assert 2 <= len(done) < 6
    assert {row["status"] for row in classroom.rows().values()} == {"graded", "not graded yet"}
    assert classroom.run() == 0
    assert classroom.scores() == {f"s{i}": str(i) for i in range(6)}
    assert all(classroom.graded().count(name) == 1 for name in done)


@pytest.mark.slow
def test_two_runs_cannot_use_one_output_folder(classroom):
    class_of(classroom.submissions, {"s0": "// sleep 5"})
    first = classroom.start()
    until = time.monotonic() + 20
    while not (classroom.out / ".class/tries/s0").exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert classroom.run() == 2
    assert classroom.err_text == (
        f"lab32: {classroom.out}: another `lab32 class` is using this folder; wait until it ends\n"
    )
    first.terminate()
    said = first.communicate(timeout=20)[1]
    assert (first.returncode, said) == (
        130,
        "lab32: interrupted; run the same command again to continue\n",
    )


def test_a_record_names_the_graded_files(classroom):
    class_of(classroom.submissions, {"s0": "// score 3"})
    assert classroom.run() == 0
    record = json.loads((classroom.out / ".class/records/s0.json").read_text())
    checks = {"A1": 3, "B1": 0}
    assert record["labs"] == [
        {"lab": "shuffle", "status": "failed", "score": 3, "max_score": 100, "why": "", "checks": checks}
    ]
    assert (classroom.out / "submissions/s0/shuffle/shuffle.cu").read_text() == "// score 3"
