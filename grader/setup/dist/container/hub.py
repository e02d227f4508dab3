#!/usr/bin/env python3
"""A JupyterHub with lab32: one installation that no student can write, and a kernel that all notebooks use."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
THREADS, CACHE_MEGABYTES, MEMORY = 1, 50, "1G"
CONFIG = f"""c.Spawner.environment = {{"LAB32_THREADS": "{THREADS}", "LAB32_CACHE_MB": "{CACHE_MEGABYTES}", "PATH": "{{home}}/bin:/usr/local/bin:/usr/bin:/bin"}}
c.Spawner.mem_limit = "{MEMORY}"
c.Spawner.cpu_limit = 1
"""


def install(wheel, home):
    with tempfile.TemporaryDirectory() as folder:
        for file in (HERE / "setup.sh", wheel):
            shutil.copy(file, folder)
        subprocess.run([Path(folder) / "setup.sh"], check=True, env=os.environ | {"LAB32_HOME": home, "LAB32_EXTRAS": "notebooks"})
    kernel = [f"{home}/bin/python", "-m", "ipykernel", "install", "--prefix", "/usr/local", "--name", "lab32", "--display-name", "lab32"]
    subprocess.run([*kernel, "--env", "LAB32_THREADS", str(THREADS), "--env", "LAB32_CACHE_MB", str(CACHE_MEGABYTES)], check=True)
    # Compilation results and attempts lie in each student's home; nothing is written here.
    subprocess.run(["chmod", "-R", "a+rX,go-w", home], check=True)
    print(CONFIG.replace("{home}", home), end="")
    return 0


def start(program, lab, file, home):
    """A student's grading, with the environment of a notebook server."""
    labs = home / "labs" / lab
    labs.mkdir(parents=True)
    shutil.copy(file, labs / f"{lab}.cu")
    command = [program, "grade", lab, "--device", "sim", "--seed", "1", "--format", "json"]
    environment = {
        "HOME": str(home), "PATH": os.environ["PATH"], "LAB32_THREADS": str(THREADS), "LAB32_CACHE_MB": str(CACHE_MEGABYTES),
    }  # fmt: skip
    with open(home / "result.json", "w") as out, open(home / "errors", "w") as errors:
        return subprocess.Popen(command, cwd=home, env=environment, stdout=out, stderr=errors)


def load(count, lab, file, home):
    """Each student has a home, and therefore a cache, of its own."""
    began, scores, largest, processor = time.monotonic(), set(), 0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        homes = [Path(folder) / f"student{n}" for n in range(count)]
        for own, process in [(own, start(f"{home}/bin/lab32", lab, file, own)) for own in homes]:
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = 0
            if os.waitstatus_to_exitcode(status) not in (0, 1):
                print((own / "errors").read_text(), end="", file=sys.stderr)
                scores.add(None)
                continue
            scores.add(json.loads((own / "result.json").read_text())["score"])
            largest, processor = max(largest, used.ru_maxrss), processor + used.ru_utime + used.ru_stime
    print(f"{count} students, {lab}: {time.monotonic() - began:.0f} s; {processor / count:.1f} s of a processor and at most "
          f"{largest / 1024:.0f} MB in one process for each; scores: {', '.join(map(str, scores))}")  # fmt: skip
    return 0 if len(scores) == 1 and None not in scores else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    words = {"install": ("as root: installs the wheel, registers the kernel `lab32`, prints lines for jupyterhub_config.py", ["wheel"]),
             "load": ("grades FILE for N students at once; status 1 if their scores differ", ["count", "lab", "file"])}  # fmt: skip
    for name, (help_text, arguments) in words.items():
        command = commands.add_parser(name, help=help_text)
        for argument in arguments:
            command.add_argument(argument, type=int if argument == "count" else str)
        command.add_argument("--home", default="/opt/lab32", help="where lab32 is installed")
    options = vars(parser.parse_args())
    return {"install": install, "load": load}[options.pop("command")](**options)


if __name__ == "__main__":
    sys.exit(main())
