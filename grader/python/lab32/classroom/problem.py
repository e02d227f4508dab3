"""What goes wrong outside the grader, in one line: what, where, how to fix it."""

import re
import unicodedata

MARKS = {0x061C, 0xFEFF, *range(0x200B, 0x2010), *range(0x2028, 0x202F), *range(0x2060, 0x2070)}


class Problem(Exception):
    """str() is one line for a person."""


def visible(text, length=200):
    """On one line of any terminal: as C++'s visible_name() (base/text.h), and cut."""
    out = []
    for c in str(text):
        code = ord(c)
        if 0xDC80 <= code <= 0xDCFF:  # a byte of a file's name that is no UTF-8
            out.append(f"\\x{code - 0xDC00:02x}")
        elif unicodedata.category(c) in ("Cc", "Zl", "Zp") and code < 0x100:
            out.append(f"\\x{code:02x}")
        elif code in MARKS or unicodedata.category(c) in ("Cc", "Cs", "Cn", "Zl", "Zp"):
            out.append(f"\\u{code:04x}")
        else:
            out.append(c)
    shown = "".join(out)
    return shown if len(shown) <= length else shown[: length - 3] + "..."


def natural(text):
    """A key by which attempt 10 comes after attempt 9."""
    return [
        (int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", text)
    ]


def last_sentence(text):
    """What an error's words end with, as one line: the last that is not set in, and what belongs to it."""
    lines = text.strip().splitlines()
    begin = max((i for i, line in enumerate(lines) if not line[:1].isspace()), default=0)
    return " ".join(line.strip() for line in lines[begin:])
