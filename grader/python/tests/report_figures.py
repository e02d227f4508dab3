"""For tests that run the labs' notebooks."""

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
    """An executed report has a figure for each cell that draws one, and none is empty."""
    done = nbformat.read(path, as_version=4)
    shown = list(images(done))
    assert len(shown) == sum("plots.bars" in cell.source for cell in done.cells)
    for image in shown:
        # An axes without bars has some black and white; bars bring colour, in a good part of it.
        coloured = abs(image[..., :3].max(axis=-1) - image[..., :3].min(axis=-1)) > 0.2
        assert coloured.mean() > 0.01
