"""Runs Chromium without a window, to read values that a page computes and to take screenshots."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")  # fmt: skip
# Chromium's window is at least 500 pixels wide; a frame inside it may be narrower.
AROUND = """<!DOCTYPE html><title>waiting</title><body style="margin:0;overflow:hidden">
<iframe src="{page}" style="border:0;display:block;width:{width}px;height:{height}px;margin-top:-{top}px"></iframe>
<script>addEventListener("message", (e) => {{ document.title = "SAID " + JSON.stringify(e.data); }});</script>"""
HIGH = """<script>addEventListener("load", () => setTimeout(() => {
  document.querySelectorAll("details").forEach((fold) => { fold.open = true; });
  document.querySelectorAll(".wide").forEach((box) => { box.style.overflow = "hidden"; });
  parent.postMessage(Math.ceil(document.documentElement.getBoundingClientRect().height), "*");
}, 300));</script></body>"""
MOST = 12_000  # height limit of one screenshot in pixels


def run_chromium(folder, *arguments, timeout=120):
    command = [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}/profile", "--enable-logging=stderr", *arguments]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout)


def colour_scheme_arguments(dark):
    return ["--blink-settings=preferredColorScheme=0"] if dark else []


def write_framed_page(folder, page, width, height=900, top=0):
    """An HTML document that shows `page`, a file in the same folder, in a frame."""
    around = Path(folder) / "around.html"
    around.write_text(AROUND.format(page=page.name, width=width, height=height, top=top))
    return f"file://{around.absolute()}"


def run_script_in_page(page, folder, width, script, dark=False):
    """Appends a script to a copy of `page`. Returns the message that the script posts, and the browser's log."""
    copy = Path(folder) / "asked.html"
    copy.write_text(Path(page).read_text().replace("</body>", script))
    done = run_chromium(folder, "--window-size=1400,1000", "--virtual-time-budget=90000", *colour_scheme_arguments(dark), "--dump-dom", write_framed_page(folder, copy, width))  # fmt: skip
    found = re.search(r"<title>SAID (.*?)</title>", done.stdout, re.DOTALL)
    assert found, f"the page never answered: {done.stderr[-2000:]}"
    return json.loads(html.unescape(found[1])), done.stderr.splitlines()


def take_screenshots(page, folder, width, dark=False):
    """Screenshots of the whole page at this width with all details open: files, from top to bottom."""
    high, _ = run_script_in_page(page, folder, width, HIGH, dark)
    files = []
    for top in range(0, high, MOST):
        file = Path(folder) / f"shot-{width}-{'dark' if dark else 'light'}-{top}.png"
        window = f"--window-size={max(width, 500)},{min(MOST, high - top)}"
        run_chromium(folder, window, *colour_scheme_arguments(dark), "--virtual-time-budget=10000", f"--screenshot={file}", write_framed_page(folder, Path(folder) / "asked.html", width, high, top))  # fmt: skip
        files.append(file)
    return files


def print_to_pdf(page, folder):
    """Prints the page to PDF and returns the file."""
    file = Path(folder) / "printed.pdf"
    run_chromium(folder, "--virtual-time-budget=10000", "--no-pdf-header-footer", f"--print-to-pdf={file}", f"file://{Path(page).absolute()}")  # fmt: skip
    return file
