"""The golden tables of questions (grader/labs/LAB/golden/questions.txt), answered by another path than the grader's: a model
of sectors, banks, lanes and occupancy that knows only the addresses of the lanes, and runs of submissions without a barrier."""

import json
import math
import os
import re
import subprocess
from functools import cache

import corpus
import pytest
from question_tables import ASKED, EMPTY, Access

from lab32 import ROOT


def of(*subjects):
    return [
        pytest.param(q, id=f"{q.lab}-{q.file}-{q.id}-{q.subject}") for q in ASKED if q.subject in subjects
    ]


def lane_in(question):
    return question.number(r"[Ll]ane (\d+)")


def sectors(access):
    return len({(first + byte) // 32 for first in access.addresses() for byte in range(access.bytes)})


def wavefronts(access):
    """The largest number of different words in one bank, added up over groups of lanes that access at most 128 bytes."""
    together, count = min(32, 128 // access.bytes), 0
    for first in range(0, 32, together):
        served = [access.lanes[lane][0] for lane in range(first, first + together) if lane in access.lanes]
        words = {(address + byte) // 4 for address in served for byte in range(access.bytes)}
        count += max(sum(word % 32 == bank for word in words) for bank in range(32))
    return count


def threads_of(question):
    count = 1
    for number in re.search(r"blocks? of ([\d x]+) threads", question.launch)[1].split(" x "):
        count *= int(number)
    return count


@pytest.mark.parametrize("question", of("sectors"))
def test_sectors(question):
    assert sectors(question.accesses[0]) == question.answer


@pytest.mark.parametrize("question", of("bank"))
def test_bank(question):
    address, _ = question.accesses[0].lanes[lane_in(question)]
    assert address // 4 % 32 == question.answer


@pytest.mark.parametrize("question", of("wavefronts"))
def test_wavefronts(question):
    assert wavefronts(question.accesses[0]) == question.answer


@pytest.mark.parametrize("question", of("pitch"))
def test_wavefronts_with_other_rows(question):
    pitch, access = question.number(r"\((\d+) instead of"), question.accesses[0]
    places = [map(int, re.findall(r"\[(\d+)\]", name)) for _, name in access.lanes.values()]
    moved = {lane: ((row * pitch + column) * access.bytes, "") for lane, (row, column) in enumerate(places)}
    assert wavefronts(Access(0, 0, 0, access.kind, access.bytes, moved)) == question.answer


@pytest.mark.parametrize("question", of("element"))
def test_element(question):
    named = [(at, int(name.split("[")[1][:-1])) for at, name in question.accesses[0].lanes.values() if name.endswith("]")]
    (first, before), (last, after) = named[0], named[-1]
    size = (last - first) // (after - before) if after != before else question.accesses[0].bytes
    address, name = question.accesses[0].lanes[lane_in(question)]
    index = int(re.search(r"\[(\d+)\]", name)[1])
    assert address - first == (index - before) * size
    assert question.answer == (index * size if "How many bytes" in question.text else index)


@pytest.mark.parametrize("question", of("writer"))
def test_writer(question):
    store, load = question.accesses
    read, _ = load.lanes[lane_in(question)]
    writers = [32 * store.warp + lane for lane, (at, _) in store.lanes.items() if at <= read < at + store.bytes]
    assert writers == [question.answer]


def test_worst_line():
    for question in (q for q in ASKED if q.subject == "worst line"):  # rare in submissions that have passed
        worst = max(question.accesses, key=sectors)
        assert question.options[question.answer].startswith(f"line {worst.line}:"), question
        assert sorted(map(sectors, question.accesses))[-2] * 2 <= sectors(worst), question


@pytest.mark.parametrize("question", of("block size"))
def test_block_size(question):
    cost = sectors if "sectors" in question.text else wavefronts
    assert sum(map(cost, question.accesses)) == question.answer
    assert max(access.warp for access in question.accesses) < question.number(r"blocks of (\d+) threads") // 32


def values_of_loop_variable(name, source, line):
    """The values of the variable of the loop around a line of the text."""
    head = re.compile(rf"for \((?:int|unsigned) {name} = ([^;]+); ([^;]+); {name} ([+*/]|<<|>>)= (\w+)\)")
    first, condition, operator, by = next(filter(None, map(head.search, reversed(source.splitlines()[:line])))).groups()
    values, now = [], c_value(first, source)
    while eval(condition, constants_of(source) | {name: now}):
        values.append(now)
        by_now = now if by == name else c_value(by, source)
        now = {"+": now + by_now, "*": now * by_now, "/": now // (by_now or 1), "<<": now << by_now, ">>": now >> by_now}[operator]
    return values


def constants_of(source):
    found = re.findall(r"constexpr (?:int|unsigned) (\w+) = (\d+|0x[0-9a-f]+);", source)
    return {"kWarpSize": 32} | {name: int(value, 0) for name, value in found}


def c_value(expression, source):
    return eval(expression.replace("/", "//"), constants_of(source))


def source_lane(kind, lane, distance):
    return {"down": lane + distance, "up": lane - distance, "xor": lane ^ distance}[kind]


@pytest.mark.parametrize("question", of("shuffle"))
def test_shuffle(question):
    """By the shuffle's arguments and the head of the loop around it, in the text of the submission."""
    source, lane = text_of(question.lab, question.file), lane_in(question)
    (call,) = re.findall(r"__shfl_(down|up|xor)_sync\([^,]+, ([^,]+), ([^,()]+)(?:, (\d+))?\)", question.source)
    kind, _, argument, width = call
    times = ["first", "second", "third", "fourth"].index(re.search(r"The (\w+) time", question.text)[1])
    if re.fullmatch(r"[a-z]\w*", argument):
        values = values_of_loop_variable(argument, source, question.line)
        distance = values[times % len(values)]
    else:
        distance = c_value(argument, source)
    for wrong, misconception in question.wrong.items():
        neighbour = next((by for words, by in (("round before", -1), ("next round", 1)) if words in misconception), None)
        if neighbour:
            assert times + neighbour >= 0 and wrong == source_lane(kind, lane, values[(times + neighbour) % len(values)])
        assert 0 <= wrong < 32 or "There is no such lane" in misconception
    moved = source_lane(kind, lane, distance)
    first = lane // int(width or 32) * int(width or 32)
    assert question.answer == (moved if first <= moved < first + int(width or 32) else lane)
    assert question.sources[lane] == question.answer


def numbers_of_launch(question):
    return [int(n) for n in question.launch.split("(", 1)[1].split(")")[0].split(", ") if n.isdigit()]


def round_in(question):
    found = re.search(r"(first|second|third|fourth) (?:round|time)", question.text)
    return ["first", "second", "third", "fourth"].index(found[1]) if found else 0


@pytest.mark.parametrize("question", of("idle threads"))
def test_idle_threads(question):
    """By arithmetic, from the arguments: a thread takes some elements of n, a warp takes a row, or a block takes a row."""
    threads, blocks = threads_of(question), int(re.search(r"\), (\d+) block", question.launch)[1])
    rows, n = [0, *numbers_of_launch(question)][-2:]
    before = (blocks - 1 + round_in(question)) * threads  # elements, if a thread takes one of each round
    if round_in(question):
        busy = {n - before, 32 * n - before}  # elements, or rows of 32
    else:
        busy = {min(threads, math.ceil(n / items)) for items in (1, 2, 4)}  # a row of a block
        busy.add((rows - (blocks - 1) * threads // 32) * min(n, 32))  # warps
        for items in (1 / 8, 1, 2, 4, 8, 16):
            rest = n - (blocks - 1) * threads * items  # of the last block
            busy |= {math.ceil(rest / items), min(threads, rest)}  # neighbours, or elements a block apart
    assert threads - question.answer in busy


@pytest.mark.parametrize("question", of("additions", "equal words"))
def test_atomics_on_equal_inputs(question):
    """By arithmetic: of a full block of elements nothing is left, and a warp with equal keys has one leader."""
    (n,), threads = numbers_of_launch(question), threads_of(question)
    assert " 1 block of" in question.launch
    warps = [(r, w) for r in range(math.ceil(n / threads)) for w in range(threads // 32) if r * threads + w * 32 < n]
    if question.subject == "additions":
        assert question.answer == len(warps)
    else:
        warp = question.number(r"warp (\d+)")
        assert question.answer == min(32, n - round_in(question) * threads - 32 * warp)


@pytest.mark.parametrize("question", of("storing thread"))
def test_storing_thread(question):
    (store,), name = question.accesses, re.search(r"stores `(.*?)`", question.text)[1]
    assert [32 * store.warp + lane for lane, (_, stored) in store.lanes.items() if stored == name] == [question.answer]


def limits_of(question):
    """The blocks that each resource of a multiprocessor allows, from the question's text."""
    text = question.text.replace(",", "")
    number = lambda pattern, otherwise=0: int(found[1]) if (found := re.search(pattern, text)) else otherwise  # noqa: E731
    threads = number(r"blocks had (\d+) threads", threads_of(question))
    shared = number(r"Each block uses (\d+) bytes") + number(r"system reserves (\d+) more")
    registers = number(r"Each thread uses (\d+) registers") or number(r"Suppose that it used (\d+)")
    limits = {
        "the threads": number(r"room for (\d+) threads") // threads,
        "the registers": number(r"multiprocessor has (\d+) registers") // (registers * threads),
        "the room for blocks": number(r"room for (\d+) blocks"),
    }
    if shared:
        limits["the shared memory"] = number(r"(\d+) bytes of shared memory room") // shared
    return limits, threads


@pytest.mark.parametrize("question", of("occupancy", "registers", "shape", "waves"))
def test_occupancy(question):
    limits, threads = limits_of(question)
    blocks = min(limits.values())
    if question.subject == "waves":
        grid, gpu = question.number(r"grid had ([\d,]+) blocks"), question.number(r"GPU has (\d+) multiprocessors")
        assert question.answer == math.ceil(grid / (blocks * gpu))
    else:
        factor = threads if question.subject == "shape" else 1
        assert question.answer == blocks * factor
        for wrong, misconception in question.wrong.items():
            if misconception.startswith("That counts only "):
                named = misconception[17:].split(". ")[0].split(" or only ")
                assert set(named) == {name for name in limits if limits[name] * factor == wrong}


@pytest.mark.parametrize("question", of("limit"))
def test_limit(question):
    limits, _ = limits_of(question)
    least = [name for name in limits if limits[name] == min(limits.values())]
    assert least == [question.options[question.answer]]
    assert set(limits) == set(question.options.values())


@cache
def text_of(lab, file):
    if file == "solution":
        return (ROOT / f"solutions/{lab}/{lab}.cu").read_text()
    kind, name = file.split("/")
    return corpus.submission(kind, lab, name)


def lines_in(option):
    found = [int(n) for n in re.findall(r"\d+", option)]
    return tuple(sorted(found * 2 if len(found) == 1 else found))


BARRIERS = {(q.lab, q.file, q.check, q.line, q.options[q.answer]): q for q in ASKED if q.subject == "barrier"}


@pytest.mark.slow
@pytest.mark.parametrize("question", [pytest.param(q, id=f"{q.lab}-{q.file}-{q.line}") for q in BARRIERS.values()])
def test_the_submission_without_the_barrier_races(question, tmp_path):
    """Removes the barrier from the text, and lets the grader's check of this kernel find the race."""
    lines = text_of(question.lab, question.file).splitlines()
    lines[question.line - 1], changed = re.subn(r"(__syncthreads\(\)|[\w.]*sync\(\));?", ";", lines[question.line - 1])
    assert changed
    folder = corpus.written(tmp_path, question.lab, "\n".join(lines) + "\n")
    command = [ROOT / "build/lab32", "explain", question.lab, question.check, "--dir", folder, "--format", "json", "--picture", "race"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=os.environ | {"LAB32_HISTORY": "off"})
    if question.options[question.answer].startswith("none"):
        assert "no picture of race" in done.stderr
        return
    race = json.loads(done.stdout)["launch"]["race"]
    pair = tuple(sorted((race["first"]["line"], race["second"]["line"])))
    others = [lines_in(text) for number, text in question.options.items() if number != question.answer]
    assert pair == lines_in(question.options[question.answer]) or pair not in others


# ---- the quality of the questions


@pytest.mark.parametrize("question", of("barrier"))
def test_reasons_of_race_free_pairs(question):
    """A pair is called atomic or reading only if its lines are, and some wrong option looks like a race."""
    source = text_of(question.lab, question.file).splitlines()
    likely = 0
    for number, misconception in question.wrong.items():
        pair = lines_in(question.options[number])
        if "atomic" in misconception:
            assert all("atomic" in source[line - 1] for line in pair)
        likely += bool(pair) and ("atomic" in misconception or pair[0] != pair[1])
    assert likely


@pytest.mark.parametrize("question", of("element", "sectors", "bank", "wavefronts", "writer", "storing thread", "block size"))
def test_the_line_shows_the_access(question):
    assert re.search(r"\[|\*|->|copy|load|store", question.source)
    array = re.search(r"`(\w+)[^`]*`(?: \(`(\w+)` points into it\))?", question.text)
    if array and question.subject != "block size":
        assert re.search(rf"\b{array[2] or array[1]}\b", question.source)


def test_coalesced_accesses_and_numbers_in_the_text_are_not_asked_about():
    for q in ASKED:
        if q.subject == "sectors":
            (access,) = q.accesses
            assert len(access.lanes) < 32 or sectors(access) > access.bytes
        if q.subject in ("bank", "writer"):
            assert q.answer not in (lane_in(q), q.accesses[-1].warp)


def test_the_tables_cover_all_labs_and_kinds():
    labs = {path.name for path in (ROOT / "solutions").glob("[a-z]*")}
    assert {q.lab for q in ASKED} == labs
    assert {q.kind for q in ASKED} == {"trace", "who", "why", "what if"}
    assert any(q.spaced for q in ASKED)
    assert {(lab, file) for lab, file, *_ in EMPTY} >= {(lab, "skeleton") for lab in labs}


def test_no_question_is_trivial_or_has_an_answer_twice():
    for q in ASKED:
        assert q.wrong and q.answer not in q.wrong and len(set(q.wrong)) == len(q.wrong), q
        assert len(set(q.options.values())) == len(q.options), q
        assert q.answer in q.options if q.options else 0 <= q.answer < 100_000, q
        assert q.options or str(q.answer) not in re.findall(r"\d+", q.source), q


def test_students_get_different_questions():
    drawn = {}
    for q in ASKED:
        drawn.setdefault((q.lab, q.file), {}).setdefault(q.id, set()).add(q.text)
    for key, of_student in drawn.items():
        assert len({frozenset(texts) for texts in of_student.values()}) > 1, key
