"""Errors outside the grader, each reported in one line: what is wrong, where, and how to fix it."""

import argparse
import re
import unicodedata

MARKS = {0x061C, 0xFEFF, *range(0x200B, 0x2010), *range(0x2028, 0x202F), *range(0x2060, 0x2070)}


class UserError(Exception):
    """str() of a UserError is one line for the user."""


class CommandLineParser(argparse.ArgumentParser):
    def error(self, message):
        raise UserError(f"{message}; see `{self.prog} --help`")


def printable_line(text, length=200):
    """The text on one line for any terminal, like C++'s visible_name() (base/text.h), cut to `length`."""
    out = []
    for c in str(text):
        code = ord(c)
        if 0xDC80 <= code <= 0xDCFF:  # a byte of a file name that is not UTF-8
            out.append(f"\\x{code - 0xDC00:02x}")
        elif unicodedata.category(c) in ("Cc", "Zl", "Zp") and code < 0x100:
            out.append(f"\\x{code:02x}")
        elif code in MARKS or unicodedata.category(c) in ("Cc", "Cs", "Cn", "Zl", "Zp"):
            out.append(f"\\u{code:04x}")
        else:
            out.append(c)
    shown = "".join(out)
    return shown if len(shown) <= length else shown[: length - 3] + "..."


def natural_sort_key(text):
    """A sort key by which attempt 10 comes after attempt 9."""
    return [
        (int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", text)
    ]


def last_error_sentence(text):
    """The last sentence of an error's output, as one line: the last line that is not indented, and its continuation."""
    lines = text.strip().splitlines()
    begin = max((i for i, line in enumerate(lines) if not line[:1].isspace()), default=0)
    return " ".join(line.strip() for line in lines[begin:])
