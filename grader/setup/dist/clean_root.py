"""A student's first hour on a new Debian: does what README says in a root that debootstrap makes.

usage: clean_root.py WHEEL FOLDER SUITE        as root; SUITE: bookworm, trixie

The root is made in FOLDER, which must be empty or absent. lab32 is installed twice: with apt and a network, and
by a user who has a folder of wheels, but neither root nor apt nor a network. Each step is printed with its time
in seconds. If a step ends in another way than expected, the script ends with status 1.
"""

import shutil
import subprocess
import sys
import time
from pathlib import Path

import recipe

ROOT = Path(__file__).resolve().parents[3]
LABS = sorted(path.parent.name for path in ROOT.glob("solutions/*/*.cu"))
PATH = recipe.ContainerImageRecipe.path
USER = ["setpriv", "--reuid=1000", "--regid=1000", "--clear-groups", "env", "-u", "LANG"]
# (who, what, exit status)
ONLINE = [
    ("root", "apt-get update -qq && apt-get install -y -qq g++ python3-venv >/dev/null 2>&1", 0),
    ("user", "python3 -m venv lab", 0),
    ("user", "lab/bin/pip install -q /given/lab32-*.whl", 0),
    ("user", "du -sm lab", 0),
    ("user", ". lab/bin/activate && lab32 init && lab32 doctor", 0),
    ("user", "lab/bin/lab32 grade swizzle | tail -n 1", 1),
    ("user", "lab/bin/lab32 report swizzle", 1),
    ("user", f"lab/bin/lab32 grade {' '.join(LABS)} --dir /given/solutions | tail -n 1", 0),
    ("user", "lab/bin/lab32 class labs -o graded --labs swizzle", 2),  # what it needs is an extra
    ("user", 'lab/bin/pip install -q "$(echo /given/lab32-*.whl)[class]"', 0),
    ("user", "lab/bin/lab32 class /given/class -o graded && ls graded/*", 0),
    ("user", "lab/bin/pip download -q -d wheels pip /given/lab32-*.whl && du -sm wheels", 0),
]
OFFLINE = [
    ("offline", "! getent hosts deb.debian.org", 0),
    ("offline", "mkdir offline && cd offline && python3 -m venv --without-pip lab", 0),
    ("offline", 'offline/lab/bin/python "$(echo wheels/pip-*.whl)/pip" install -q --no-index --find-links wheels lab32', 0),
    ("offline", "cd offline && lab/bin/lab32 init && lab/bin/lab32 grade swizzle | tail -n 1", 1),
    ("offline", f"offline/lab/bin/lab32 grade {' '.join(LABS)} --dir /given/solutions | tail -n 1", 0),
]  # fmt: skip


def print_step(who, step, began):
    print(f"[{time.monotonic() - began:6.1f} s] {who}: {step}", flush=True)


def make_debian_root(root, suite, wheel):
    began = time.monotonic()
    words = ["debootstrap", "--variant=minbase", "--include=ca-certificates", suite, str(root)]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    given = root / "given"
    given.mkdir()
    shutil.copy(wheel, given)
    for lab in LABS:
        shutil.copytree(ROOT / "solutions" / lab, given / "solutions" / lab)
    (given / "class/ann").mkdir(parents=True)
    shutil.copy(ROOT / "solutions/swizzle/swizzle.cu", given / "class/ann")
    home = root / "home/student"
    home.mkdir(parents=True)
    shutil.chown(home, 1000, 1000)
    print_step("root", " ".join(words[:-1]), began)


def run_step_in_image_root(root, who, step):
    there = recipe.ContainerImageRecipe(path=PATH, folder="/" if who == "root" else "/home/student")
    words = ["bash", "-ec", "set -o pipefail; " + step]
    if who != "root":
        words = [*USER, "HOME=/home/student", *words]
    if who == "offline":
        words = ["unshare", "--net", *words]
    return recipe.run_command_in_image_root(there, root, *words)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    wheel, root, suite = sys.argv[1:]
    root = Path(root).resolve()
    if root.exists() and any(root.iterdir()):
        sys.exit(f"{root}: is not empty")
    make_debian_root(root, suite, wheel)
    for who, step, status in ONLINE + OFFLINE:
        began = time.monotonic()
        found = run_step_in_image_root(root, who, step)
        print_step(who, step, began)
        if found != status:
            sys.exit(f"status {found} where {status} is right")


if __name__ == "__main__":
    main()
