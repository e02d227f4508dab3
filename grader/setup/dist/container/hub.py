#!/usr/bin/env python3
"""A JupyterHub with lab32: one installation that no student can write, and a kernel that all notebooks use."""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
THREADS, CACHE_MEGABYTES, MEMORY = 1, 50, "1G"
GRADING_MEGABYTES = 350  # with its compilers
CONFIG = f"""c.Spawner.environment = {{"LAB32_THREADS": "{THREADS}", "LAB32_CACHE_MB": "{CACHE_MEGABYTES}", "PATH": "{{home}}/bin:/usr/local/bin:/usr/bin:/bin"}}
c.Spawner.mem_limit = "{MEMORY}"
c.Spawner.cpu_limit = 1
"""


def install_wheel(wheel, home):
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


def start_grading(program, lab, file, home):
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


def max_simultaneous_gradings():
    """How many gradings fit into the free memory."""
    kilobytes = re.search(r"MemAvailable: +(\d+)", Path("/proc/meminfo").read_text())[1]
    return max(1, int(kilobytes) // 1024 // GRADING_MEGABYTES)


def grade_and_measure(program, lab, file, own):
    """(score, seconds of a processor, megabytes of the largest process) of a student; without a score: not graded."""
    process = start_grading(program, lab, file, own)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    score = None
    if process.returncode in (0, 1):
        score = json.loads((own / "result.json").read_text())["score"]
    else:
        print((own / "errors").read_text(), end="", file=sys.stderr)
    return score, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def grade_simultaneously(count, lab, file, home):
    """Each student has a home, and therefore a cache, of its own."""
    began, at_once = time.monotonic(), min(count, max_simultaneous_gradings())
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(at_once) as pool:
        homes = [Path(folder) / f"student{n}" for n in range(count)]
        graded = list(pool.map(lambda own: grade_and_measure(f"{home}/bin/lab32", lab, file, own), homes))
    scores = {score for score, _, _ in graded}
    print(f"{count} students, {lab}, {at_once} at once{' (more do not fit into the memory)' if at_once < count else ''}: "
          f"{time.monotonic() - began:.0f} s; {sum(seconds for _, seconds, _ in graded) / count:.1f} s of a processor and at most "
          f"{max(size for _, _, size in graded):.0f} MB in one process for each; scores: {', '.join(map(str, scores))}")  # fmt: skip
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
    return {"install": install_wheel, "load": grade_simultaneously}[options.pop("command")](**options)


if __name__ == "__main__":
    sys.exit(main())
