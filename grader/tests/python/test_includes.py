"""Modules include downwards only, and inside a module no files need each other's headers."""

import re
from collections import defaultdict
from functools import cache
from pathlib import PurePosixPath

from lab32 import ROOT

GRADER = ROOT / "grader"
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
SIMULATOR = ["simulator/ptx", "simulator/core", "simulator/sass", "simulator/counters", "simulator/model"]  # fmt: skip

# Module -> the modules whose headers it may include. A module stands below all that may include it,
# so the order of the rows is the order of the layers, lowest first.
ALLOWED = {
    "base": [],
    "simulator/ptx": ["base"],
    "simulator/core": ["simulator/ptx", "base"],
    "simulator/sass": ["simulator/core", "simulator/ptx", "base"],
    "simulator/counters": ["simulator/core", "simulator/ptx", "base"],
    "simulator/model": ["simulator/ptx", "base"],
    "toolchain": ["base"],
    "device": [*SIMULATOR, "toolchain", "base"],
    "record": ["device", "simulator/core", "base"],
    "cudart": ["record", "device", "simulator/core", "simulator/model", "simulator/ptx", "toolchain", "base"],
    "cublas": ["cudart", "record", "device", "simulator/core", "simulator/model", "base"],
    "driver": ["cublas", "cudart", "device", "simulator/core", "simulator/model", "simulator/ptx", "toolchain", "base"],
    "pictures": ["device", "simulator/counters", "simulator/core", "base"],
    "report": ["pictures", "base"],
    "grading": ["report", "pictures", "device", "simulator/counters", "toolchain", "base"],
    "checks": ["grading", "pictures", "device", "simulator/counters", "simulator/model", "base"],
    "profiler": ["record", "pictures", "device", "simulator/counters", "simulator/ptx", "toolchain", "simulator/model", "base"],
    "commands": ["profiler", "grading", "report", "pictures", "simulator/model", "simulator/counters", "base"],
    "main": ["commands", "grading", "report", "device", "simulator/model", "base"],
    "fuzz": ["cudart", "grading", "record", "toolchain", "simulator/ptx", "simulator/sass", "base"],
    "mutants": ["grading", "device", "base"],
    "bench": ["device", *SIMULATOR, "toolchain", "base"],
}
# Nobody includes these two; what they test and measure may be anything.
UNLAYERED = {"tests", "measure"}
# Not code of a module, but of the build.
OUTSIDE = set()


def module_of(path):
    parts = path.parts
    if len(parts) == 1:
        return path.stem
    return "/".join(parts[:2]) if parts[0] == "simulator" else parts[0]


@cache
def includes():
    """[(file, file)], both relative to grader/: who includes whom. Headers of elsewhere left out."""
    edges = []
    for file in sorted(GRADER.rglob("*")):
        if file.suffix not in {".h", ".cpp", ".def"}:
            continue
        for name in INCLUDE.findall(file.read_text()):
            if (GRADER / name).exists():
                edges.append((file.relative_to(GRADER), PurePosixPath(name)))
    return edges


def test_every_module_has_its_row():
    found = {module_of(file) for edge in includes() for file in edge}
    assert found - UNLAYERED <= set(ALLOWED)


def test_rows_go_down():
    rows = list(ALLOWED)
    for number, module in enumerate(rows):
        assert set(ALLOWED[module]) <= set(rows[:number]), module


def test_modules_include_downwards_only():
    wrong = []
    for file, header in includes():
        above, below = module_of(file), module_of(header)
        if above == below or above in UNLAYERED:
            continue
        if below not in ALLOWED.get(above, []):
            wrong.append(f"{file} includes {header}: {above} may not depend on {below}")
    assert not wrong, "\n".join(wrong)


def knots(graph):
    """The strongly connected components with more than one node (Tarjan's algorithm)."""
    number, low, stack, found = {}, {}, [], []

    def visit(node):
        number[node] = low[node] = len(number)
        stack.append(node)
        for next_node in sorted(graph[node]):
            if next_node not in number:
                visit(next_node)
                low[node] = min(low[node], low[next_node])
            elif next_node in stack:
                low[node] = min(low[node], number[next_node])
        if low[node] == number[node]:
            at = stack.index(node)
            component = stack[at:]
            del stack[at:]
            if len(component) > 1:
                found.append(sorted(component))

    for node in sorted(graph):
        if node not in number:
            visit(node)
    return found


def test_knots_are_found():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"a"}}
    assert knots(graph) == [["b", "c"]]


def test_no_files_need_each_other():
    # x.h and x.cpp are one idea, so one node. Across modules the layers forbid a circle.
    graph = defaultdict(set)
    for file, header in includes():
        one, other = str(file.with_suffix("")), str(header.with_suffix(""))
        graph[one], graph[other]  # noqa: B018  (makes the nodes)
        if one != other and module_of(file) == module_of(header):
            graph[one].add(other)
    lines = []
    for knot in knots(graph):
        lines += [f"{one} -> {', '.join(sorted(graph[one] & set(knot)))}" for one in knot] + [""]
    assert not lines, "files that need each other's headers:\n" + "\n".join(lines)
