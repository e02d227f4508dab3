"""Makes OUT/lab32-VERSION-*.whl from the programs that `make PORTABLE=yes build` has built in PROGRAMS.

usage: make_wheel.py VERSION PROGRAMS OUT [COURSE]

The wheel has the program, the runtime library, labs, handouts, data and the Python package, and depends on the
wheels of nvcc and nvdisasm. auditwheel adds the libraries that some Linux distributions lack, and marks the wheel
with the distributions on which it runs. COURSE is a course.toml: the wheel has its released labs, with its points.
"""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
# glibc 2.35 and the libstdc++ of GCC 12: Debian 12, Ubuntu 22.04 and later.
PLATFORM = "manylinux_2_35"
MACHINES = {62: "x86_64", 183: "aarch64"}  # by the number in the header of an ELF file
# Debian and Ubuntu have this library on every machine; the copy of the build machine would need a newer glibc
# than the rest of the wheel does.
SYSTEM = "libcrypt.so.1"
# auditwheel knows the platforms of the machine that it runs on.
AUDITWHEEL = """import platform, sys
machine = sys.argv.pop(1)
platform.machine = lambda: machine
from auditwheel.main import main
sys.exit(main())"""
EXTRAS = {
    "notebooks": "ipykernel matplotlib nbclient nbformat numpy pandas",
    "class": "ipykernel matplotlib nbclient nbconvert nbformat numpy pandas PyYAML rich submitit",
}


def read_pinned_requirements(path):
    """Reads a list for pip: {name: "name==version"}."""
    lines = (ROOT / path).read_text().splitlines()
    return {line.partition("==")[0]: line for line in lines if re.match(r"[A-Za-z]", line)}


def project_metadata(version):
    python = read_pinned_requirements("grader/python/requirements.txt")
    compilers = read_pinned_requirements("grader/setup/nvcc.txt") | read_pinned_requirements("grader/setup/nvdisasm.txt")
    hatchling = read_pinned_requirements("grader/setup/wheel/requirements.txt")["hatchling"]
    page = {name: python[name] for name in ("Jinja2", "MarkupSafe")}  # of `lab32 report`
    extras = {extra: [python[name] for name in names.split()] for extra, names in EXTRAS.items()}
    extras["cublas"] = list(read_pinned_requirements("grader/setup/openblas.txt").values())
    # Strings and lists of strings are written in TOML as in JSON.
    return f"""[build-system]
requires = {json.dumps([hatchling])}
build-backend = "hatchling.build"

[project]
name = "lab32"
version = {json.dumps(version)}
description = "Labs on CUDA memory optimisation, graded with or without a GPU"
license = "MIT"
license-files = ["LICENSE"]
requires-python = ">=3.11"
dependencies = {json.dumps(list((compilers | page).values()))}

[project.optional-dependencies]
{"".join(f"{name} = {json.dumps(lines)}{chr(10)}" for name, lines in extras.items())}
[project.scripts]
lab32 = "lab32.command:main"

[tool.hatch.build.targets.wheel]
packages = ["lab32"]

[tool.hatch.build.targets.wheel.hooks.custom]
path = "platform_tag.py"
"""


def machine_architecture_of(program):
    return MACHINES[int.from_bytes(program.read_bytes()[18:20], "little")]


def main():
    version, programs, out = sys.argv[1], Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve()
    machine = machine_architecture_of(programs / "lab32")
    stage = out / "stage"
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir(parents=True)
    subprocess.run([ROOT / "grader/setup/install", stage / "tree", programs, *sys.argv[4:]], check=True)
    # In the wheel the tree is inside the package; in the checkout the package is inside the tree.
    (stage / "tree/grader/python/lab32").rename(stage / "lab32")
    shutil.rmtree(stage / "tree/grader/python")
    (stage / "tree").rename(stage / "lab32/tree")
    shutil.copy(ROOT / "grader/setup/wheel/platform_tag.py", stage)
    shutil.copy(ROOT / "LICENSE", stage)
    (stage / "pyproject.toml").write_text(project_metadata(version))
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel"],
        cwd=stage, check=True, stdout=subprocess.DEVNULL, env=os.environ | {"LAB32_MACHINE": machine},
    )  # fmt: skip
    (wheel,) = (stage / "dist").glob("*.whl")
    out.mkdir(parents=True, exist_ok=True)
    for older in out.glob(f"lab32-*{machine}.whl"):
        older.unlink()
    # auditwheel starts patchelf by its name, so PATH has its folder. For another machine, the libraries are those of its sysroot.
    foreign = f"{ROOT}/build/sysroot-{machine}/usr/lib/{machine}-linux-gnu:/usr/{machine}-linux-gnu/lib"
    libraries = "" if machine == platform.machine() else foreign
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", AUDITWHEEL, machine, "repair", "--plat", f"{PLATFORM}_{machine}",
         "--only-plat", "--exclude", SYSTEM, "-w", out, wheel],
        check=True, env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "LD_LIBRARY_PATH": libraries},
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    (made,) = out.glob(f"lab32-*{machine}.whl")
    print(f"{made}: {made.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
