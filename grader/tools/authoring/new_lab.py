"""lab32 new-lab LAB: writes a small complete lab, whose checks need no code, as a start for a lab of one's own.

Its solution has full marks, its skeleton fewer, and its wrong submission loses the points that it names.
"""

import argparse
import re
import sys
from pathlib import Path

from lab32 import ROOT

TEMPLATE = Path(__file__).parent / "template"
PLACES = {
    "skeleton.cu": "labs/{0}/{0}.cu",
    "solution.cu": "solutions/{0}/{0}.cu",
    "handout.md": "handouts/{0}.md",
    "rubric.toml": "data/limits/{0}.toml",
    "wrong.cu": "grader/labs/{0}/submissions/wrong/forgets_the_last.cu",
}


def write_lab_from_template(name, root):
    """Writes the files and returns their paths below `root`. Raises FileExistsError if one is there."""
    paths = {template: Path(place.format(name)) for template, place in PLACES.items()}
    for path in paths.values():
        if (root / path).exists():
            raise FileExistsError(path)
    for template, path in paths.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text((TEMPLATE / template).read_text().replace("LABNAME", name))
    return list(paths.values())


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="lab32 new-lab", description=__doc__.splitlines()[0].split(": ")[1])
    parser.add_argument("lab", help="its name: lower-case letters, digits and _")
    parser.add_argument("--labs", metavar="DIR", type=Path, help="a folder for labs of your own, instead of this checkout")
    parser.add_argument("--binary", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    name, root = options.lab, options.labs or ROOT
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        print(f"lab32 new-lab: `{name}` is no name of a lab: use lower-case letters, digits and _", file=sys.stderr)
        return 2
    try:
        if (ROOT / PLACES["rubric.toml"].format(name)).exists():
            raise FileExistsError(PLACES["skeleton.cu"].format(name))
        written = write_lab_from_template(name, root)
    except FileExistsError as error:
        print(f"lab32 new-lab: {error} is there already; choose another name", file=sys.stderr)
        return 2
    print("\n".join(str(options.labs / path if options.labs else path) for path in written))
    elsewhere = f" --labs {options.labs}" if options.labs else ""
    print(f"Change these files, then run `lab32 try-lab {name}{elsewhere}`; grader/grading/declared/README.md has the keys.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
