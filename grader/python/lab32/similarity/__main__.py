"""lab32 similarity SUBMISSIONS -o similarity.html: suggests pairs of submissions to read side by side."""

import argparse
import os
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from lab32 import ROOT
from lab32.classroom import collect
from lab32.classroom.problem import CommandLineParser, UserError, printable_line
from lab32.classroom.shell import (
    chosen_labs,
    interrupt_on_termination,
    open_closed_streams,
    print_line,
    print_list,
    whole_number_parser,
)
from lab32.similarity import page, pairs, tokens
from lab32.similarity.compiled import SubmissionCompiler

DONE, NOT_ALL, INTERRUPTED = 0, 2, 130


def parse_options(arguments):
    parser = CommandLineParser(
        prog="lab32 similarity",
        description="Suggests pairs of submissions that are worth reading side by side. It does not judge them.",
        epilog=f"{Path(__file__).with_name('README.md')} explains what it detects and what it misses.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "submissions",
        metavar="SUBMISSIONS",
        type=Path,
        help="the platform's export, as for lab32 class",
    )
    parser.add_argument(
        "-o", dest="out", metavar="HTML", type=Path, required=True, help="the page to write"
    )
    parser.add_argument("--labs", metavar="A,B", help="the labs to compare (default: all labs with at least one file)")
    parser.add_argument(
        "--jobs", metavar="N", type=whole_number_parser(1, 1000), help="submissions compiled at once (default: number of cores)"
    )
    parser.add_argument(
        "--no-compare50", action="store_true", help="compare PTX only; compare50 is not installed"
    )
    parser.add_argument(
        "--limit",
        metavar="SECONDS",
        type=whole_number_parser(1, 10**6),
        default=300,
        help="time limit for compiling one submission (300)",
    )
    parser.add_argument("--binary", type=Path, default=ROOT / "build/lab32", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def submitted_files_of_lab(students, lab):
    """{name: collect.SubmittedFile} of a lab. A group that handed in together counts as one."""
    out, groups = {}, set()
    for student in students:
        source = student.files.get(lab)
        if not source or (source.group and (source.group, source.data) in groups):
            continue
        groups.add((source.group, source.data))
        of = ", ".join(source.group) or student.name
        name, more = of, 1
        while name in out:  # another student has the same name
            more += 1
            name = f"{of} ({more})"
        out[name] = source
    return out


class SimilarityCommand:
    def __init__(self, options):
        self.options = options
        if not os.access(options.binary, os.X_OK):
            raise UserError(f"there is no {printable_line(options.binary)}: run `make build` first")
        if not options.out.resolve().parent.is_dir():
            raise UserError(f"{printable_line(options.out)}: no such folder")
        if options.out.is_dir():
            raise UserError(f"{printable_line(options.out)}: this is a folder; -o must name an HTML file")
        self.labs = chosen_labs(options.submissions, options.labs)
        self.students, self.left_out = collect.collect_students(options.submissions, self.labs)
        self.compiler = SubmissionCompiler(options.binary.resolve(), options.limit)
        self.jobs = options.jobs or os.cpu_count() or 1
        self.machine = []  # failures of the machine rather than of a submission

    def lazily_installed_compare50_python(self):
        """The path of the Python of compare50's environment; None if that cannot be installed, which is reported
        once."""
        if self.options.no_compare50:
            return None
        try:
            return tokens.install_compare50()
        except tokens.Compare50Unavailable as error:
            print(f"lab32: compare50 cannot be installed: {error}; comparing PTX only",
                  file=sys.stderr)  # fmt: skip
            return None

    def compare_lab(self, lab, compare50_python):
        sources = submitted_files_of_lab(self.students, lab)
        files = {name: source.data for name, source in sources.items()}
        skeleton = ROOT / f"labs/{lab}/{lab}.cu"
        given = self.compiler.fingerprints_of_skeleton(lab, skeleton)
        with Progress(
            console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()
        ) as shown:
            task = shown.add_task(lab, total=len(files))
            compiled = self.compiler.compile_all(lab, sources, given, self.jobs, lambda: shown.advance(task))
        signals, apart = [], []
        for name, one in compiled.items():
            if one.why:
                apart.append((name, one.why))
                if one.ours:
                    self.machine.append(f"{lab}, {name}: {one.why}")
            elif not one.prints:
                apart.append((name, "it has only the skeleton's kernels"))
        frequencies = pairs.FingerprintFrequencies(
            {name: one.prints for name, one in compiled.items() if one.prints}
        )
        every = frequencies.compare_all_pairs()
        by_ptx = {(pair.a, pair.b): pair for pair in every}
        flagged = [who for who, pair in by_ptx.items() if pair.is_flagged()]
        by_text = self.compare_texts(lab, compare50_python, files, skeleton, flagged, signals)
        rows = []
        for who in dict.fromkeys([*flagged, *by_text]):
            row = page.PairRow(*who, by_ptx.get(who), by_text.get(who))
            if row.is_flagged():
                row.lines = frequencies.matched_lines(row.pair) if row.pair else ({}, {})
                rows.append(row)
        rows.sort(key=page.PairRow.sort_key)
        shown = {(row.a, row.b) for row in rows}
        return page.LabSimilarities(
            lab, len(files), {name: tokens.decode_source(data) for name, data in files.items()}, rows,
            pairs.submission_clusters(shown), pairs.pairs_similar_in_one_kernel(every, shown), frequencies.agreeing_pair_counts_by_kernel(),
            apart, signals,
        )  # fmt: skip

    def compare_texts(self, lab, compare50_python, files, skeleton, asked, missing_signal_notes):
        if compare50_python is None or len(files) < 2:
            missing_signal_notes += ["Without compare50."] if compare50_python is None else []
            return {}
        most = max(len(files), 20)  # a limit, because matching a pair takes a fifth of a second
        try:
            found, unread = tokens.score_pairs_with_compare50(compare50_python, lab, files, skeleton, most, asked[:most])
        except tokens.Compare50Unavailable as error:
            self.machine.append(f"{lab}: compare50: {error}")
            missing_signal_notes.append(f"Without compare50: {error}.")
            return {}
        missing_signal_notes += [f"compare50 cannot read {name}." for name in unread]
        return found

    def run(self):
        python = self.lazily_installed_compare50_python()
        pages = [self.compare_lab(lab, python) for lab in self.labs]
        out = self.options.out
        part = out.with_name(out.name + ".part")
        try:
            part.write_text(page.similarity_page_html(pages), "utf-8", "backslashreplace")
            os.replace(part, out)
        finally:
            part.unlink(missing_ok=True)
        print_list("left out", self.left_out)
        print_list("not readable", [f"{s.name}: {s.unread}" for s in self.students if s.unread])
        print_list("refused", [f"{s.name}: {s.refused}" for s in self.students if s.refused])
        print_list("not compared, through no fault of the student", self.machine)
        counts = ", ".join(
            f"{each.lab}: {len(each.rows)} of {each.count * (each.count - 1) // 2} pairs"
            for each in pages
        )
        print_line(f"to read side by side: {counts}; {printable_line(out)}")
        return NOT_ALL if self.machine else DONE


def main(arguments=None):
    open_closed_streams()
    interrupt_on_termination()
    try:
        options = parse_options(arguments)
        return SimilarityCommand(options).run()
    except UserError as problem:
        print(f"lab32: {problem}", file=sys.stderr)
    except OSError as error:
        print(f"lab32: {printable_line(error.filename or options.out)}: {error.strerror}", file=sys.stderr)
    except KeyboardInterrupt:
        print("lab32: interrupted", file=sys.stderr)
        return INTERRUPTED
    return NOT_ALL


if __name__ == "__main__":
    sys.exit(main())
