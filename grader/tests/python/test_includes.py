"""Modules include downwards only, and inside a module no files need each other's headers."""

import re
from collections import defaultdict
from functools import cache
from pathlib import PurePosixPath

from lab32 import ROOT

GRADER = ROOT / "grader"
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
SIMULATOR = ["simulator/ptx", "simulator/core", "simulator/sass", "simulator/observers", "simulator/timing"]  # fmt: skip

# Module -> the modules whose headers it may include. A module comes after all modules that it may include,
# so the rows are the layers, lowest first. Only runtime/ itself and app/ include runtime/: the grader is
# built and understood without it.
ALLOWED = {
    "base": [],
    "simulator/ptx": ["base"],
    "simulator/core": ["simulator/ptx", "base"],
    "simulator/sass": ["simulator/core", "simulator/ptx", "base"],
    "simulator/observers": ["simulator/core", "simulator/ptx", "base"],
    "simulator/timing": ["simulator/ptx", "base"],
    "toolchain": ["base"],
    "device": [*SIMULATOR, "toolchain", "base"],
    "gpu": ["device", "toolchain", "base"],
    "pictures": ["device", "simulator/observers", "simulator/core", "base"],
    "report": ["pictures", "base"],
    "grading": ["report", "pictures", "gpu", "device", "simulator/observers", "toolchain", "base"],
    "labs": ["grading", "pictures", "gpu", "device", "simulator/observers", "simulator/timing", "base"],
    "runtime": ["pictures", "device", *SIMULATOR, "toolchain", "base"],
    "asking": ["grading", "report", "pictures", "device", "simulator/observers", "simulator/timing", "simulator/core",
               "toolchain", "base"],
    "app": ["runtime", "asking", "grading", "report", "pictures", "gpu", "device", "simulator/timing",
            "simulator/observers", "toolchain", "base"],
    "tools": ["runtime", "grading", "gpu", "device", *SIMULATOR, "toolchain", "base"],
}  # fmt: skip
# The modules of the runtime library have a table of their own.
RUNTIME = {
    "runtime/record": [],
    "runtime/cudart": ["runtime/record"],
    "runtime/cublas": ["runtime/cudart", "runtime/record"],
    "runtime/driver": ["runtime/cublas", "runtime/cudart"],
    "runtime/profiler": ["runtime/record"],
}


def module_of(path):
    parts = path.parts
    return "/".join(parts[:2]) if parts[0] == "simulator" else parts[0]


def is_tested(path):
    """Tests and measuring programs may include anything; no other file includes them."""
    return "tests" in path.parts or "measure" in path.parts


@cache
def includes():
    """[(including file, included file)], both relative to grader/; external headers are left out."""
    edges = []
    for file in sorted(GRADER.rglob("*")):
        if file.suffix not in {".h", ".cpp", ".def"}:
            continue
        for name in INCLUDE.findall(file.read_text()):
            if (GRADER / name).exists():
                edges.append((file.relative_to(GRADER), PurePosixPath(name)))
    return edges


def test_every_module_has_a_row_in_the_table():
    found = {module_of(file) for edge in includes() for file in edge if not is_tested(file)}
    assert found <= set(ALLOWED)


def test_rows_list_only_lower_modules():
    for table in (ALLOWED, RUNTIME):
        rows = list(table)
        for number, module in enumerate(rows):
            assert set(table[module]) <= set(rows[:number]), module


def test_modules_include_downwards_only():
    wrong = []
    for file, header in includes():
        if is_tested(file):
            continue
        above, below = module_of(file), module_of(header)
        table = ALLOWED
        if above == below == "runtime":
            table = RUNTIME
            above, below = "/".join(file.parts[:2]), "/".join(header.parts[:2])
        if above != below and below not in table.get(above, []):
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


def test_include_cycles_are_detected():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"a"}}
    assert knots(graph) == [["b", "c"]]


def test_there_are_no_include_cycles():
    # A header and its source are one node. Across modules, the layers already rule out cycles.
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
