"""A page in a real browser, at a width, light or dark: what is wrong with it."""

from handouts.browser import CHROMIUM, answer, chromium, scheme
from lab32 import ROOT

__all__ = ["CHROMIUM", "chromium", "probe", "scheme"]
PROBE = ROOT / "grader/tests/python/data/page_probe.js"


def probe(page, folder, width, dark=False):
    """What page_probe.js finds, and `console`: what the browser has complained of."""
    found, lines = answer(page, folder, width, f"<script>{PROBE.read_text()}</script></body>", dark)
    found["console"] = [line for line in lines if "CONSOLE" in line]
    return found
