"""`lab32 new-lab` writes a lab without a fault, and `lab32 try-lab` finds what is wrong with a lab."""

import json
import shutil
import subprocess

import pytest

from authoring import new_lab, try_lab
from lab32 import ROOT, labs
from mutants import mutants

NAME = "stripes"


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout made of links, to which labs can be added."""
    added = {place.split("/{0}")[0] for place in new_lab.PLACES.values()}
    root = tmp_path / "checkout"
    for folder in ("", "grader", "data", *added):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for folder in ("", "grader", "data", *added):
        for entry in (ROOT / folder).iterdir():
            if not (root / folder / entry.name).exists():
                (root / folder / entry.name).symlink_to(entry)
    for module in (try_lab, mutants):
        monkeypatch.setattr(module, "ROOT", root)
    monkeypatch.setenv("LAB32_ROOT", str(root))
    return root


def examined(count=0):
    return try_lab.run_lab_acceptance_test(NAME, str(ROOT / "build/lab32"), count)


def test_a_new_lab_needs_a_name_that_is_free(capsys):
    assert new_lab.main(["Stripes"]) == 2
    assert "`Stripes` is no name of a lab" in capsys.readouterr().err
    assert new_lab.main(["coalescing"]) == 2
    assert "labs/coalescing/coalescing.cu is there already" in capsys.readouterr().err


def test_each_line_of_a_new_rubric_has_a_comment():
    lines = (new_lab.TEMPLATE / "rubric.toml").read_text().splitlines()
    without = {line.split(" = ")[0] for line in lines if " = " in line and "#" not in line}
    assert without <= {"check", "points", "credit", "reason"}  # explained above, or by themselves


def test_an_unknown_lab_is_an_error(capsys):
    assert try_lab.main(["nowhere"]) == 2
    assert "data/limits/nowhere.toml does not exist; `lab32 new-lab` makes a lab" in capsys.readouterr().err


def test_verdicts_are_compared_with_those_of_the_first_lines(tmp_path):
    file = tmp_path / "wrong/one.cu"
    file.parent.mkdir()
    file.write_text('// verdict: B1 | failed | "is 3"\n// verdict: B9 | failed | ""\nint x;\n')
    tests = [{"name": "B1", "status": "failed", "message": "out[0] is 4"}, {"name": "B2", "status": "failed"}]
    faults = try_lab.verdict_differences(file, {"status": "failed", "tests": tests})
    assert faults == [
        'wrong/one.cu: B1 | failed | "is 3", but it is failed',
        'wrong/one.cu: B9 | failed | "", but there is no such check',
        "wrong/one.cu: B2 is failed, which no line names",
    ]


def graded(root, *words):
    """(status, the JSON of `lab32 grade` of labs in `root`, standard error)"""
    command = [ROOT / "build/lab32", "grade", "--labs", root, *words, "--device", "sim", "--format", "json"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


def test_a_lab_may_live_elsewhere(tmp_path, capsys, monkeypatch):
    assert new_lab.main([NAME, "--labs", str(tmp_path)]) == 0
    assert f"`lab32 try-lab {NAME} --labs {tmp_path}`" in capsys.readouterr().out
    for words, status, has_full_marks in ((["--dir", "solutions"], 0, True), ([], 1, False)):
        done, result, _ = graded(tmp_path, *words)  # without a name, all labs of the folder
        assert (done, [lab["lab"] for lab in result["labs"]]) == (status, [NAME])
        assert (result["score"] == result["max_score"] == 100) == has_full_marks
    monkeypatch.setenv("LAB32_LABS", "")  # try-lab sets it
    assert try_lab.main([NAME, "--labs", str(tmp_path), "--mutants", "0"]) == 0, capsys.readouterr().out
    assert labs.rubric_path_by_lab().keys() > {NAME, "coalescing"}


@pytest.mark.slow
def test_a_class_is_graded_in_a_lab_that_lives_elsewhere(tmp_path, monkeypatch):
    new_lab.write_lab_from_template(NAME, tmp_path / "mine")
    (tmp_path / "in").mkdir()
    shutil.copy(tmp_path / f"mine/solutions/{NAME}/{NAME}.cu", tmp_path / f"in/ada_{NAME}.cu")
    monkeypatch.setenv("LAB32_LABS", str(tmp_path / "mine"))
    words = ["class", tmp_path / "in", "-o", tmp_path / "out", "--jobs", "1", "--no-report", "--no-pages"]
    done = subprocess.run([ROOT / "build/lab32", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "ada,ada,graded,100,100,100,100," in (tmp_path / "out/scores.csv").read_text()


def test_folders_without_labs_and_names_that_are_taken_are_errors(tmp_path):
    status, _, said = graded(tmp_path)
    assert status == 2 and said.startswith(f"lab32: --labs {tmp_path}: it has no data/limits; `lab32 new-lab")
    new_lab.write_lab_from_template("swizzle", tmp_path)
    status, _, said = graded(tmp_path)
    assert (status, said) == (2, f"lab32: {tmp_path}/data/limits/swizzle.toml: lab32 has a lab of this name, too; rename yours\n")


def test_a_lab_elsewhere_must_declare_its_checks(tmp_path):
    new_lab.write_lab_from_template(NAME, tmp_path)
    rubric = tmp_path / f"data/limits/{NAME}.toml"
    rubric.write_text(rubric.read_text() + '\n[more]\ncheck = "C1 more"\npoints = 1\ncredit = "all"\n')
    status, _, said = graded(tmp_path)
    assert status == 2 and 'there is no check "C1 more"' in said


@pytest.mark.slow
@pytest.mark.parametrize("lab", labs.lab_names())
def test_each_lab_has_no_fault(lab):
    """Some submissions: `grading: all other submissions` grades all of them."""
    lines, faults = try_lab.run_lab_acceptance_test(lab, str(ROOT / "build/lab32"), count=0, submissions=6)
    assert not faults, "\n".join(lines)


@pytest.mark.slow
def test_a_new_lab_has_no_fault(checkout):
    written = new_lab.write_lab_from_template(NAME, checkout)
    assert len(written) == 5
    lines, faults = examined(count=6)
    assert not faults, "\n".join(lines)
    assert lines[1].split() == ["solution", "100", "of", "100"]
    assert "1 wrong, 0 cheat: all as their first lines say" in lines[3]
    assert "1 counter at n / 16, n, 16 n" in lines[4]
    assert " of 6 lose points" in lines[5]
    with pytest.raises(FileExistsError):
        new_lab.write_lab_from_template(NAME, checkout)


# {the fault: [file, the text that is replaced, its replacement, the messages that must be printed]}
BROKEN = {
    "an ideal for one size": ("data/limits/{}.toml", '"n / 4"', "65536",
                              ["[scale_sectors] at n / 16: the ideal, 65,536 sectors, is lax: the solution takes 4,096",
                               "[scale_sectors] at 16 n: the solution takes 1,048,576 sectors, the ideal is 65,536"]),
    "an ideal that is lax": ("data/limits/{}.toml", '"n / 4"', '"n / 2"',
                             ["[scale_sectors] at n: the ideal, 131,072 sectors, is lax: the solution takes 65,536"]),
    "a solution that is wrong": ("solutions/{0}/{0}.cu", "if (i < n)", "if (i + 1 < n)", ["B1 scale: result: "]),
    "a skeleton that is solved": ("labs/{0}/{0}.cu", None, None, ["the untouched skeleton has full marks"]),
    "a verdict with other words": ("grader/labs/{}/submissions/wrong/forgets_the_last.cu", "was not written", "is 3",
                                 ['wrong/forgets_the_last.cu: B1 scale: result | failed | "is 3", but it is failed']),
    "a message without a hint": ("data/limits/{}.toml", '"How many bytes are 32 floats?"', '""',
                                 ["[sectors] asks neighbours_sectors without a hint"]),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("what", BROKEN)
def test_each_fault_of_a_lab_is_found(what, checkout):
    new_lab.write_lab_from_template(NAME, checkout)
    place, old, new, expected = BROKEN[what]
    file = checkout / place.format(NAME)
    solution = (checkout / f"solutions/{NAME}/{NAME}.cu").read_text()
    file.write_text(file.read_text().replace(old, new) if old else solution)
    lines, faults = examined()
    for words in expected:
        assert any(words in fault for fault in faults), "\n".join(lines)
