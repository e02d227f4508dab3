"""What the command lines for classes share: options, output, and how they end."""

import argparse
import contextlib
import os
import signal
import sys

from lab32 import labs
from lab32.classroom import collect
from lab32.classroom.problem import UserError, printable_line


def whole_number_parser(least, most):
    def parse_whole_number(text):
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(
                f"{printable_line(text, 30)} is not a whole number from {least} to {most}"
            )
        return int(text)

    return parse_whole_number


def chosen_labs(submissions, asked, known=None):
    """The labs to work on, of all `known` ones: those of the option --labs, `asked`, or else those that were handed in."""
    known = sorted(known or labs.rubric_path_by_lab())
    if asked is None:
        found = collect.labs_handed_in(submissions, known)
        if not found:
            raise UserError(
                f"{printable_line(submissions)}: no file there is named after a lab ({', '.join(known)}); "
                "name the labs with --labs"
            )
        return found
    chosen = list(dict.fromkeys(filter(None, asked.split(","))))
    for lab in chosen:
        if lab not in known:
            raise UserError(f"there is no lab `{printable_line(lab, 40)}`; the labs are: {', '.join(known)}")
    if not chosen:
        raise UserError("--labs names no lab")
    return chosen


def print_list(heading, lines, most=20):
    if not lines:
        return
    print(f"{heading}:", file=sys.stderr)
    for line in lines[:most]:
        print(f"  {printable_line(line)}", file=sys.stderr)
    if len(lines) > most:
        print(f"  and {len(lines) - most} more", file=sys.stderr)


def print_line(text):
    try:
        print(text, flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # otherwise Python flushes the pipe again at exit, and fails again
        raise UserError(f"standard output: {error.strerror}") from None


def open_closed_streams():
    """Opens /dev/null for closed standard streams (2>&-); otherwise another file would get their numbers."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, open(number, "w" if number else "r"))  # noqa: SIM115


def interrupt_on_termination():
    """Treats SIGTERM and a closed terminal like Ctrl-C."""

    def raise_keyboard_interrupt(*_):
        raise KeyboardInterrupt

    with contextlib.suppress(ValueError):  # raised outside the main thread
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) == signal.SIG_DFL:  # nohup ignores SIGHUP
                signal.signal(number, raise_keyboard_interrupt)
