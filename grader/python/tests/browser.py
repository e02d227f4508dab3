"""A page in a real browser: Chromium without a window, at a width, light or dark."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

PROBE = Path(__file__).parent / "data/page_probe.js"
# A window is 500 wide at least; a frame in it may be narrower.
AROUND = """<!DOCTYPE html><title>waiting</title><body style="margin:0">
<iframe src="{page}" style="border:0;width:{width}px;height:900px"></iframe>
<script>addEventListener("message", (e) => {{ document.title = "PROBED " + JSON.stringify(e.data); }});</script>"""
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")  # fmt: skip


def chromium(folder, *arguments, timeout=120):
    command = [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}/profile", "--enable-logging=stderr", *arguments]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout)


def probe(page, folder, width, dark=False):
    """What page_probe.js finds, and `console`: what the browser has complained of."""
    copy, around = folder / "probed.html", folder / "around.html"
    script = f"<script>{PROBE.read_text()}</script></body>"
    copy.write_text(Path(page).read_text().replace("</body>", script))
    around.write_text(AROUND.format(page=copy.name, width=width))
    scheme = ["--blink-settings=preferredColorScheme=0"] if dark else []
    done = chromium(
        folder, "--window-size=1400,1000", "--virtual-time-budget=90000", *scheme, "--dump-dom", f"file://{around}"
    )  # fmt: skip
    found = re.search(r"<title>PROBED (.*?)</title>", done.stdout, re.DOTALL)
    assert found, f"the page never answered: {done.stderr[-2000:]}"
    answer = json.loads(html.unescape(found[1]))
    answer["console"] = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return answer


def screenshot(page, file, folder, width, height, dark=False):
    scheme = ["--blink-settings=preferredColorScheme=0"] if dark else []
    chromium(folder, f"--window-size={width},{height}", *scheme, f"--screenshot={file}", f"file://{page}")
