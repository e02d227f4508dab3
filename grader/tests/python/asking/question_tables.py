"""Reads the golden tables of questions (grader/labs/LAB/golden/questions.txt)."""

import re
from dataclasses import dataclass, field

from lab32 import ROOT


@dataclass
class Access:
    line: int
    block: int
    warp: int
    kind: str
    bytes: int
    lanes: dict = field(default_factory=dict)  # {lane: (address, name of the element)}

    def addresses(self):
        return [address for address, _ in self.lanes.values()]


@dataclass
class Asked:
    lab: str
    file: str
    id: str
    kind: str
    subject: str
    spaced: str
    check: str
    launch: str
    text: str  # with the line and its source
    line: int
    source: str
    options: dict  # {number: text}
    answer: int
    wrong: dict  # {answer: the misconception behind it}
    accesses: list
    sources: list  # of a shuffle: the lane from which each lane receives

    def number(self, pattern):
        return int(re.search(pattern, self.text)[1].replace(",", ""))


def element_after(name, elements):
    """The name of an element so many behind the named one."""
    found = re.fullmatch(r"(.*\[)(\d+)\]", name)
    return f"{found[1]}{int(found[2]) + elements}]" if found else name


def accesses_of(lines):
    found = []
    for line in lines:
        if head := re.match(r"  line (\d+), block (\d+), warp (\d+): (\w+) of (\d+) bytes", line):
            found.append(Access(*map(int, head.groups()[:3]), head[4], int(head[5])))
        elif run := re.match(r"    lanes (\d+)-(\d+): (\d+) \+ (-?\d+) k, (.*?)(?: by (-?\d+))?$", line):
            first, last, begin, stride = map(int, run.groups()[:4])
            for k in range(last - first + 1):
                name = element_after(run[5], k * int(run[6] or 0))
                found[-1].lanes[first + k] = (begin + k * stride, name)
    return found


def read_table(lab, file, student, block):
    head, launch, *rest = block.splitlines()
    kind, subject, spaced, check = re.fullmatch(r"\[(.*?)\] (.*?)(?:, an idea of (\w+))?; (.*)", head).groups()
    end = next(n for n, line in enumerate(rest) if line.startswith("Answer: "))
    text, after = rest[:end], rest[end + 1 :]
    line, source = (int(text[0][5:-1]), text[1].strip()) if text[0].startswith("Line ") else (0, "")
    reason = next(n for n, each in enumerate(after) if each.startswith("Reason: "))
    sources = [each.split()[2:] for each in after if each.startswith("  from lanes ")]
    return Asked(
        lab, file, student, kind, subject, spaced or "", check, launch, "\n".join(text), line, source,
        {int(each[:5]): each[5:].strip() for each in text if re.match(r"    \d  ", each)},
        int(rest[end][8:]),
        {int(each.split(": ")[0]): each.split(": ", 1)[1] for each in after[:reason]},
        accesses_of(after[reason + 1 :]),
        [int(lane) for lane in sources[0]] if sources else [],
    )  # fmt: skip


def read_tables():
    asked, empty = [], []
    for path in sorted((ROOT / "grader/labs").glob("*/golden/questions.txt")):
        for part in re.split(r"^=== ", path.read_text(), flags=re.MULTILINE)[1:]:
            head, body = part.split("\n", 1)
            file, student = head.split(", ")
            blocks = [block for block in body.split("\n\n") if block.strip()]
            if body.startswith("No questions: "):
                empty.append((path.parts[-3], file, student, blocks[0]))
            else:
                asked += [read_table(path.parts[-3], file, student, block) for block in blocks]
    return asked, empty


ASKED, EMPTY = read_tables()
