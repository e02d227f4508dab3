import ast
import os
import re
import subprocess
import sys

import nbformat
import pytest
from report_figures import check_figures

from lab32 import ROOT, labs, notebooks

REPORTS = sorted(ROOT.glob("labs/*/report.ipynb"))


def test_every_core_lab_has_a_report():
    """An extra lab owes none."""
    assert {path.parent.name for path in REPORTS} >= set(labs.lab_names("core"))


@pytest.mark.slow
def test_a_report_runs_and_its_figures_are_not_empty(tmp_path, monkeypatch):
    """One solution only; test_dist runs all reports with skeletons, as students do."""
    monkeypatch.setenv("LAB32_DIR", "solutions")
    monkeypatch.setenv("LAB32_HISTORY", "off")
    check_figures(notebooks.write_executed_notebook(ROOT / "labs/swizzle/report.ipynb", tmp_path))


@pytest.mark.parametrize("path", REPORTS, ids=lambda p: p.parent.name)
def test_a_report_asks_for_predictions_first_and_for_a_conclusion_last(path):
    cells = nbformat.read(path, as_version=4).cells
    words = [cell.source for cell in cells if cell.cell_type == "markdown"]
    assert words[1].startswith("## Before you look")
    assert [line[:2] for line in words[1].splitlines() if line[:1].isdigit()] == ["1.", "2.", "3."]
    assert words[2] == "**Your answers**\n\n1. …\n2. …\n3. …"
    assert words[-2].startswith("## Your conclusion") and words[-1] == "**Your words:** …"
    code = [cell.source for cell in cells if cell.cell_type == "code"]
    # First the predictions, still empty; then the student's own launch; then the plots.
    assert set(re.findall(r": (\S+?)[,}]", code[0])) == {"None"}
    assert "explained.picture_of_check_costing_most(lab)" in code[1] and code[2] == "result"
    assert '"simulated: yours"' in code[3] or '"simulated: yours"' in code[4]
    assert any("expected=predicted" in source for source in code)


@pytest.mark.parametrize("path", REPORTS, ids=lambda p: p.parent.name)
def test_a_report_without_its_packages_says_how_to_install_them(path, monkeypatch):
    cells = nbformat.read(path, as_version=4).cells
    code = [cell.source for cell in cells if cell.cell_type == "code"][1]
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # as if it were not installed
    with pytest.raises(SystemExit, match=r"matplotlib is not installed .* pip install 'lab32\[notebooks\]'"):
        exec(code.partition("%matplotlib")[0], {})


def typed_numbers(code):
    """Lists, tuples, sets and dicts that hold literal numbers, except sizes of figures."""
    tree = ast.parse(code)
    sizes = {
        id(keyword.value)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        for keyword in call.keywords
        if keyword.arg == "figsize"
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict) and id(node) not in sizes:
            held = node.values if isinstance(node, ast.Dict) else node.elts
            if any(isinstance(v, ast.Constant) and isinstance(v.value, int | float) for v in held):
                found.append(ast.unparse(node))
    return found


@pytest.mark.parametrize("path", REPORTS, ids=lambda p: p.parent.name)
def test_no_figure_is_typed_into_a_report(path):
    """Plots take their numbers from data/ and from the current grading."""
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            assert not typed_numbers(re.sub(r"(?m)^%.*|%lab32 .*", "0", cell.source))


def test_a_typed_figure_is_detected():
    assert typed_numbers("plots.bars(names, {'measured': {'v1': 8.054}})") == ["{'v1': 8.054}"]
    assert typed_numbers("plt.subplots(2, figsize=(8, 10)); range(12, 25)") == []


def test_committed_reports_have_no_outputs():
    for path in REPORTS:
        for cell in nbformat.read(path, as_version=4).cells:
            assert not cell.get("outputs"), f"{path}: clear the outputs before committing"


def write(path, source):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    nbformat.write(notebook, path)
    return path


@pytest.mark.slow
def test_a_failing_cell_is_reported_in_one_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(notebooks, "FOLDER", tmp_path / "out")
    path = write(tmp_path / "report.ipynb", "raise KeyError('no such figure')")
    assert notebooks.main([str(path)]) == 1
    assert "report.ipynb: a cell failed: KeyError" in capsys.readouterr().err


def test_a_missing_notebook_is_reported_in_one_line(tmp_path, capsys):
    assert notebooks.main([str(tmp_path / "none.ipynb")]) == 1
    assert "no such notebook" in capsys.readouterr().err


def test_a_missing_package_is_reported_in_one_line(tmp_path):
    """A first run before any set-up: a Python that has only the package lab32."""
    outcome = subprocess.run(
        [sys.executable, "-S", "-m", "lab32.notebooks", "labs/swizzle/report.ipynb"],
        env={"PYTHONPATH": str(ROOT / "grader/python")}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert outcome.returncode == 1 and len(outcome.stderr.splitlines()) == 1
    assert outcome.stderr.startswith("lab32.notebooks: nbformat is not installed for ")
    assert "grader/setup/setup python" in outcome.stderr


@pytest.mark.parametrize("user", ["0", "1000"])
def test_jupyter_starts_for_root_and_shows_the_handouts(user, tmp_path):
    """A report links to handouts/, so the server's root must contain both."""
    (tmp_path / "id").write_text(f"#!/bin/sh\necho {user}\n")
    (tmp_path / "id").chmod(0o755)
    outcome = subprocess.run(
        ["make", "--no-print-directory", "-n", "-o", "build/lab32", "jupyter"], cwd=ROOT, capture_output=True, text=True, check=True,
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )  # fmt: skip
    command = outcome.stdout.replace("\\\n", "").splitlines()[-1]
    assert f"--ServerApp.root_dir='{ROOT}' --LabApp.default_url=/lab/tree/labs" in command
    assert ("--allow-root" in command) == (user == "0")
