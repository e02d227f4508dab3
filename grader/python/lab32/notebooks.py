"""python -m lab32.notebooks NOTEBOOK...: runs notebooks from top to bottom, without a browser.

The executed copies are in build/notebooks/; the notebooks themselves do not change.
"""

import argparse
import os
import sys
from pathlib import Path

from lab32 import ROOT

try:
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError
except ModuleNotFoundError as missing:
    sys.exit(
        f"lab32.notebooks: {missing.name} is not installed for {sys.executable}: "
        "pip install 'lab32[notebooks]', in a checkout: grader/setup/setup python"
    )

FOLDER = Path("build/notebooks")  # relative to the current folder


def executed_notebook_name(path):
    """The name of the executed copy: coalescing-report.ipynb for labs/coalescing/report.ipynb, since all notebooks are
    called report."""
    return f"{path.resolve().parent.name}-{path.name}"


def write_executed_notebook(path, folder=FOLDER, extra_environment=None):
    """Runs one notebook with `extra_environment` in its environment. Returns the path of the executed copy, which is written even if
    a cell fails."""
    path = Path(path)
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook, timeout=300, resources={"metadata": {"path": str(path.resolve().parent)}}
    )
    client.create_kernel_manager()
    client.km.transport_encryption = "auto"  # otherwise the kernel warns that the connection is not encrypted
    search = [str(ROOT / "grader/python"), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, search))} | (extra_environment or {})
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / executed_notebook_name(path)
    try:
        client.execute(env=environment)
    finally:
        nbformat.write(notebook, target)
    return target


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", nargs="+", type=Path)
    failed = 0
    for path in parser.parse_args(arguments).notebooks:
        try:
            print(f"wrote {write_executed_notebook(path)}")
        except CellExecutionError as error:
            # str(error) would also have the traceback, with colour codes.
            print(f"{path}: a cell failed: {error.ename}: {error.evalue}", file=sys.stderr)
            failed = 1
        except FileNotFoundError:
            print(f"{path}: no such notebook", file=sys.stderr)
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
