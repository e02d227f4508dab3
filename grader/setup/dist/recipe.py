"""Reads the steps of a Dockerfile or an Apptainer definition, and can run them in a root without either program.

usage: recipe.py RECIPE CONTEXT ROOT [COMMAND...]

Carries out the copies and commands of RECIPE in ROOT, a Debian that debootstrap has made; files come from the
folder CONTEXT. COMMAND runs there at the end, in the image's working directory with its PATH. The script needs
root, because the steps run in a chroot, with mounts that end with each step.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class ContainerImageRecipe:
    base: str = ""
    copies: list = field(default_factory=list)  # (pattern, folder)
    runs: list = field(default_factory=list)
    path: str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    folder: str = "/"


def image_recipe_from_dockerfile(text):
    recipe = ContainerImageRecipe()
    for line in text.replace("\\\n", " ").splitlines():
        word, _, rest = line.partition(" ")
        if word == "FROM":
            recipe.base = rest
        elif word == "COPY":
            *patterns, folder = rest.split()
            recipe.copies += [(pattern, folder) for pattern in patterns]
        elif word == "RUN":
            recipe.runs.append(rest)
        elif word == "ENV" and rest.startswith("PATH="):
            recipe.path = rest.removeprefix("PATH=")
        elif word == "WORKDIR":
            recipe.folder = rest
        elif word == "CMD":
            json.loads(rest)
        elif line and not line.startswith("#"):
            raise ValueError(f"not known: {line}")
    return recipe


def parse_apptainer_file(text):
    recipe, section = ContainerImageRecipe(), ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("%"):
            section = line
        elif not line or line.startswith("#"):
            continue
        elif section == "%files":
            recipe.copies.append(tuple(line.split()))
        elif section == "%post":
            recipe.runs.append(line)
        elif match := re.fullmatch(r"export PATH=(.*)", line):
            recipe.path = match[1]
        elif match := re.fullmatch(r"From: (.*)", line):
            recipe.base = match[1]
        elif line != "Bootstrap: docker":
            raise ValueError(f"not known: {line}")
    return recipe


def read_container_recipe(path):
    return (parse_apptainer_file if path.suffix == ".def" else image_recipe_from_dockerfile)(path.read_text())


INSIDE = """
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
for file in /etc/resolv.conf /etc/ssl/certs/ca-certificates.crt; do
  touch "$1$file"
  mount --bind "$file" "$1$file"
done
exec chroot "$@"
"""


def run_command_in_image_root(recipe, root, *words):
    # Proxies and certificates are those of this machine; all other settings are those of a new machine.
    keep = {k: v for k, v in os.environ.items() if k.lower().endswith(("_proxy", "_cert", "_ca_bundle"))}
    settings = keep | {"PATH": recipe.path, "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive"}
    outside = ["unshare", "--mount", "--pid", "--fork", "sh", "-euc", INSIDE, "sh", root]
    there = ["sh", "-euc", 'cd "$0" && exec "$@"', recipe.folder]
    return subprocess.run([*outside, "env", "-i", *(f"{k}={v}" for k, v in settings.items()),
                           *there, *words], check=False).returncode  # fmt: skip


def main():
    path, context, root, *words = sys.argv[1:]
    recipe, root = read_container_recipe(Path(path)), Path(root)
    for pattern, folder in recipe.copies:
        target = root / folder.lstrip("/")
        target.mkdir(parents=True, exist_ok=True)
        found = sorted(Path(context).glob(pattern))
        if not found:
            sys.exit(f"{context} has no {pattern}")
        for file in found:
            shutil.copy(file, target)
    inside = ContainerImageRecipe(path=ContainerImageRecipe.path)
    for step in recipe.runs:
        print(f"RUN {step}", flush=True)
        if status := run_command_in_image_root(inside, root, "sh", "-ec", step):
            sys.exit(status)
    (root / recipe.folder.lstrip("/")).mkdir(parents=True, exist_ok=True)
    sys.exit(run_command_in_image_root(recipe, root, *words) if words else 0)


if __name__ == "__main__":
    main()
