"""Reads CSV files strictly, reports errors in one line, and edits single cells so that every other byte
stays as it was."""

import codecs
import re
import unicodedata
from dataclasses import dataclass

from lab32.classroom.problem import UserError, printable_line
from lab32.inputs import read_bytes

MOST_BYTES = 16 << 20
BOMS = [
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
]


@dataclass(frozen=True)
class CsvCellWithPosition:
    text: str
    start: int  # in the file's text
    end: int


@dataclass(frozen=True)
class CsvTableRow:
    line: int
    cells: list

    def __getitem__(self, column):
        return self.cells[column].text.strip()


def decode_csv_by_bom(data, name):
    """Decodes a file: (its text, the encoding, the byte order mark)."""
    bom, encoding = next(((b, e) for b, e in BOMS if data.startswith(b)), (b"", "utf-8"))
    try:
        text = data[len(bom) :].decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: len(bom) + error.start].count(b"\n") + 1
        raise UserError(f"{name}:{line}: this line is not {encoding.upper()}; save the file as `CSV UTF-8`") from None
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise UserError(f"{name}:{line}: this line has a NUL byte, so the file is not CSV; export it again as CSV")
    return text, encoding, bom


def delimiter_of(text):
    """The delimiter, as the first line shows it: Excel writes `;` in many countries."""
    outside, line = True, []
    for c in text:
        if c == '"':
            outside = not outside
        elif outside:
            if c in "\r\n" and line:
                break
            line.append(c)
    return max(",;\t", key=line.count)


def parse_csv_rows(text, delimiter, name):
    at, line, end = 0, 1, len(text)
    while at < end:
        row = CsvTableRow(line, [])
        while True:
            start = at
            if text.startswith('"', at):
                at += 1
                while True:
                    quote = text.find('"', at)
                    if quote < 0:
                        raise UserError(
                            f"{name}:{line}: a quotation mark is not closed; close it, or double it "
                            "where it is part of the text"
                        )
                    at = quote + 1
                    if not text.startswith('"', at):
                        break
                    at += 1
                value = text[start + 1 : at - 1].replace('""', '"')
                if at < end and text[at] not in delimiter + "\r\n":
                    raise UserError(
                        f"{name}:{line + value.count(chr(10))}: text follows a closing quotation mark; "
                        "double the quotation marks that are part of the text"
                    )
            else:
                while at < end and text[at] not in delimiter + "\r\n":
                    at += 1
                value = text[start:at]
            row.cells.append(CsvCellWithPosition(value, start, at))
            line += text.count("\n", start, at)
            if at >= end or text[at] != delimiter:
                break
            at += 1
        if text.startswith("\r\n", at):
            at += 2
        elif at < end:
            at += 1
        line += 1
        if len(row.cells) > 1 or row.cells[0].text.strip():
            yield row


class EditableCsvFile:
    """`rows` are the lines below the header; all have the same number of cells."""

    def __init__(self, data, name):
        self.name = printable_line(name)
        self.text, self.encoding, self.bom = decode_csv_by_bom(data, self.name)
        rows = list(parse_csv_rows(self.text, delimiter_of(self.text), self.name))
        if not rows:
            raise UserError(f"{self.name}: the file is empty; its first line must name the columns")
        self.header, self.rows = rows[0], rows[1:]
        for row in self.rows:
            if len(row.cells) != len(self.header.cells):
                raise UserError(
                    f"{self.name}:{row.line}: this line has {len(row.cells)} cells, the first line has "
                    f"{len(self.header.cells)}; put text with a comma into quotation marks"
                )

    @classmethod
    def read(cls, path):
        return cls(read_bytes(path, MOST_BYTES), path)

    def column_names(self):
        return [cell.text.strip() for cell in self.header.cells]

    def column_names_text(self):
        return ", ".join(f"`{printable_line(name, 40)}`" for name in self.column_names()[:20])

    def find_column(self, *names):
        """The index of the first of these names that the header has, ignoring case; None if it has none."""
        mine = [name.casefold() for name in self.column_names()]
        for name in map(str.casefold, names):
            if mine.count(name) > 1:
                raise UserError(
                    f"{self.name}:{self.header.line}: two columns are called `{name}`; rename one"
                )
            if name in mine:
                return mine.index(name)
        return None

    def bytes_with_changes(self, changes):
        """The bytes of the file after the changes {(row, column): new text}."""
        out, at = [], 0
        cells = ((self.rows[r].cells[c], text) for (r, c), text in changes.items())
        for cell, text in sorted(cells, key=lambda each: each[0].start):
            out += [self.text[at : cell.start], text]
            at = cell.end
        return self.bom + "".join([*out, self.text[at:]]).encode(self.encoding)


def spreadsheet_safe_csv_cell(field):
    """The text as a cell of a file that we write. A leading quotation mark keeps spreadsheets from taking it for a
    formula."""
    text = str(field)
    # Spreadsheets take full-width signs for their narrow forms, and ignore blanks before them.
    begin = unicodedata.normalize("NFKC", text.lstrip())[:1]
    is_number = re.fullmatch(r"[+-]\d*\.?\d*", text, re.ASCII)
    if text[:1] in ("\t", "\r") or (begin in ("=", "+", "-", "@", "−") and not is_number):
        text = "'" + text
    return f'"{text.replace(chr(34), chr(34) * 2)}"' if any(c in text for c in ',"\r\n') else text


def csv_text(rows):
    """The rows as CSV (RFC 4180)."""
    return "".join(",".join(map(spreadsheet_safe_csv_cell, row)) + "\r\n" for row in rows)
