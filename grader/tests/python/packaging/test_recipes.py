"""Recipes of container images."""

import json
import re
import sys

import pytest

from lab32 import ROOT

sys.path.insert(0, str(ROOT / "grader/setup/dist"))
import recipe  # noqa: E402


def test_work_on_lab32_itself_has_an_image_too():
    folder = ROOT / ".devcontainer"
    settings = json.loads((folder / "devcontainer.json").read_text())
    steps = recipe.read_container_recipe(folder / settings["build"]["dockerfile"])
    assert {"git", "make", "ca-certificates"} <= set(steps.runs[0].split())
    make, target = settings["onCreateCommand"].split()
    assert make == "make"
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_a_recipe_with_an_unknown_step_is_refused(tmp_path):
    for name, text in (("Dockerfile", "FROM debian\nADD a b\n"), ("x.def", "%post\n true\n%test\n x\n")):
        (tmp_path / name).write_text(text)
        with pytest.raises(ValueError, match="not known"):
            recipe.read_container_recipe(tmp_path / name)
