"""Controls Chromium through the DevTools protocol over a pair of pipes: presses keys, reads the accessibility tree."""

import json
import os
import subprocess
from contextlib import contextmanager

from handouts.browser import CHROMIUM


class Page:
    """One page in a browser without a window."""

    def __init__(self, to, back):
        self.to, self.back, self.count, self.session, self.rest = to, back, 0, None, b""

    def ask(self, method, **parameters):
        self.count += 1
        words = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            words["sessionId"] = self.session
        os.write(self.to, json.dumps(words).encode() + b"\0")
        while True:
            said = self.message()
            if said.get("id") == self.count:
                assert "error" not in said, said
                return said["result"]

    def message(self):
        while b"\0" not in self.rest:
            more = os.read(self.back, 1 << 20)
            assert more, "the browser has ended"
            self.rest += more
        first, _, self.rest = self.rest.partition(b"\0")
        return json.loads(first)

    def open(self, address, width, height=900):
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.ask("Page.enable")
        self.ask("Page.navigate", url=address)
        while self.message().get("method") != "Page.loadEventFired":
            pass

    def run(self, script):
        """The value of a script; a promise is awaited."""
        done = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def press(self, key, code=None):
        named = {"key": key, "code": code or key, "windowsVirtualKeyCode": {"Tab": 9, "Enter": 13, " ": 32, "ArrowRight": 39}[key]}
        text = {"Enter": {"text": "\r"}, " ": {"text": " "}}.get(key, {})
        self.ask("Input.dispatchKeyEvent", type="keyDown", **named, **text)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **named)

    def heard(self):
        """The accessibility tree without ignored nodes: [(depth, role, name, {property: value}, children's roles)]."""
        nodes = {node["nodeId"]: node for node in self.ask("Accessibility.getFullAXTree")["nodes"]}
        out = []

        def walk(node, depth):
            shown = not node["ignored"] and node["role"]["value"] not in SILENT
            if shown:
                properties = {p["name"]: p["value"].get("value") for p in node.get("properties", [])}
                for what in ("value", "description"):
                    if what in node:
                        properties[what] = node[what]["value"]
                out.append((depth, node["role"]["value"], node.get("name", {}).get("value", ""), properties))
            for child in node.get("childIds", []):
                if child in nodes:
                    walk(nodes[child], depth + shown)

        walk(next(node for node in nodes.values() if "parentId" not in node), 0)
        return out


# Text boxes without a name of their own.
SILENT = {"InlineTextBox", "none", "generic", "LineBreak"}


def as_text(heard):
    """The tree as text, a line per spoken element."""
    lines = []
    for depth, role, name, properties in heard:
        more = [f"{key}={properties[key]}" for key in ("level", "value", "valuetext", "expanded", "description") if properties.get(key) not in (None, "")]
        lines.append("  " * depth + " ".join([role, f"“{name}”" * bool(name), *more]).replace("  ", " "))
    return "\n".join(lines) + "\n"


@contextmanager
def page(address, folder, width=1280):
    mine, to = os.pipe()  # the browser reads from this pipe
    back, its = os.pipe()
    command = [
        "bash", "-c", f'exec "$0" "$@" 3<&{mine} 4>&{its}', CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu",
        "--remote-debugging-pipe", f"--user-data-dir={folder}/profile", "about:blank",
    ]  # fmt: skip
    process = subprocess.Popen(command, pass_fds=(mine, its), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    os.close(mine)
    os.close(its)
    try:
        shown = Page(to, back)
        shown.open(address, width)
        yield shown
    finally:
        os.close(to)
        os.close(back)
        process.terminate()
        process.wait(30)
