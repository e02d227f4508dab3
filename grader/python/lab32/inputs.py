"""Reads the files that a command is given: regular files up to a size, as text, TOML or JSON with finite numbers.
Every error is a UserError, one line with the file and, where there is one, the line."""

import json
import math
import os
import re
import stat
import tomllib

from lab32.classroom.problem import UserError, printable_line

SMALL, LARGE = 1 << 20, 64 << 20  # bytes of a policy or a rubric; bytes of a result or a history
LARGEST_NUMBER = 1e15  # below 2^53, up to which JSON's numbers are exact


def read_bytes(path, most=SMALL):
    """The bytes of a regular file. A pipe or a device is refused without waiting for it."""
    name = printable_line(path)
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UserError(f"{name}: not a regular file")
            data = file.read(most + 1)
    except OSError as error:
        raise UserError(f"{name}: cannot be read: {error.strerror}") from None
    if len(data) > most:
        raise UserError(f"{name}: larger than {most >> 20} MiB")
    return data


def decode_utf8(data, path):
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise UserError(f"{printable_line(path)}:{line}: this line is not UTF-8") from None


def read_text(path, most=SMALL):
    return decode_utf8(read_bytes(path, most), path)


def read_toml_with_lines(path, most=SMALL):
    """The parsed file: (the table, {path of a key, as a tuple: its line})."""
    text = read_text(path, most)
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        said = printable_line(error) or "nested too deeply"
        where = re.search(r" \(at line (\d+), column \d+\)", said)
        raise UserError(f"{printable_line(path)}{':' + where[1] if where else ''}: {said.replace(where[0], '') if where else said}") from None
    lines, header = {}, ()
    for number, line in enumerate(text.split("\n"), 1):
        if found := re.match(rf"\s*\[\[?\s*({KEYS})\s*\]", line):
            header = path = _parts_of_dotted_key(found[1])
        elif found := re.match(rf"\s*({KEYS})\s*=", line):
            path = header + _parts_of_dotted_key(found[1])
        else:
            continue
        for depth in range(1, len(path) + 1):
            lines.setdefault(path[:depth], number)
    return table, lines


# Matches a key of TOML; below, keys with dots between them.
KEY = r"""(?:[\w-]+|"[^"]*"|'[^']*')"""
KEYS = rf"{KEY}(?:\s*\.\s*{KEY})*"


def _parts_of_dotted_key(keys):
    return tuple(part.strip("\"'") for part in re.findall(KEY, keys))


def _parse_finite_number(text):
    value = float(text)
    if not abs(value) <= LARGEST_NUMBER:
        raise ValueError(f"the number {text[:20]} is out of range")
    return value


def _parse_json_integer(text):
    return int(text) if len(text) <= 20 else _parse_finite_number(text)


def parse_json(text, name):
    """The value of a JSON text; numbers that are not finite are an error. `name` is the file's name for messages."""
    try:
        return json.loads(text, parse_constant=_parse_finite_number, parse_float=_parse_finite_number, parse_int=_parse_json_integer)
    except json.JSONDecodeError as error:
        raise UserError(f"{printable_line(name)}:{error.lineno}: not JSON ({error.msg})") from None
    except RecursionError:
        raise UserError(f"{printable_line(name)}: not read: nested too deeply") from None
    except ValueError as error:
        raise UserError(f"{printable_line(name)}: not read: {printable_line(error)}") from None


def read_json(path, most=LARGE):
    return parse_json(read_text(path, most), path)


def is_number(value, least=-LARGEST_NUMBER, most=LARGEST_NUMBER):
    return type(value) in (int, float) and math.isfinite(value) and least <= value <= most
