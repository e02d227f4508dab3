"""Runs cells of a lab's notebook one after the other in a shell of this process. As a program, it runs those of
the package's labs with stored results: notebook_cells.py RESULTS LAB..."""

import contextlib
import io
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
from IPython.core.interactiveshell import InteractiveShell

from lab32 import ROOT, explained, results


def sources(lab):
    """The notebook's code, with plots by Agg and with predictions filled in."""
    cells = nbformat.read(ROOT / f"labs/{lab}/report.ipynb", as_version=4).cells
    code = [cell.source for cell in cells if cell.cell_type == "code"]
    return [source.replace("%matplotlib inline\n", "").replace(": None", ": 3") for source in code]


def run(shell, source):
    with contextlib.redirect_stdout(io.StringIO()):
        shell.run_cell(source, silent=True).raise_error()


def figures_of(shell, lab, folder):
    """The numbers of drawn and of expected figures for the result FOLDER/LAB.json."""
    results.grade = lambda *_, **__: results.load_result(folder / f"{lab}.json")
    explained.picture_of_check_costing_most = lambda lab: explained.MissingPicture("drawn elsewhere")
    for source in sources(lab):
        run(shell, source)
    drawn = len(plt.get_fignums())
    plt.close("all")
    return drawn, sum("plots.bars" in source for source in sources(lab))


def main(folder, *labs):
    shell = InteractiveShell.instance()
    for lab in labs:
        print(lab, *figures_of(shell, lab, Path(folder)))


if __name__ == "__main__":
    main(*sys.argv[1:])
