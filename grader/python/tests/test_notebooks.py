import ast

import nbformat
import pytest
from report_figures import check_figures

from lab32 import ROOT, notebooks

REPORTS = sorted(ROOT.glob("labs/*/report.ipynb"))


def test_every_ready_lab_has_a_report():
    assert {path.parent for path in REPORTS} == {p.parent for p in ROOT.glob("labs/*/*.cu")}


@pytest.mark.parametrize("path", REPORTS, ids=lambda p: p.parent.name)
def test_report_runs_and_its_figures_are_not_empty(path, tmp_path, monkeypatch):
    """Of the solutions; test_dist runs those of the skeletons, as students have them."""
    monkeypatch.setenv("LAB32_DIR", "solutions")
    check_figures(notebooks.execute(path, tmp_path))


def typed_numbers(code):
    """Lists, tuples, sets and dicts that hold numbers as such; but for sizes of figures."""
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
    """Plots take what the package reads from data/, and what the grader has just counted."""
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            assert not typed_numbers(cell.source.replace("%matplotlib inline", ""))


def test_a_typed_figure_is_noticed():
    assert typed_numbers("plots.bars(names, {'measured': {'v1': 8.054}})") == ["{'v1': 8.054}"]
    assert typed_numbers("plt.subplots(2, figsize=(8, 10)); range(12, 25)") == []


def test_committed_reports_hold_no_outputs():
    for path in REPORTS:
        for cell in nbformat.read(path, as_version=4).cells:
            assert not cell.get("outputs"), f"{path}: clear the outputs before committing"


def write(path, source):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    nbformat.write(notebook, path)
    return path


def test_a_failing_cell_is_one_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(notebooks, "FOLDER", tmp_path / "out")
    path = write(tmp_path / "report.ipynb", "raise KeyError('no such figure')")
    assert notebooks.main([str(path)]) == 1
    assert "report.ipynb: a cell failed: KeyError" in capsys.readouterr().err


def test_a_missing_notebook_is_one_line(tmp_path, capsys):
    assert notebooks.main([str(tmp_path / "none.ipynb")]) == 1
    assert "there is no such notebook" in capsys.readouterr().err
