"""Shared code of the fuzz targets in Python. Each target reads a file of unknown origin. It may refuse the file
with a UserError; any other exception and any hang is a bug."""

import os
import sys
import tempfile

import atheris


def fuzz(read):
    """Runs libFuzzer on `read(path)`, with libFuzzer's arguments."""
    path = os.path.join(tempfile.mkdtemp(), "file")

    def write_input_and_run_reader(data):
        with open(path, "wb") as file:
            file.write(data)
        read(path)

    atheris.Setup(sys.argv, write_input_and_run_reader)
    atheris.Fuzz()
