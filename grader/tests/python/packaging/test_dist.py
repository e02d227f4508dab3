"""`make dist`: the students' pack has no answer and no code of the solutions, and grades without them. The
autograders of Gradescope and Autolab run as these platforms start them. Each test runs in a root of its own
without the project."""

import json
import os
import posixpath
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import dist_tools
import jsonschema
import notebook_cells
import pytest
import yaml
from dist_tools import (
    CLASSROOM50,
    LAB,
    SARIF,
    VERSION,
    CleanRoot,
    autolab,
    contents,
    gradescope,
    prairielearn,
    scores,
    skeleton,
    solution,
    unpack,
)
from graded import graded_json
from report_figures import check_figures

from authoring import new_lab
from lab32 import ROOT

sys.path.insert(0, str(ROOT / "grader/setup/dist"))
import recipe  # noqa: E402

pytestmark = pytest.mark.slow

LABS = sorted(path.stem for path in (ROOT / "data/limits").glob("*.toml"))


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    return dist_tools.make(tmp_path_factory.mktemp("made"), LAB)


@pytest.fixture(scope="module")
def files(dist):
    """{path: bytes} of all files that students get, including files in archives."""
    held = {}
    for path in sorted((dist / "students").iterdir()):
        held |= contents(path.read_bytes(), path.name)
    assert len(held) > 200
    return held


def questions():
    """(lab, table, question, answer) in the repository's rubrics."""
    for lab in LABS:
        limits = tomllib.loads((ROOT / f"data/limits/{lab}.toml").read_text())
        for table, row in limits.items():
            for name, question in (row.get("questions", {}) if isinstance(row, dict) else {}).items():
                yield lab, table, name, question["answer"]


# ---- the contents of the pack --------------------------------------------------------------------


def test_rubrics_of_the_pack_hold_hashes_for_answers(files):
    rubrics = {path: data for path, data in files.items() if "/data/limits/" in path}
    assert len(rubrics) == 2 * len(LABS)  # of the wheel, and of the wheel in the tar
    seen = set()
    for data in rubrics.values():
        text = data.decode()
        assert "reason" not in text
        assert not re.search(r"^\s*#", text, re.MULTILINE)
        limits = tomllib.loads(text)
        for lab, table, name, _ in questions():
            if lab == limits["lab"]:
                sealed = limits[table]["questions"][name]["answer"]
                assert re.fullmatch(r"\$y\$\S{60,}", sealed)
                seen.add((lab, name, sealed))
    # Equal answers have different hashes, so that a known answer reveals no other.
    assert len({sealed for *_, sealed in seen}) == len(list(questions()))


def test_rubrics_of_the_pack_differ_only_in_answers_and_reasons(files):
    for lab in LABS:
        limits = tomllib.loads((ROOT / f"data/limits/{lab}.toml").read_text())
        (held,) = [
            tomllib.loads(data.decode()) for path, data in files.items()
            if path.endswith(f"/data/limits/{lab}.toml") and path.startswith(f"lab32-{VERSION}-py3")
        ]  # fmt: skip
        assert list(held) == list(limits)
        for name, table in limits.items():
            if isinstance(table, dict):
                table.pop("reason", None)
                for question, value in table.get("questions", {}).items():
                    value["answer"] = held[name]["questions"][question]["answer"]
        assert held == limits


def test_no_text_of_the_pack_contains_an_answer(files):
    """Searches as a student would: with grep for the question's name."""
    for lab, _, name, answer in questions():
        number = re.compile(rf"(?<![\w.$-]){answer}(?![\w.])")
        for path, data in files.items():
            if name.encode() not in data or f"/data/limits/{lab}.toml" in path:
                continue
            for line in data.decode(errors="replace").splitlines():
                if name in line:
                    assert not number.search(line.replace(name, "")), (path, line)


def test_programs_of_the_pack_contain_no_answer(files):
    """`strings` of the programs shows neither the rubric nor a number that only an answer has."""
    programs = {p: d for p, d in files.items() if re.search(r"/lab32$|libcudart\.so\.13$", p)}
    assert len(programs) == 6  # in the wheel and beside it: lab32, the runtime's lab32, libcudart
    for path, data in programs.items():
        shown = b"\n".join(re.findall(rb"[\t\x20-\x7e]{4,}", data))
        assert b"LAB32_ANSWER" in shown or "cudart" in path  # they are looked through
        for _, _, name, answer in questions():
            assert name.encode() not in shown, (path, name)
            if answer > 1e6:
                assert str(answer).encode() not in shown, (path, answer)


def squeezed(text):
    return re.sub(rb"\s+", b"", text)


def test_the_pack_contains_no_code_of_the_solutions(files):
    given = b"\n".join(
        squeezed(path.read_bytes())
        for top, pattern in (("labs", "*.cu*"), ("grader/labs", "given.cu"), ("grader/gpu", "*.cu"))
        for path in sorted((ROOT / top).rglob(pattern))
    )
    lines = {
        squeezed(line)
        for path in (ROOT / "solutions").rglob("*.cu")
        for line in path.read_bytes().splitlines()
    }
    own = {line for line in lines if len(line) >= 20 and line not in given}
    assert len(own) > 300
    for path, data in files.items():
        held = squeezed(data)
        assert not [line for line in own if line in held], path


def test_reference_solutions_of_the_pack_are_sealed(files):
    """They are included for timing; no PTX and no code of a solution can be read in them."""
    sealed = {path: data for path, data in files.items() if "/build/references/" in path}
    assert sorted({Path(path).name for path in sealed}) == LABS
    for path, data in sealed.items():
        assert data.startswith(b"lab32 reference 1\n"), path
        assert len(data) > 10_000, path
        assert not re.search(rb"[\x20-\x7e\t]{24}", data[40:]), path


def test_the_pack_has_no_internal_file(files):
    parts = {part for path in files for part in re.split(r"[!/]", path)}
    for name in ("solutions", "submissions", "variants.cuh", "tests", "measure", ".git", "mutants.py",
                 "explained.toml", "golden", "h200-score-report.txt"):  # fmt: skip
        assert name not in parts
    sources = [path for path in files if path.endswith((".cpp", ".h"))]
    # It also has the headers of cuBLAS for programs, in case the toolkit lacks them.
    assert {Path(path).name for path in sources} == {"warmup.cpp", "cublas_v2.h"}


def test_counters_of_the_pack_are_those_that_notebooks_draw(files):
    counters = [data for path, data in files.items() if path.endswith("-counters.csv")]
    assert len(counters) == 2 * 3
    for data in counters:
        rows = [line for line in data.decode().splitlines()[1:] if line and line[0] != "#"]
        metrics = {line for line in rows if "memory_l1_wavefronts_shared," not in line}
        assert len(rows) > 5
        assert len(metrics) == 1  # the head of the table
        assert not [line for line in rows if line.startswith("stage,")]


def test_links_of_the_pack_have_existing_targets(files):
    top = f"lab32-{VERSION}.tar.gz!"
    found = {path.removeprefix(top) for path in files if path.startswith(top)}
    found |= {posixpath.dirname(path) for path in found}
    pages = [path for path in found if re.search(r"/(labs|handouts)/.*\.md$", path)]
    assert len(pages) > 8
    for page in pages:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", files[top + page].decode()):
            assert posixpath.normpath(f"{posixpath.dirname(page)}/{link}") in found, (page, link)


# ---- the students' pack at work --------------------------------------------------------------------


@pytest.fixture(scope="module")
def pack(dist, tmp_path_factory):
    """The unpacked tar with the wheel installed: (root, directory, bin/)."""
    root = CleanRoot(tmp_path_factory.mktemp("student"))
    unpack(dist / f"students/lab32-{VERSION}.tar.gz", root.folder)
    top = root.folder / f"lab32-{VERSION}"
    (wheel,) = top.glob("lab32-*.whl")
    bin = root.install(wheel)
    # On a slow machine matplotlib reports once on standard error that it builds its font cache.
    root.run(bin / "python", "-c", "import matplotlib.font_manager")
    return root, top, bin


def grade(pack, text, lab=LAB):
    root, top, bin = pack
    (top / "labs" / lab / f"{lab}.cu").write_text(text)
    return root.run(bin / "lab32", "grade", lab, cwd=top)


def test_the_pack_needs_nothing_outside_itself(pack):
    root, _, bin = pack
    found = root.run(bin / "python", "-c", "import lab32; print(lab32.ROOT)").stdout.strip()
    assert Path(found).is_relative_to(root.folder)
    assert "LAB32_ROOT" not in root.environment
    if root.words:  # a root of its own
        assert not root.run("find", ROOT / "solutions", ROOT / "data", ROOT / "grader").stdout


def test_the_pack_grades_a_solution_and_a_skeleton(pack):
    right = grade(pack, solution())
    assert right.returncode == 0, right.stderr
    assert re.search(rf"^{LAB} +100 / 100$", right.stdout, re.MULTILINE)
    wrong = grade(pack, skeleton())
    assert wrong.returncode == 1, wrong.stderr
    assert "Not answered yet: plain_load_wavefronts" in wrong.stdout


def test_the_pack_grades_by_a_course(pack):
    root, top, bin = pack
    grade(pack, solution())
    rubric = tomllib.loads((ROOT / f"data/limits/{LAB}.toml").read_text())
    table = next(name for name, row in rubric.items() if isinstance(row, dict) and row.get("points"))
    (top / "course.toml").write_text(f"max_score = 50\n[labs.{LAB}.checks]\n{table}.points = 0\n")
    done = root.run(bin / "lab32", "grade", "--course", "course.toml", cwd=top)
    assert done.returncode == 0, done.stderr
    assert re.search(rf"^{LAB} +50 / 50$", done.stdout, re.MULTILINE)


def test_the_pack_grades_labs_that_live_elsewhere(pack):
    root, top, bin = pack
    new_lab.write_lab_from_template("stripes", top / "mine")
    done = root.run(bin / "lab32", "grade", "--labs", "mine", "--dir", "mine/solutions", cwd=top)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^stripes +100 / 100$", done.stdout, re.MULTILINE)


def answered(lab, answers):
    """The solution with other answers to some questions."""
    text = solution(lab)
    for question, value in answers.items():
        text, found = re.subn(rf"LAB32_ANSWER\({question}, [\d.]+\)", f"LAB32_ANSWER({question}, {value})", text)
        assert found == 1, question
    return text


@pytest.mark.parametrize(
    ("lab", "right", "wrong", "no_hint"),
    [
        (LAB, {}, {"plain_load_wavefronts": 31}, {"plain_store_wavefronts": -1}),
        # A ratio: 1 is the nearest option.
        ("coalescing", {"add2_time": 1.1, "add2_sectors": "5.0"}, {"length_time": 1.2}, {}),
        ("shuffle", {}, {"next_float": 16777217}, {}),
    ],
)
def test_the_pack_grades_answers_like_the_repository(pack, lab, right, wrong, no_hint):
    """The pack compares hashes, the repository numbers: points and hints are equal word for word."""
    root, top, bin = pack
    (top / "labs" / lab / f"{lab}.cu").write_text(answered(lab, right | wrong | no_hint))
    words = ("grade", lab, "--seed", "7", "--device", "sim")
    there = root.run(bin / "lab32", *words, cwd=top)
    here = subprocess.run([ROOT / "build/lab32", *words], cwd=top, env=dict(os.environ, LAB32_ROOT=str(ROOT)),
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert there.returncode == here.returncode == 1
    assert there.stdout == here.stdout
    shown = " ".join(there.stdout.split())
    for question in right | wrong | no_hint:
        assert hint_of(lab, question) in shown if question in wrong else hint_of(lab, question) not in shown


def hint_of(lab, question):
    table = next(table for of, table, name, _ in questions() if (of, name) == (lab, question))
    limits = tomllib.loads((ROOT / f"data/limits/{lab}.toml").read_text())
    return " ".join(limits[table]["questions"][question]["hint"].split())


def test_a_notebook_of_the_pack_runs_without_solutions(pack):
    root, top, bin = pack
    (top / "labs" / LAB / f"{LAB}.cu").write_text(skeleton(LAB))
    outcome = root.run(bin / "python", "-m", "lab32.notebooks", f"labs/{LAB}/report.ipynb", cwd=top)
    assert outcome.returncode == 0, outcome.stderr
    check_figures(top / f"build/notebooks/{LAB}-report.ipynb")


def test_cells_of_all_notebooks_of_the_pack_run_without_solutions(pack):
    """With stored results; data is read from the pack."""
    root, top, bin = pack
    given = root.folder / "given"
    given.mkdir()
    labs = [lab for lab in LABS if (ROOT / f"labs/{lab}/report.ipynb").exists()]
    for lab in labs:
        (given / f"{lab}.json").write_text(graded_json(lab, "labs"))
    shutil.copy(notebook_cells.__file__, given)
    outcome = root.run(bin / "python", given / "notebook_cells.py", given, *labs, cwd=top)
    assert outcome.returncode == 0, outcome.stderr
    drawn = [line.split() for line in outcome.stdout.splitlines()]
    assert [lab for lab, *_ in drawn] == labs
    assert all(int(seen) == int(cells) >= 1 for _, seen, cells in drawn), drawn


@pytest.mark.parametrize("command", ["class", "similarity"])
def test_an_instructors_command_explains_how_to_install_what_it_needs(pack, command):
    root, top, bin = pack
    without = {"PYTHONPATH": ""}  # the root's path stands for packages that pip would install
    outcome = root.run(bin / "lab32", command, "labs", "-o", "out", cwd=top, **without)
    (wheel,) = top.glob("lab32-*.whl")
    assert outcome.returncode == 2
    told = outcome.stderr.splitlines()[-1]
    assert told.startswith(f"lab32 {command}: it needs Python packages that are not installed (yaml, rich")
    assert told.endswith(f"; install them with: pip install '{wheel}[class]'")


# ---- Gradescope ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def autograder(dist, tmp_path_factory):
    """/autograder as in Gradescope's image, after setup.sh."""
    root = CleanRoot(tmp_path_factory.mktemp("gradescope"))
    top = root.folder / "autograder"
    unpack(dist / "gradescope/autograder.zip", top / "source")
    shutil.copy(top / "source/run_autograder", top)
    made = root.run("bash", top / "source/setup.sh")
    assert made.returncode == 0, made.stderr
    return root, top


def test_gradescope_gives_a_solution_all_points(autograder):
    record, outcome = gradescope(autograder, {f"{LAB}.cu": solution()})
    assert outcome.returncode == 0, outcome.stderr
    assert record["score"] == 100
    assert {test["status"] for test in record["tests"] if "status" in test} == {"passed"}


def test_gradescope_gives_a_wrong_submission_less_and_explains_why(autograder):
    record, outcome = gradescope(autograder, {f"homework/{LAB}/{LAB}.cu": skeleton()})
    assert outcome.returncode == 0, outcome.stderr
    assert 0 < record["score"] < 50
    failed = [test for test in record["tests"] if test.get("status") == "failed"]
    assert any(f"labs/{LAB}/{LAB}.cu:" in test["output"] for test in failed)


def test_gradescope_takes_a_lone_file_by_any_name_and_headers(autograder):
    text = solution()
    (line,) = re.findall(r'^#include "lab32.cuh"$', text, re.MULTILINE)
    handed_in = {"mine.cu": text.replace(line, line + '\n#include "mine.cuh"'), "mine.cuh": "\n"}
    record, _ = gradescope(autograder, handed_in | {"__MACOSX/._mine.cu": "x"})
    assert record["score"] == 100


def test_gradescope_lists_missing_files(autograder):
    record, _ = gradescope(autograder, {"notes.txt": "later"})
    assert record["score"] == 0
    assert "was not handed in" in record["output"]


def test_gradescope_gets_no_score_if_the_machine_fails(autograder):
    record, outcome = gradescope(autograder, {f"{LAB}.cu": solution()}, LAB32_NVCC="/nowhere")
    assert record is None or "score" not in record
    assert outcome.returncode == 2


# ---- Autolab ---------------------------------------------------------------------------------------


def test_autolab_reads_scores_from_the_last_line(autograder, dist):
    root = autograder[0]
    right = autolab(root, dist, "right", {f"{LAB}.cu": solution().encode()})
    assert right.returncode == 0, right.stdout
    assert scores(right) == {LAB: 100}
    wrong = autolab(root, dist, "wrong", {f"{LAB}.cu": skeleton().encode()})
    assert wrong.returncode == 0, wrong.stdout
    assert 0 < scores(wrong)[LAB] < 50
    assert f"labs/{LAB}/{LAB}.cu:" in wrong.stdout


def test_autolab_takes_an_archive(autograder, dist, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / f"mine/{LAB}.cu").write_text(skeleton())
    archive = shutil.make_archive(str(tmp_path / "handin"), "tar", tmp_path, "mine")
    outcome = autolab(autograder[0], dist, "tar", {"handin.tar": Path(archive).read_bytes()})
    assert 0 < scores(outcome)[LAB] < 50


def test_autolab_ends_a_broken_zip_with_its_json_line(autograder, dist):
    outcome = autolab(autograder[0], dist, "broken zip", {"handin.zip": b"PK\3\4 half"})
    assert outcome.returncode == 0
    assert "handin.zip is not a readable zip archive" in outcome.stdout and "Traceback" not in outcome.stdout
    assert scores(outcome) == {LAB: 0}


def test_autolab_takes_no_python_from_the_handin(autograder, dist):
    files = {f"{LAB}.cu": skeleton().encode(), "json.py": b"raise SystemExit('mine')", "lab32.py": b"raise SystemExit('mine')"}
    assert 0 < scores(autolab(autograder[0], dist, "python", files))[LAB] < 50


def test_autolab_installs_missing_packages(dist, tmp_path):
    root = CleanRoot(tmp_path / "bare")
    outcome = autolab(root, dist, "job", {f"{LAB}.cu": skeleton().encode()})
    assert 0 < scores(outcome)[LAB] < 50, outcome.stdout


def test_autolab_gets_no_scores_if_the_machine_fails(autograder, dist):
    outcome = autolab(autograder[0], dist, "broken", {f"{LAB}.cu": b""}, LAB32_NVCC="/nowhere")
    assert outcome.returncode != 0
    assert not outcome.stdout.splitlines()[-1].startswith("{")


# ---- PrairieLearn ----------------------------------------------------------------------------------


def test_prairielearn_gets_scores_and_pictures(autograder, dist):
    record, outcome = prairielearn(autograder, dist, "right", {f"{LAB}.cu": solution()}, LAB)
    assert (outcome.returncode, record["score"], record["gradable"]) == (0, 1, True)
    record, outcome = prairielearn(autograder, dist, "skeleton", {"mine.cu": skeleton()}, LAB)
    assert outcome.returncode == 0 and 0 < record["score"] < 0.5
    assert record["message"].startswith(f"{LAB}: graded is mine.cu\n")
    assert len(json.dumps(record)) < 1_000_000


def test_prairielearn_takes_no_attempt_if_the_machine_fails(autograder, dist):
    record, outcome = prairielearn(autograder, dist, "fault", {f"{LAB}.cu": solution()}, LAB, LAB32_NVCC="/nowhere")
    assert record["gradable"] is False and outcome.returncode == 2


def test_a_question_of_prairielearn_names_its_lab(dist):
    info = json.loads((dist / f"prairielearn/questions/{LAB}/info.json").read_text())
    assert info["externalGradingOptions"]["entrypoint"].endswith(f"/run_prairielearn {LAB}")
    assert f'file-names="{LAB}.cu"' in (dist / f"prairielearn/questions/{LAB}/question.html").read_text()


# ---- Classroom 50 ----------------------------------------------------------------------------------


def test_classroom50_gets_a_result_or_an_error(autograder, dist):
    root, _ = autograder
    top, given = root.folder / "classroom50", root.folder / "autograders"
    shutil.copytree(dist / "classroom50", given)
    (top / f"labs/{LAB}").mkdir(parents=True)
    (top / f"labs/{LAB}/{LAB}.cu").write_text(skeleton())
    more = {
        "CLASSROOM": "cuda", "ASSIGNMENT": f"week-1-{LAB.replace('_', '-')}", "OWNER": "ada", "ASSIGNMENT_TYPE": "group",
        "SUBMISSION_TAG": "submit/2026-06-01T14-32-05Z-a1b2c3d", "COMMIT_URL": "https://example.edu/c",
        "RELEASE_URL": "https://example.edu/r",
    }  # fmt: skip

    def run(**others):
        return root.run("python3", given / "autograder.py", cwd=top, **more, **others)

    outcome = run(LAB32_NVCC="/nowhere")
    assert outcome.returncode != 0 and not (top / "result.json").exists()
    outcome = run()
    assert outcome.returncode == 0, outcome.stderr
    record = json.loads((top / "result.json").read_text())
    jsonschema.validate(record, CLASSROOM50)
    assert record["max-score"] == 100 and 0 < record["score"] < 50
    assert (record["assignment_type"], record["owner"]) == ("group", "ada")
    assert all(test["test-name"].startswith(f"{LAB}: ") for test in record["tests"])


# ---- GitHub Actions --------------------------------------------------------------------------------


def test_the_workflow_grades_and_annotates(autograder, dist):
    root, _ = autograder
    workflow = yaml.safe_load((dist / "github/workflows/lab32.yml").read_text())
    steps = {step["name"]: step["run"] for step in workflow["jobs"]["grade"]["steps"] if "run" in step}
    assert (dist / "github" / steps["Install lab32"].split(".github/")[1].rpartition("/")[0]).is_dir()
    top = root.folder / "repository"
    (top / f"labs/{LAB}").mkdir(parents=True)
    (top / f"labs/{LAB}/{LAB}.cu").write_text(skeleton())
    path = f"{root.environment['LAB32_HOME']}/bin:{root.environment['PATH']}"
    for name in ("Grade", "Annotate"):
        done = root.run("bash", "-e", "-o", "pipefail", "-c", steps[name], cwd=top, PATH=path, GITHUB_STEP_SUMMARY=str(top / "summary"))
        assert done.returncode == 0, done.stderr
    assert "# lab32: " in (top / "summary").read_text()
    assert f"::error file=labs/{LAB}/{LAB}.cu,line=" in done.stdout
    jsonschema.validate(json.loads((top / "lab32.sarif").read_text()), SARIF)


# ---- JupyterHub ------------------------------------------------------------------------------------


def test_students_who_grade_at_once_get_the_same_score(autograder, dist):
    root, _ = autograder
    top = root.folder / "hub"
    shutil.copytree(dist / "container", top)
    (top / "handed_in.cu").write_text(skeleton())
    outcome = root.run("python3", top / "hub.py", "load", "12", LAB, top / "handed_in.cu", "--home", root.environment["LAB32_HOME"])
    assert outcome.returncode == 0 and outcome.stdout.startswith(f"12 students, {LAB}, 12 at once: "), outcome.stderr


# ---- make dist -------------------------------------------------------------------------------------


def test_docker_and_apptainer_recipes_have_the_same_steps(dist):
    folder = dist / "container"
    docker, apptainer = recipe.read_container_recipe(folder / "Dockerfile"), recipe.read_container_recipe(folder / "lab32.def")
    assert docker.copies == apptainer.copies
    assert docker.runs == apptainer.runs
    assert (docker.base, docker.path) == (apptainer.base, apptainer.path)
    for pattern, target in docker.copies:
        (copied,) = folder.glob(pattern)
        if copied.name == "setup.sh":
            assert os.access(copied, os.X_OK)
            assert f"{target}{copied.name}" in docker.runs[0]
    assert json.loads((folder / "devcontainer.json").read_text())["build"]["dockerfile"] == "Dockerfile"


def test_labs_can_be_selected_and_unknown_ones_are_refused(dist, tmp_path):
    (wheel,) = (dist / "students").glob("*.whl")
    script = ROOT / "grader/setup/dist/make_dist.py"

    def run(*labs):
        return subprocess.run([sys.executable, script, VERSION, wheel, tmp_path / "out", *labs],
                              capture_output=True, text=True, check=False)  # fmt: skip

    assert "there is no lab `shufle`; the labs are: bank_conflicts, " in run("shufle").stderr
    archive = tmp_path / "out/gradescope/autograder.zip"
    assert run().returncode == 0
    held = contents(archive.read_bytes(), archive.name)
    assert f"LABS=${{LAB32_LABS:-{' '.join(LABS)}}}".encode() in held["autograder.zip!settings"]
    assert run("shuffle", "reduction").returncode == 0
    first = archive.read_bytes()
    held = contents(first, "autograder.zip")
    assert b"LABS=${LAB32_LABS:-shuffle reduction}" in held["autograder.zip!settings"]
    assert run("shuffle", "reduction").returncode == 0
    assert archive.read_bytes() == first
