import json
import stat

import pytest

from lab32 import ROOT, results

SAMPLE = ROOT / "grader/tests/python/data/result.json"


def test_reads_every_field():
    result = results.load_result(SAMPLE)
    assert (result.device, result.seed, result.max_score) == ("sim:h200", 1, 100)
    lab = result.lab("coalescing")
    test = next(t for t in lab.tests if t.name == "B1 scale: sectors")
    assert (test.status, test.score, test.max_score, test.line) == ("failed", 1, 8, 86)
    assert test.figures["sectors"] == 2097152


def test_figures_of_a_lab_can_be_selected_by_prefix():
    figures = results.load_result(SAMPLE).lab("coalescing").figures_by_name("add5 ")
    assert figures == {
        "load requests": 65536,
        "load sectors": 1048576,
        "store requests": 32768,
        "store sectors": 524288,
    }


def test_an_unknown_lab_is_an_error_that_lists_the_labs():
    with pytest.raises(KeyError, match="no lab swizzle in this result .there: coalescing"):
        results.load_result(SAMPLE).lab("swizzle")


def test_another_schema_is_refused():
    record = json.loads(SAMPLE.read_text()) | {"schema": "lab32-result/9"}
    with pytest.raises(ValueError, match="schema lab32-result/9, this reads lab32-result/2"):
        results.parse_result(json.dumps(record))


def test_text_that_is_not_json_is_refused():
    with pytest.raises(ValueError, match="not JSON .*--format json"):
        results.parse_result("coalescing  12 of 100")


def program(folder, text):
    path = folder / "lab32"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_lost_points_are_not_an_error(tmp_path):
    lab32 = program(tmp_path, f"cat {SAMPLE}; exit 1")
    assert results.grade("coalescing", binary=lab32).lab("coalescing").max_score == 100


def test_a_failed_grading_is_an_error(tmp_path):
    lab32 = program(tmp_path, "echo 'lab32: no nvcc' >&2; exit 2")
    with pytest.raises(RuntimeError, match="lab32: no nvcc"):
        results.grade("coalescing", binary=lab32)


def test_the_error_for_a_missing_binary_says_how_to_build_it(tmp_path):
    with pytest.raises(RuntimeError, match="run `make build` first"):
        results.grade("coalescing", binary=tmp_path / "none")
