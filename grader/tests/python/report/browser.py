"""Finds layout faults of a page in a real browser, at a given width, light or dark."""

from handouts.browser import CHROMIUM, colour_scheme_arguments, run_chromium, run_script_in_page
from lab32 import ROOT

__all__ = ["CHROMIUM", "run_chromium", "probe", "colour_scheme_arguments"]
PROBE = ROOT / "grader/tests/python/data/page_probe.js"


def probe(page, folder, width, dark=False):
    """The faults that page_probe.js finds, and the browser's own messages as `console`."""
    found, lines = run_script_in_page(page, folder, width, f"<script>{PROBE.read_text()}</script></body>", dark)
    found["console"] = [line for line in lines if "CONSOLE" in line]
    return found
