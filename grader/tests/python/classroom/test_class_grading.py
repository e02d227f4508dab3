"""With the real grader: what a student gets in a class is what he gets alone."""

import json
import subprocess

import pytest
from class_tools import Classroom, class_of, put
from synthetic_class import corpus

from lab32 import ROOT

NOT_A_PROGRAM = "this is no CUDA\n"


def without_seconds(value):
    if isinstance(value, dict):
        return {key: without_seconds(each) for key, each in value.items() if key != "seconds"}
    return [without_seconds(each) for each in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def texts():
    every = corpus("swizzle")
    by_kind = {name.partition("/")[0]: text for name, text in every}  # the last of each kind
    return {
        "wrong": by_kind["wrong"], "no program": NOT_A_PROGRAM,
    }  # fmt: skip


def test_a_class_gets_the_same_scores_as_single_submissions(tmp_path, texts):
    classroom = Classroom(tmp_path)
    classroom.binary = ROOT / "build/lab32"
    own = {"swizzle.cu": '#include "inc/own.h"\n' + texts["wrong"], "inc/own.h": '#include "more.cuh"\n', "inc/more.cuh": "\n"}
    put(classroom.submissions, {f"{name}/swizzle.cu": text for name, text in texts.items()})
    put(classroom.submissions / "own headers", own)
    put(classroom.submissions, {"王 小明/notes.txt": "nothing yet"})
    assert classroom.run(jobs=2, executor=None) == 2  # 小明's notes are no program
    for name in texts:
        folder = put(tmp_path / "alone" / name, {"swizzle/swizzle.cu": texts[name]})
        command = [classroom.binary, "grade", "swizzle", "--dir", ".", "--seed", "7", "--device", "sim"]
        alone = subprocess.run(
            [*command, "--no-modelled-times", "--json", "result"], cwd=folder, capture_output=True, text=True,
            timeout=120,
        )  # fmt: skip
        assert alone.returncode in (0, 1), alone.stderr
        assert without_seconds(classroom.result(name)) == without_seconds(
            json.loads((folder / "result").read_text())
        )
        # Students do not see the seed that they share.
        assert (classroom.out / f"reports/{name}.txt").read_text() == alone.stdout.replace(", seed 7", " " * 8)
    rows = classroom.rows()
    assert rows["own headers"]["score"] == rows["wrong"]["score"]
    assert rows["no program"]["score"] == "0"
    assert "swizzle: does not compile: line 1" in rows["no program"]["notes"]
    assert 0 < float(rows["wrong"]["score"]) < 100
    assert (rows["王 小明"]["status"], rows["王 小明"]["score"]) == ("not readable", "")
    assert "1 cannot be compiled or loaded" in classroom.out_text


@pytest.mark.slow
def test_modelled_times_change_no_points(tmp_path):
    folder = put(tmp_path, {"swizzle/swizzle.cu": (ROOT / "solutions/swizzle/swizzle.cu").read_bytes()})
    points, timed = [], []
    for options in ([], ["--no-modelled-times"]):
        command = [ROOT / "build/lab32", "grade", "swizzle", "--dir", ".", "--seed", "7", *options]
        done = subprocess.run([*command, "--device", "sim", "--format", "json"], cwd=folder, capture_output=True, timeout=120)
        tests = json.loads(done.stdout)["labs"][0]["tests"]
        points.append([(test["name"], test["status"], test["score"]) for test in tests])
        timed.append([test["measured"] for test in tests if test["status"] == "not run"])
    assert points[0] == points[1]
    assert timed[0] and all("modelled" in measured for measured in timed[0])
    assert timed[1] == [""] * len(timed[0])


def test_the_time_limit_of_a_lab_is_passed_to_the_grader(tmp_path):
    classroom = Classroom(tmp_path)
    class_of(classroom.submissions, {"ann": "// says its time limit\n"})
    assert classroom.run() == 0
    assert classroom.result("ann")["labs"][0]["message"] == "none"
    # A different limit gives a different result.
    for limit in ("45", "60"):
        assert classroom.run("--time-limit", limit) == 0
        assert classroom.result("ann")["labs"][0]["message"] == limit
    assert classroom.graded() == ["ann"] * 3
    assert classroom.run("--time-limit", "0") == 2
    assert "0 is not a whole number from 1" in classroom.err_text
