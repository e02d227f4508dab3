"""The command `lab32` of an installed wheel: starts the program that lies in it."""

import os
import sys

from lab32 import ROOT


def main():
    program = ROOT / "build/lab32"
    # `lab32 class` is in Python, and for this one.
    os.environ["LAB32_PYTHON"] = sys.executable
    os.execv(program, ["lab32", *sys.argv[1:]])
