"""Modules include downwards only, no files need each other's headers, and files are few and full."""

import re
from collections import Counter, defaultdict
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
    "tools": ["runtime", "grading", "report", "gpu", "device", *SIMULATOR, "toolchain", "base"],
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


# ---- the size of the tree ----

MOST_FILES, MOST_IN_FOLDER = 520, 45
SHORT_HEADER, LEAST_INCLUDERS = 40, 3


def production(files):
    """The C++ files of `files` that are neither tests nor data of tests nor others' code."""
    apart = {"tests", "submissions", "third_party", "measure", "fixtures"}
    return [file for file in files if file.suffix in {".h", ".cpp"} and not apart & set(file.parts)]


def short_headers(lines, edges):
    """`lines`: {file: its number of lines}. The short headers that few files besides their own .cpp include."""
    found = []
    for header, count in lines.items():
        includers = {file for file, name in edges if str(name) == str(header) and file.stem != header.stem}
        if header.suffix == ".h" and count < SHORT_HEADER and len(includers) < LEAST_INCLUDERS:
            found.append(f"{header}: {count} lines, included by {len(includers)} other files")
    return found


def crowded(files):
    folders = Counter(file.parent for file in files)
    return [f"{folder}: {count} files" for folder, count in folders.items() if count > MOST_IN_FOLDER]


def tracked():
    return production(file.relative_to(GRADER) for file in sorted(GRADER.rglob("*")) if file.is_file())


def test_there_are_at_most_520_production_files():
    assert len(tracked()) <= MOST_FILES


def test_a_short_header_is_part_of_its_neighbour_unless_three_files_include_it():
    lines = {PurePosixPath("base/a.h"): 39, PurePosixPath("base/b.h"): 40}
    edge = [(PurePosixPath(f"{folder}/x.cpp"), PurePosixPath("base/a.h")) for folder in ("app", "base", "gpu")]
    assert short_headers(lines, edge[1:]) == ["base/a.h: 39 lines, included by 2 other files"]
    assert short_headers(lines, edge) == []
    own = [(PurePosixPath("base/a.cpp"), PurePosixPath("base/a.h")), *edge[1:]]
    assert short_headers(lines, own) == ["base/a.h: 39 lines, included by 2 other files"]
    found = {file: len((GRADER / file).read_text().splitlines()) for file in tracked()}
    assert not short_headers(found, includes()), "\n".join(short_headers(found, includes()))


def test_no_folder_holds_more_than_45_production_files():
    assert crowded([PurePosixPath(f"base/{i}.h") for i in range(46)]) == ["base: 46 files"]
    assert not crowded(tracked())
