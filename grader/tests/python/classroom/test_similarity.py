"""`lab32 similarity` suggests copies and not independent work. A broken file affects only itself, and the page
shows students' text without running any of it."""

import os
import re
import subprocess
import sys
import time
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path

import pytest
import similarity_class as made
from class_tools import put, zipped

from lab32 import ROOT
from lab32.classroom.collect import collect_students
from lab32.classroom.problem import UserError
from lab32.similarity import __main__ as command
from lab32.similarity import page, pairs, ptx, tokens

pytestmark = pytest.mark.slow

LAB = "transpose"
SKELETON = (ROOT / f"labs/{LAB}/{LAB}.cu").read_text()
NATURAL = made.handed_in(LAB)
SCRIPT = "// <script>alert('from the file')</script> &amp; \u202e\x1b[31m"
HOSTILE = ["-rf *", "=1+1", "O'Neill; ls $(id)", "<script>alert(1)<", "أحمد علي", "x" * 150]


def laid_out_anew(source):
    draw = made.random.Random(3)
    return made.laid_out(made.recommented(source, draw), draw)


CLASS = NATURAL | {
    HOSTILE[0]: NATURAL["ada"].replace("__syncthreads", "no_such_thing"),
    HOSTILE[1]: b"\0\1\2 no text \xff\xfe" * 40,
    HOSTILE[2]: "__global__ void f( {{{ /*",
    HOSTILE[3]: made.copied(NATURAL["cleo"]) + SCRIPT + "\n",
    HOSTILE[4]: laid_out_anew(NATURAL["dan"]),
    HOSTILE[5]: "",
    "first skeleton": SKELETON,
    "second skeleton": SKELETON,
}  # fmt: skip
PAIRS = {frozenset(("cleo", HOSTILE[3])), frozenset(("dan", HOSTILE[4]))}


class Parts(HTMLParser):
    """The parts of a page, as a browser would parse it."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.texts, self.rows, self.inside = [], [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag == "tr":
            self.rows.append([])
        if tag == "td":
            self.rows[-1].append("")
        self.inside.append(tag)

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        self.texts.append(data)
        if "td" in self.inside:
            self.rows[-1][-1] += data

    def suggested(self):
        """The pairs of the page: rows with six cells."""
        return {frozenset(row[:2]) for row in self.rows if len(row) == 6}


def run(folder, *options):
    return subprocess.run(
        [ROOT / "build/lab32", "similarity", folder / "in", "-o", folder / "page.html", *options],
        capture_output=True, text=True, timeout=600, env=dict(os.environ, LAB32_ROOT=str(ROOT)),
    )  # fmt: skip


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """A class compared by PTX only: (output of the command, its page)."""
    folder = tmp_path_factory.mktemp("class")
    put(folder / "in", {f"{name}/{LAB}/{LAB}.cu": text for name, text in CLASS.items()})
    done = run(folder, "--no-compare50")
    assert done.returncode == 0, done.stderr
    return done, (folder / "page.html").read_text()


@pytest.fixture(scope="module")
def natural():
    return made.prints_of(LAB, NATURAL)


# ---- found pairs ---------------------------------------------------------------------------------------


def test_only_copies_are_suggested(outcome):
    done, text = outcome
    assert Parts(text).suggested() == PAIRS
    assert f"{LAB}: 2 of {len(CLASS) * (len(CLASS) - 1) // 2} pairs" in done.stdout


def test_names_comments_blanks_and_order_do_not_matter(natural):
    for change in (
        lambda text: made.renamed(text, made.random.Random(1)),
        lambda text: made.recommented(text, made.random.Random(1)),
        lambda text: made.laid_out(text, made.random.Random(1)),
        made.reordered, made.rewritten, made.copied,
    ):  # fmt: skip
        changed = change(NATURAL["ben"])
        assert changed != NATURAL["ben"]
        copy = made.prints_of(LAB, {"copy": changed})
        assert pairs.FingerprintFrequencies(natural | copy).compare_pair("ben", "copy").overlap_of_all_kernels().weighted_jaccard_index() > 0.99


def test_submissions_that_follow_the_handout_stay_below_the_limits(natural):
    for pair in pairs.FingerprintFrequencies(natural).compare_all_pairs():
        assert pair.overlap_of_all_kernels().weighted_jaccard_index() < pairs.THRESHOLD / 2 and not pair.is_flagged(), (pair.a, pair.b)


def test_the_limits_lie_between_copies_and_independent_ones():
    found, _, _ = made.measure(LAB, classes=4, most=3)
    assert max(one.weighted_jaccard_index() for one in found["independent"]) < pairs.THRESHOLD - 0.1
    for what in ("copies", "edited copies"):
        assert min(one.weighted_jaccard_index() for one in found[what]) > pairs.THRESHOLD
        assert min(one.shared for one in found[what]) > pairs.WEIGHT


def test_equal_short_kernels_are_not_suggested(natural):
    """transpose_tiled is equal without any copying: dan's is the solution's."""
    only = {name: {"transpose_tiled": one["transpose_tiled"]} for name, one in natural.items()}
    only["same"] = only["dan"]
    pair = pairs.FingerprintFrequencies(only).compare_pair("dan", "same")
    assert pair.overlap_of_all_kernels().weighted_jaccard_index() == 1 and not pair.is_flagged()


def test_code_of_the_skeleton_has_no_weight(natural):
    assert made.prints_of(LAB, {"": SKELETON})[""] == {}
    assert all("transpose_naive" not in one and "turn_tile" not in one for one in natural.values())


def test_code_that_all_have_has_no_weight():
    kernel = {number: {1} for number in range(100)}
    own = {number: {2} for number in range(1000, 1100)}
    group = {f"s{i}": {"k": dict(kernel)} for i in range(6)}
    group["s0"]["k"] |= own
    group["s1"]["k"] |= own
    frequencies = pairs.FingerprintFrequencies(group)
    assert frequencies.compare_pair("s2", "s3").overlap_of_all_kernels().shared == 0
    assert frequencies.compare_pair("s0", "s1").overlap_of_all_kernels().shared == 100
    assert frequencies.matched_lines(frequencies.compare_pair("s0", "s1")) == ({"k": {2}}, {"k": {2}})
    by_hand = pairs.FingerprintFrequencies({"a": group["s0"], "b": group["s2"]}).compare_pair("a", "b").overlap_of_all_kernels()
    assert (by_hand.shared, by_hand.all) == (
        100,
        200,
    )  # with only two students, nothing is rare or common


def test_a_single_copied_kernel_is_listed():
    own = {name: {"a": {hash((name, i)): {1} for i in range(500)}} for name in "xyz"}
    for name in "xy":
        own[name]["b"] = {i: {2} for i in range(150)}
    every = pairs.FingerprintFrequencies(own).compare_all_pairs()
    assert not any(pair.is_flagged() for pair in every)
    assert [row[:3] for row in pairs.pairs_similar_in_one_kernel(every, set())] == [("x", "y", "b")]
    assert pairs.pairs_similar_in_one_kernel(every, {("x", "y")}) == []


def test_clusters_are_connected_components():
    assert pairs.submission_clusters([("a", "b"), ("d", "e"), ("c", "b")]) == [["a", "b", "c"], ["d", "e"]]
    assert pairs.submission_clusters([]) == []


# ---- broken and hostile submissions --------------------------------------------------------------------


def test_broken_files_affect_only_themselves(outcome):
    _, text = outcome
    apart = {row[0]: row[1] for row in Parts(text).rows if len(row) == 2}
    assert set(apart) == {"-rf *", "=1+1", "O'Neill; ls $(id)", "x" * 150, "first skeleton", "second skeleton"}  # fmt: skip
    assert (
        "does not compile" in apart["O'Neill; ls $(id)"] and "error" in apart["O'Neill; ls $(id)"]
    )
    assert "not a text file" in apart["=1+1"]
    assert apart["first skeleton"] == "it has only the skeleton's kernels"


def test_the_page_escapes_text_of_students(outcome):
    _, text = outcome
    parts = Parts(text)
    assert set(parts.tags) <= {
        "html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "p", "b", "span", "ul", "li",
        "table", "tr", "th", "td", "a", "details", "summary", "div", "i",
    }  # fmt: skip
    assert "<script>alert('from the file')</script> &amp; " in "".join(parts.texts)
    assert "\u202e" not in text and "\x1b" not in text
    assert any(HOSTILE[3] == piece for piece in parts.texts)


def test_the_page_needs_no_network(outcome):
    _, text = outcome
    attributes = Parts(text).attributes
    links = [
        value for key, value in attributes if key in ("href", "src", "action", "data", "srcset")
    ]
    assert links and all(link.startswith(f"#{LAB}-") for link in links)
    # Each link leads to a pair, or to the first of the similar lines.
    ids = [value for key, value in attributes if key == "id"]
    assert {link[1:] for link in links} <= set(ids) and len(set(ids)) == len(ids)
    assert any("-left-" in link for link in links)
    assert ("content", page.POLICY) in attributes
    assert "url(" not in text and "@import" not in text and "://" not in text


def test_the_page_suggests_and_does_not_judge(outcome):
    assert "It does not judge" in outcome[1] and "This page suggests" in outcome[1]


def test_later_pairs_say_why_they_have_no_link(monkeypatch):
    monkeypatch.setattr(page, "MOST_PAIRS", 1)
    rows = [page.PairRow(a, b) for a, b in (("ann", "bob"), ("cat", "dan"))]
    html = page.lab_similarity_html(page.LabSimilarities(LAB, 4, dict.fromkeys(["ann", "bob", "cat", "dan"], ""), rows, []))
    assert f'<a href="#{LAB}-1">ann</a>' in html and "<td>cat (not shown below)</td>" in html
    assert "The others have no link: their files are not on this page" in html


def test_only_lines_of_kernels_are_marked(outcome):
    """In dan's file, lines of his kernels are marked and no comments."""
    marked = pairs.FingerprintFrequencies(
        made.prints_of(LAB, {"a": NATURAL["dan"], "b": laid_out_anew(NATURAL["dan"])})
    )
    lines = marked.matched_lines(marked.compare_pair("a", "b"))[0]["transpose_best"]
    source = NATURAL["dan"].splitlines()
    start = next(i for i, line in enumerate(source, 1) if "void transpose_best" in line)
    assert lines and all(start <= line <= start + 21 for line in lines), (start, sorted(lines))
    assert outcome[1].count('class="ptx"') > 50


def test_a_group_counts_once_and_equal_files_of_two_students_count_twice(tmp_path):
    metadata = "submission_1:\n  :submitters:\n" + "".join(
        f"  - :name: {name}\n    :sid: '{name}'\n" for name in ("Ann", "Bob")
    )
    put(tmp_path, {
        "export/submission_metadata.yml": metadata, f"export/submission_1/{LAB}.cu": SKELETON,
        f"export/submission_2/{LAB}.cu": SKELETON, f"export/submission_3/{LAB}.cu": SKELETON,
    })  # fmt: skip
    students, _ = collect_students(tmp_path, [LAB])
    files = command.submitted_files_of_lab(students, LAB)
    assert len(students) == 4 and len(files) == 3 and "Ann, Bob" in files


def test_two_students_of_one_name_are_both_compared(tmp_path):
    put(tmp_path, {f"doejane_{i}_7{i}_{LAB}.cu": f"// {i}" for i in (1, 2)})
    students, _ = collect_students(tmp_path, [LAB])
    assert sorted(command.submitted_files_of_lab(students, LAB)) == ["doejane", "doejane (2)"]


def test_a_refused_archive_is_reported(tmp_path):
    put(tmp_path / "in", {
        "ann.zip": zipped({f"../{LAB}.cu": "1"}), "bob.zip": b"no zip", f"eve/{LAB}.cu": NATURAL["eva"],
    })  # fmt: skip
    done = run(tmp_path, "--no-compare50", "--labs", LAB)
    assert done.returncode == 0
    assert "ann: ../transpose.cu points outside its archive" in done.stderr and "bob" in done.stderr


FAKE = """#!/bin/sh
# lab32 ptx LAB FILE -o OUT
if grep -q endless "$3"; then touch "$LAB32_FAKE_LOG"; exec sleep 1000; fi
if grep -q machine "$3"; then echo 'lab32: nvcc: no such file' >&2; exit 2; fi
if grep -q crash "$3"; then kill -SEGV $$; fi
if grep -q large "$3"; then truncate -s 1G "$5"; exit 0; fi
if grep -q odd "$3"; then head -c 100000 /dev/urandom >"$5"; exit 0; fi
: >"$5"
"""


def with_fake(folder, texts, *options):
    binary = folder / "fake"
    binary.write_text(FAKE)
    binary.chmod(0o755)
    put(folder / "in", {f"{name}/{LAB}.cu": text for name, text in texts.items()})
    (folder / "tmp").mkdir()
    return subprocess.Popen(
        [sys.executable, "-m", "lab32.similarity", folder / "in", "-o", folder / "page.html",
         "--binary", binary, "--no-compare50", *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=dict(os.environ, PYTHONPATH=str(ROOT / "grader/python"), LAB32_FAKE_LOG=str(folder / "log"), TMPDIR=str(folder / "tmp")),
    )  # fmt: skip


def test_a_failure_of_the_machine_is_reported_for_one_submission(tmp_path):
    texts = {
        name: f"// {name}\n" for name in ("crash", "endless", "large", "machine", "odd", "plain")
    }
    process = with_fake(tmp_path, texts, "--limit", "1")
    _, said = process.communicate(timeout=60)
    assert process.returncode == command.NOT_ALL
    assert "endless: not compiled after 1 s" in said and "machine: nvcc: no such file" in said
    assert "crash: lab32 ptx failed" in said and "large" not in said and "odd" not in said
    apart = {
        row[0]: row[1] for row in Parts((tmp_path / "page.html").read_text()).rows if len(row) == 2
    }
    assert set(apart) == set(texts) and apart["large"] == "its PTX is larger than 32 MiB"


def test_an_interrupted_run_leaves_no_processes(tmp_path):
    process = with_fake(tmp_path, {"a": "// endless", "b": "// endless"})
    until = time.monotonic() + 60
    while not (tmp_path / "log").exists() and time.monotonic() < until:
        time.sleep(0.02)
    process.terminate()
    _, said = process.communicate(timeout=60)
    assert process.returncode == command.INTERRUPTED and said == "lab32: interrupted\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fake", "in", "log", "tmp"]
    assert not any((tmp_path / "tmp").iterdir())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--labs", "nosuch"], "there is no lab `nosuch`"),
        (["--nosuch"], "see `lab32 similarity --help`"),
        (["--jobs", "0"], "not a whole number"),
        (["-o", "/nosuch/page.html"], "no such folder"),
        (["-o", "/tmp"], "is a folder"),
    ],
)
def test_wrong_options_are_reported_at_once(tmp_path, options, words):
    put(tmp_path / "in", {f"ann/{LAB}.cu": SKELETON})
    done = run(tmp_path, *options)
    assert done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "page.html").exists()


def test_an_empty_folder_is_reported(tmp_path):
    (tmp_path / "in").mkdir()
    with pytest.raises(UserError, match="no file there is named after a lab"):
        command.SimilarityCommand(
            command.parse_options([str(tmp_path / "in"), "-o", str(tmp_path / "page.html")])
        )


# ---- agreement with the README ---------------------------------------------------------------------------

README = (ROOT / "grader/python/lab32/similarity/README.md").read_text()


def test_the_readme_names_every_option_and_status(capsys):
    with pytest.raises(SystemExit):
        command.parse_options(["--help"])
    options = set(
        re.findall(r"(?<![\w-])--?[a-z][\w-]*", capsys.readouterr().out.partition("options:")[2])
    )
    assert set(re.findall(r"^\| `(--?[a-z][\w-]*)", README, re.M)) == options - {"-h", "--help"}
    assert re.findall(r"^\| (\d+) \|", README, re.M) == [
        str(status) for status in (command.DONE, command.NOT_ALL, command.INTERRUPTED)
    ]


def test_the_readme_states_the_limits():
    words = " ".join(README.split())
    assert (
        f"| PTX | {pairs.THRESHOLD:.0%} | a weight of {pairs.WEIGHT:.0f} |".replace("%", " %")
        in words
    )
    assert (
        f"matched less | {tokens.THRESHOLD:.0%} | {tokens.CHARACTERS}".replace("%", " %") in words
    )
    kernel = f"with {pairs.KERNEL_THRESHOLD:.0%} and a weight of {pairs.KERNEL_WEIGHT:.0f}"
    assert kernel.replace("%", " %") in words
    assert f"Every {['five', 'six', 'seven'][ptx.GRAM - 5]} instructions" in words


@pytest.mark.parametrize("lab", ["reduction", "transpose"])
def test_the_readme_states_how_many_pairs_agree(lab):
    """In each kernel, for students who followed the handout."""
    texts = made.handed_in(lab) | {"solution": dict(made.right_ones(lab))["solution"]}
    frequencies = pairs.FingerprintFrequencies(made.prints_of(lab, texts))
    for kernel, (both, same) in frequencies.agreeing_pair_counts_by_kernel().items():
        assert f"| `{kernel}` | {same} of {both} |" in README, (kernel, same, both)
    most = max(pair.overlap_of_all_kernels().weighted_jaccard_index() for pair in frequencies.compare_all_pairs())
    assert most < pairs.THRESHOLD and not any(pair.is_flagged() for pair in frequencies.compare_all_pairs())


# ---- compare50 -----------------------------------------------------------------------------------------


def test_without_a_network_only_ptx_is_compared(tmp_path, monkeypatch, capsys):
    pinned = tmp_path / "pinned.txt"
    pinned.write_text("--no-index\ncompare50==1.2.15\n")
    make = tokens.install_compare50
    monkeypatch.setattr(tokens, "install_compare50", lambda: make(tmp_path / "venv", pinned))
    put(tmp_path / "in", {f"{name}/{LAB}.cu": NATURAL[name] for name in ("ada", "ben")})
    options = command.parse_options([str(tmp_path / "in"), "-o", str(tmp_path / "page.html")])
    assert command.SimilarityCommand(options).run() == command.DONE
    said = capsys.readouterr().err
    assert said.startswith("lab32: compare50 cannot be installed: ") and said.count("\n") == 1
    assert "Without compare50." in (tmp_path / "page.html").read_text()


def compare50():
    """(path of its Python, "") or (None, the reason)."""
    try:
        return tokens.install_compare50(), ""
    except tokens.Compare50Unavailable as error:
        return None, str(error)


def test_compare50_finds_copies_in_files_that_do_not_compile(tmp_path):
    python, why = compare50()
    if python is None:  # without a network; another test covers that case
        assert why and "\n" not in why
        return
    broken = " nobody_declared_this();\n"
    files = {name: (text + broken).encode() for name, text in NATURAL.items()}
    files["<copy>"] = made.copied(NATURAL["ben"] + broken).encode()
    files |= {
        "binary": CLASS[HOSTILE[1]],
        "empty": b"",
        "comment": b"/* x",
        "skeleton": SKELETON.encode(),
    }
    path = ROOT / f"labs/{LAB}/{LAB}.cu"
    found, unread = tokens.score_pairs_with_compare50(
        python, LAB, files, path, 100, [("<copy>", "ben"), ("ada", "empty")]
    )
    assert {who for who, one in found.items() if one.is_flagged()} == {("<copy>", "ben")}
    assert not any("skeleton" in who and one.smaller_matched_share() > 0.1 for who, one in found.items())
    assert set(unread) >= {"empty"}
    best = found["<copy>", "ben"]
    assert (
        set(best.lines[1]) <= set(range(1, NATURAL["ben"].count("\n") + 2))
        and len(best.lines[1]) > 40
    )
    again, _ = tokens.score_pairs_with_compare50(python, LAB, files, path, 100, [("<copy>", "ben")])
    assert {who: (one.score, one.shares) for who, one in again.items()} == {
        who: (one.score, one.shares) for who, one in found.items()
    }


def test_compare50_has_an_environment_of_its_own():
    """compare50 needs an older attrs than lab32, so they never share an environment."""
    assert tokens.compare50_environment_folder() != ROOT / ".venv"
    pins = [line for line in tokens.PINNED.read_text().splitlines() if line and line[0] not in "#-"]
    assert "compare50==1.2.15" in pins and all("==" in line for line in pins)


def test_an_installed_lab32_keeps_compare50_in_the_cache_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tokens, "ROOT", tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert tokens.compare50_environment_folder() == tmp_path / "cache/lab32/compare50"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert tokens.compare50_environment_folder() == Path.home() / ".cache/lab32/compare50"


def test_every_pair_is_compared_once(natural):
    every = pairs.FingerprintFrequencies(natural).compare_all_pairs()
    assert {(pair.a, pair.b) for pair in every} == set(combinations(sorted(natural), 2))
