"""Helpers of test_dist: makes the packs once, and provides roots that contain nothing else of the project."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import jsonschema

from lab32 import ROOT

SETUP = ROOT / "grader/setup"
VERSION = re.search(r"^VERSION := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
LAB = "swizzle"
SCHEMA, PRAIRIELEARN, SARIF, CLASSROOM50 = (
    json.loads((ROOT / f"grader/tests/python/data/{name}.schema.json").read_text())
    for name in ("gradescope", "prairielearn", "sarif", "classroom50")
)


def make(folder, *labs):
    """Runs `make dist` for the programs in build/: {platform: folder}."""
    wheels, out = folder / "wheels", folder / "dist"

    def run(script, *words):
        subprocess.run([sys.executable, SETUP / script, VERSION, *words], check=True,
                       capture_output=True, text=True)  # fmt: skip

    run("wheel/make_wheel.py", ROOT / "build", wheels)
    run("dist/make_dist.py", *wheels.glob("lab32-*.whl"), out, *labs)
    return out


def contents(data, name):
    """{path: bytes} of an archive and of archives inside it; of another file, itself."""
    if name.endswith((".whl", ".zip")):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            held = {n: archive.read(n) for n in archive.namelist() if not n.endswith("/")}
    elif name.endswith((".tar", ".tar.gz")):
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            held = {m.name: archive.extractfile(m).read() for m in archive if m.isfile()}
    else:
        return {name: data}
    return {f"{name}!{p}": d for inner, each in held.items() for p, d in contents(each, inner).items()}


def toolchain():
    lines = (ROOT / "build/toolchain.env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)


def bubblewrap(folder):
    """A command that runs in a root of its own: the system, nvcc, Python and its packages, and `folder`; no network and
    no file of the project. Empty on machines without namespaces."""
    tools = toolchain()
    words = ["bwrap", "--unshare-all", "--die-with-parent", "--proc", "/proc", "--dev", "/dev",
             "--tmpfs", "/tmp", "--ro-bind", "/usr", "/usr"]  # fmt: skip
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        if os.path.islink(f"/{name}"):
            words += ["--symlink", os.readlink(f"/{name}"), f"/{name}"]
        elif os.path.isdir(f"/{name}"):
            words += ["--ro-bind", f"/{name}", f"/{name}"]
    for name in ("/etc/alternatives", "/etc/ld.so.cache", "/etc/passwd"):
        words += ["--ro-bind-try", name, name]
    for path in (
        tools["CUDA_HOME"], Path(tools["NVDISASM"]).parent, sys.base_prefix,
        sysconfig.get_path("purelib"),
    ):  # fmt: skip
        words += ["--ro-bind", str(path), str(path)]
    words += ["--bind", str(folder), str(folder), "--chdir", str(folder)]
    try:
        subprocess.run([*words, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return []
    return words


class CleanRoot:
    """A clean directory with a home of its own, in a root of its own if possible."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "home").mkdir(parents=True)
        self.words = bubblewrap(folder)
        tools = toolchain()
        self.environment = {
            "PATH": f"{sys.base_prefix}/bin:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(folder / "home"),
            "LANG": "C.UTF-8",
            "LAB32_HOME": str(folder / "lab32"),
            # Packages that pip would fetch are already here.
            "LAB32_NVCC": tools["NVCC"],
            "LAB32_NVDISASM": tools["NVDISASM"],
            "PYTHONPATH": sysconfig.get_path("purelib"),
            "PIP_NO_DEPS": "1",
            "PIP_NO_INDEX": "1",
            "MPLBACKEND": "agg",
        }

    def run(self, *words, cwd="", **more):
        where = self.folder / cwd
        inner = ["--chdir", str(where)] if self.words else []
        return subprocess.run(
            [*self.words, *inner, *map(str, words)], cwd=where, env=self.environment | more,
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    def install(self, wheel):
        """A virtual environment with the wheel; returns its bin/."""
        python = f"{sys.base_prefix}/bin/python3"
        made = self.run(python, "-m", "venv", "venv")
        assert made.returncode == 0, made.stderr
        bin = self.folder / "venv/bin"
        made = self.run(bin / "python", "-m", "pip", "install", wheel)
        assert made.returncode == 0, made.stderr
        return bin


def unpack(archive, folder):
    folder.mkdir(parents=True, exist_ok=True)
    shutil.unpack_archive(archive, folder, **({"filter": "data"} if ".tar" in archive.name else {}))
    # zipfile drops file modes; Gradescope's unzip keeps them.
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as held:
            for info in held.infolist():
                (folder / info.filename).chmod(info.external_attr >> 16)


def solution(lab=LAB):
    return (ROOT / f"solutions/{lab}/{lab}.cu").read_text()


def skeleton(lab=LAB):
    return (ROOT / f"labs/{lab}/{lab}.cu").read_text()


# ---- the platforms' programs, run as the platforms run them ----


def gradescope(autograder, handed_in, **more):
    """results.json for a submission, {name: text}; None if there is none."""
    root, top = autograder
    for name in ("submission", "results"):
        shutil.rmtree(top / name, ignore_errors=True)
        (top / name).mkdir()
    for name, text in handed_in.items():
        path = top / "submission" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    outcome = root.run(top / "run_autograder", cwd=top, **more)
    results = top / "results/results.json"
    assert {path.name for path in (top / "results").iterdir()} <= {"results.json"}
    if not results.exists():
        return None, outcome
    record = json.loads(results.read_text())
    jsonschema.validate(record, SCHEMA)
    return record, outcome


def autolab(root, dist, name, files, **more):
    """Runs `make` in a directory filled like Autolab's; returns both output streams, as Autolab keeps them."""
    top = root.folder / name
    top.mkdir()
    shutil.copy(dist / "autolab/autograde.tar", top)
    shutil.copy(dist / "autolab/autograde-Makefile", top / "Makefile")
    for file, content in files.items():
        (top / file).write_bytes(content)
    return root.run("bash", "-c", "make 2>&1", cwd=top, **more)


def scores(outcome):
    return json.loads(outcome.stdout.splitlines()[-1])["scores"]


def prairielearn(autograder, dist, name, files, *labs, **more):
    root, _ = autograder
    top = root.folder / name
    unpacked = top / "serverFilesCourse"
    shutil.copytree(dist / "prairielearn/serverFilesCourse", unpacked)
    (top / "student").mkdir()
    for file, content in files.items():
        (top / "student" / file).write_text(content)
    outcome = root.run(unpacked / "lab32/run_prairielearn", *labs, cwd=top, PRAIRIELEARN_TOP=str(top), **more)
    record = json.loads((top / "results/results.json").read_text())
    jsonschema.validate(record, PRAIRIELEARN)
    return record, outcome
