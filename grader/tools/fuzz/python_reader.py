"""What the fuzz targets in Python share. Each is one reader of a file that somebody else wrote; it may
refuse it with a Problem, and do nothing else wrong: no other exception, no hang."""

import os
import sys
import tempfile

import atheris


def fuzz(read):
    """`read(path)`, with libFuzzer's arguments."""
    path = os.path.join(tempfile.mkdtemp(), "file")

    def one(data):
        with open(path, "wb") as file:
            file.write(data)
        read(path)

    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
