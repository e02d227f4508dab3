"""Helpers for tests that run the labs' notebooks in a kernel of their own."""

import base64
import io

import matplotlib.image
import nbformat


def images(notebook):
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if png := output.get("data", {}).get("image/png"):
                yield matplotlib.image.imread(io.BytesIO(base64.b64decode(png)))


def check_figures(path):
    """Checks that an executed report has a figure for each cell that draws one and that none is blank (test_gallery
    inspects their contents), that no cell failed, and that the score report is there in HTML."""
    done = nbformat.read(path, as_version=4)
    shown = list(images(done))
    assert len(shown) == sum("plots.bars" in cell.source for cell in done.cells)
    assert all((image[..., :3] < 0.5).any() for image in shown)
    outputs = [output for cell in done.cells for output in cell.get("outputs", [])]
    assert not [output.text for output in outputs if output.get("name") == "stderr"]
    assert sum("<caption" in o.get("data", {}).get("text/html", "") for o in outputs) == 1
