"""python -m lab32.pictures: reads the output of `lab32 explain --format json` from standard input and draws it."""

import argparse
import json
import sys
from pathlib import Path

from lab32 import labs
from lab32.pictures import draw_picture, terminal
from lab32.results import CheckResult

SCHEMA = "lab32-pictures/1"


def print_error_and_return_exit_code(words):
    print(f"lab32 explain: {words}", file=sys.stderr)
    return 2


def lab_specific_pictures(shown):
    """What the lab itself draws of the check; only a lab's result has a device."""
    if not shown.get("device"):
        return []
    test = CheckResult(shown["check"], "passed" if shown["passed"] else "failed", 0, 0, figures=shown["figures"])
    return labs.lab_specific_pictures(shown["lab"], test, shown["device"])


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="lab32 explain", description=__doc__.splitlines()[0])
    parser.add_argument("--binary", help=argparse.SUPPRESS)  # every caller passes it
    parser.add_argument("--format", choices=("svg", "png", "html", "text"), default="svg")
    parser.add_argument("--picture")
    # For text: what `lab32 explain` prints of the check and of its launch.
    parser.add_argument("--heading", default="")
    parser.add_argument("--launch", default="")
    parser.add_argument("-o", dest="output", type=Path)
    options = parser.parse_args(arguments)
    shown = json.load(sys.stdin)
    if shown.get("schema") != SCHEMA:
        return print_error_and_return_exit_code(f"this draws {SCHEMA}, not {shown.get('schema')}")
    own = [] if options.picture else lab_specific_pictures(shown)
    if shown.get("missing") and not own:
        return print_error_and_return_exit_code(shown["missing"])
    try:
        if options.format == "html":
            from lab32.report.page import launch_explanation_page  # only this format needs jinja2

            data = launch_explanation_page(shown, own).encode()
        elif options.format == "text":
            data = "\n".join(filter(None, [options.heading, *map(terminal.picture_as_text, own), options.launch])).encode()
        else:
            urgent = shown["launch"]["race"] or shown["launch"]["fault"]
            picture = own[0] if own and not urgent else draw_picture(shown["launch"], options.picture, check=shown["check"])
            if options.format == "png":
                from lab32.pictures.png import png_bytes

                data = png_bytes(picture)
            else:
                data = str(picture).encode()
        if options.output:
            options.output.write_bytes(data)
        else:
            sys.stdout.buffer.write(data)
    except ImportError as error:
        return print_error_and_return_exit_code(f"{options.format} needs {error.name}, which is not installed; svg works without it")
    except ValueError as error:
        return print_error_and_return_exit_code(error)
    except OSError as error:
        return print_error_and_return_exit_code(f"{options.output}: {error.strerror}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
