"""lab32 class SUBMISSIONS -o OUT: grades a whole class."""

import argparse
import contextlib
import hashlib
import os
import signal
import sys
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

from lab32 import ROOT
from lab32.classroom import attempts, collect, feedback, pages, people, run, scores, slurm, worker
from lab32.classroom.gradebook import read_gradebook
from lab32.classroom.leaders import (
    best_half_by_points,
    pseudonyms,
    pseudonyms_csv,
    read_pseudonym_secret,
)
from lab32.classroom.overrides import read_points_overrides
from lab32.classroom.problem import (
    CommandLineParser,
    UserError,
    last_error_sentence,
    printable_line,
)
from lab32.classroom.progress import ProgressDisplay, failure_reasons_summary
from lab32.classroom.shell import (
    chosen_labs,
    interrupt_on_termination,
    open_closed_streams,
    print_line,
    print_list,
    whole_number_parser,
)
from lab32.classroom.store import NOT_GRADED, REFUSED, ClassResultStore, unique_slug
from lab32.course.reader import default_course, read_course
from lab32.course.rubrics import write_rubrics

ALL_GRADED, NOT_ALL_GRADED, INTERRUPTED = 0, 2, 130


def parse_options(arguments):
    parser = CommandLineParser(
        prog="lab32 class",
        description="Grades a whole class.",
        epilog=f"{Path(__file__).with_name('README.md')} describes every option and file.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "submissions",
        metavar="SUBMISSIONS",
        type=Path,
        help="what the platform exported: a folder, a zip or a tar",
    )
    parser.add_argument(
        "-o",
        dest="out",
        metavar="OUT",
        type=Path,
        required=True,
        help="the folder for results; the same command resumes an interrupted run",
    )
    parser.add_argument("--labs", metavar="A,B", help="the labs to grade (default: all labs with at least one file)")
    parser.add_argument(
        "--roster", metavar="CSV", type=Path, help="the students of the class, with columns id, name, email, ..."
    )
    parser.add_argument(
        "--groups", metavar="CSV", type=Path, help="the members of groups that hand in together, with columns group, id, ..."
    )
    parser.add_argument(
        "--jobs", metavar="N", type=whole_number_parser(1, 10_000), help="submissions graded at once (default: the number of cores)"
    )
    parser.add_argument(
        "--executor", choices=("local", "slurm"), default="local", help="where (local)"
    )
    parser.add_argument("--partition", default="", help="of Slurm")
    parser.add_argument(
        "--time", default="60", help="time limit of each Slurm job: minutes, H:MM:SS or D-H:MM (60)"
    )
    parser.add_argument("--gres", default="", help="of Slurm: gpu:1")
    parser.add_argument(
        "--seed",
        type=whole_number_parser(0, 2**64 - 1),
        help="seed of the random inputs, shared by all students (default: a secret one)",
    )
    parser.add_argument("--course", metavar="TOML", type=Path, help="the file of the course: deadlines, points, late submissions, ...")
    parser.add_argument(
        "--gradebook",
        metavar="CSV",
        type=Path,
        help="Canvas' or Moodle's export, filled in as OUT/gradebook.csv",
    )
    parser.add_argument(
        "--column",
        metavar="LAB=HEADER",
        action="append",
        default=[],
        help="the gradebook's column for a lab, or for `total`",
    )
    parser.add_argument(
        "--leaderboard",
        action="store_true",
        help="list the best scores in report.html under pseudonyms; OUT/pseudonyms.csv has the names",
    )
    parser.add_argument(
        "--pages",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="write a page per student in OUT/pages, and OUT/feedback.zip for the platform (yes)",
    )
    parser.add_argument("--no-report", action="store_true", help="no report.html")
    parser.add_argument("--device", default="sim", help="as for lab32 grade (sim)")
    parser.add_argument("--rubric", default="", help="as for lab32 grade (data/limits)")
    parser.add_argument(
        "--limit",
        metavar="SECONDS",
        type=whole_number_parser(1, 10**6),
        default=900,
        help="time limit for one submission (900)",
    )
    parser.add_argument(
        "--time-limit",
        metavar="SECONDS",
        type=whole_number_parser(1, 10**6),
        help="time limit for each lab of a submission, as for lab32 grade",
    )
    parser.add_argument(
        "--modelled-times",
        action="store_true",
        help="without a GPU, add modelled times of the timed kernels; grading takes half as long again, no points change",
    )
    parser.add_argument("--binary", type=Path, default=ROOT / "build/lab32", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def student_without_files(person):
    return collect.Student(f"roster:{person.line}", person.name, person.ids)


class GradeClassCommand:
    """Reads and checks all inputs before the first submission is graded, so that bad input is reported at once."""

    def __init__(self, options):
        self.options = options
        if not os.access(options.binary, os.X_OK):
            raise UserError(f"there is no {printable_line(options.binary)}: run `make build` first")
        if options.out.resolve().is_relative_to(options.submissions.resolve()):
            raise UserError(
                f"{printable_line(options.out)}: OUT lies in SUBMISSIONS, and would be taken for a student's"
            )
        slurm.parse_minutes(options.time)
        if options.rubric and not Path(options.rubric).is_dir():
            raise UserError(
                f"{printable_line(options.rubric)}: no such folder; --rubric names the folder of the LAB.toml files"
            )
        self.course = read_course(options.course, options.rubric) if options.course else default_course(options.rubric)
        self.labs = chosen_labs(options.submissions, options.labs, self.course.labs)
        self.overrides = read_points_overrides(self.course)
        roster = people.read_roster(options.roster) if options.roster else []
        self.book = (
            read_gradebook(options.gradebook, self.labs, options.column)
            if options.gradebook
            else None
        )
        groups = people.read_members_by_group(options.groups) if options.groups else None
        every_attempt = self.course.attempt != "last"
        students, self.left_out = collect.collect_students(options.submissions, self.labs, groups, every_attempt)
        found, self.unmatched = people.match_students(students, roster) if roster else ({}, [])
        there = {id(person) for person in found.values()}
        for person in roster:
            if id(person) not in there:
                students.append(student_without_files(person))
                found[students[-1].key] = person
        if not students:
            raise UserError(f"{printable_line(options.submissions)}: no submissions in it")
        taken = set()
        self.rows = {}
        for student in students:
            slug = unique_slug(student.name, student.key, taken)
            self.rows[slug] = scores.StudentRow(student, slug, found.get(student.key))
        self.store = ClassResultStore(options.out)
        self.store.create_folders()
        self.store.lock_until_process_exit()
        if options.course:
            options.rubric = str(self.store.state / "rubrics")
            write_rubrics(self.course, options.rubric, options.binary)

    def store_files_and_yield_tasks(self, store, submissions, seed):
        """The tasks for worker.py of [(name in the store, row, {lab: SubmittedFile})]."""
        version = run.grader_version_hash(self.options.binary, self.options.rubric, self.labs)
        for slug, row, files in submissions:
            tree = collect.file_contents_by_path(files)
            told = [*row.student.notes, *([f"Not readable: {row.student.unread}."] if row.student.unread else [])]
            words = (
                version, seed, self.options.device, self.options.time_limit, self.options.modelled_times, *self.labs, row.student.refused,
                *told,
            )  # fmt: skip
            key = hashlib.sha256(repr(words).encode("utf-8", "backslashreplace"))
            key.update(collect.content_hash(tree).encode())
            store.store_submission_files(slug, tree)
            yield worker.GradingTask(slug, key.hexdigest(), row.student.refused, tuple(printable_line(note, 300) for note in told))

    def grade_remaining_submissions(self):
        """Grades all remaining submissions. Returns False if the run was interrupted."""
        seed = run.class_seed(self.store, self.options.seed)
        if self.course.attempt != "last" and not self.choose_best_of_repeated_attempts(seed):
            return False

        def on_submission_finished(task, record):
            row = scores.fill_row_from_record(self.rows[task.slug], record, self.course, self.overrides)
            if self.options.pages and row.has_points():
                with contextlib.suppress(Exception):  # write_outdated_student_pages() tries again and reports the error
                    pages.write_student_page(self.store, row)
            return row

        return self.grade_submissions(self.store, [(slug, row, row.student.files) for slug, row in self.rows.items()], seed, on_submission_finished)

    def choose_best_of_repeated_attempts(self, seed):
        """Grades all attempts of the students who have several, and makes the best one of each student the
        submission."""
        store, points = ClassResultStore(self.store.state / "attempts"), defaultdict(dict)
        store.create_folders()
        store.lock_until_process_exit()
        several = [(f"{number}-{row.slug}", row, number, files)
                   for row, number, files in attempts.attempts_to_choose_best_from(self.course, self.rows.values())]  # fmt: skip
        graded = {name: (row, number, files) for name, row, number, files in several}

        def on_submission_finished(task, record):
            row, number, files = graded[task.slug]
            points[row.slug] |= {(lab["lab"], number): lab["score"] for lab in record["labs"]}
            attempt = scores.StudentRow(replace(row.student, files=files), row.slug, row.person)
            return scores.fill_row_from_record(attempt, record, self.course, {})

        if not self.grade_submissions(store, [(name, row, files) for name, row, _, files in several], seed, on_submission_finished):
            return False
        for row in self.rows.values():
            attempts.select_files_of_best_attempts(self.course, row, points[row.slug])
        return True

    def grade_submissions(self, store, submissions, seed, on_submission_finished):
        """Grades [(name in the store, row, {lab: SubmittedFile})] and calls `on_submission_finished` for each; returns False if interrupted."""
        options, tasks, done = self.options, [], 0
        store.reset_grading_try_counts()
        for task in self.store_files_and_yield_tasks(store, submissions, seed):
            record = store.valid_record(task.slug, task.key)
            if record and record["status"] != NOT_GRADED:
                on_submission_finished(task, record)
                done += 1
            else:
                store.remove_record(task.slug)
                tasks.append(task)
        mine = os.getpid()
        plan = worker.GradingRunPlan(
            str(store.out.resolve()), str(options.binary.resolve()), tuple(self.labs), seed, options.device,
            str(Path(options.rubric).resolve()) if options.rubric else "", options.limit, options.time_limit or 0,
            options.modelled_times, (mine, worker.process_start_time(mine)) if options.executor == "local" else (), tuple(tasks),
        )  # fmt: skip
        if not tasks:
            return True
        with (
            run.redirect_stderr_to(store.state / "jobs/errors") as errors,
            ProgressDisplay(len(submissions), done, errors) as shown,
        ):
            jobs = options.jobs or os.cpu_count() or 1
            executor = run.make_job_executor(options, store)
            group = run.GradingJobScheduler(plan, store, executor, jobs, lambda *of: shown.add_finished_student(on_submission_finished(*of)), shown.print_above_bar)
            try:
                group.run()
            except KeyboardInterrupt:
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                group.stop_jobs()
                return False
        store.remove_incomplete_files()
        return True

    def write_score_tables(self):
        rows, out, leaders = list(self.rows.values()), self.options.out, None
        self.store.write_file(out / "scores.csv", scores.scores_csv(rows, self.labs))
        if self.book:
            data, messages = self.book.with_grades(rows)
            self.store.write_file(out / "gradebook.csv", data)
            print_list("gradebook", messages)
        if self.options.leaderboard:
            names = pseudonyms(read_pseudonym_secret(self.store), self.rows)
            leaders = best_half_by_points(rows, names)
            self.store.write_file(out / "pseudonyms.csv", pseudonyms_csv(rows, names))
        record = scores.class_results_json(rows, self.labs, leaders).encode("utf-8", "backslashreplace")
        path = out / "class.json"
        if not path.exists() or path.read_bytes() != record:
            (out / "report.html").unlink(missing_ok=True)
            self.store.write_file(path, record)

    def write_outdated_student_pages(self):
        """Writes the students' pages that are missing or out of date. Returns whether one of them has failed."""
        if not self.options.pages:
            return False
        missing = []
        for row in self.rows.values():
            if row.has_points():
                try:
                    pages.write_student_page(self.store, row)
                except Exception as error:  # an unexpected result costs only its own page
                    why = worker.os_error_text(error) if isinstance(error, OSError) else f"{type(error).__name__}: {error}"
                    missing.append(f"{row.display_name()}: {printable_line(why)}")
        feedback.write_feedback_zip_per_lab(self.store, self.rows.values())
        print_list("pages not written", missing)
        return bool(missing)

    def write_class_report(self):
        """Writes report.html. Returns whether that has failed."""
        if self.options.no_report or (self.options.out / "report.html").exists():
            return False
        from lab32.classroom import page  # importing it takes a second, and it is often not needed

        try:
            page.write_class_report_page(self.store)
        except Exception as error:  # a notebook's run raises any error of its libraries
            why = printable_line(last_error_sentence(str(error)) or type(error).__name__)
            print(
                f"lab32: {printable_line(self.options.out)}/report.html: not written: {why}",
                file=sys.stderr,
            )
            return True
        return False

    def write_scores_and_print_summary(self, ran_to_completion):
        rows = list(self.rows.values())
        self.write_score_tables()
        print_list("not in the roster", self.unmatched)
        print_list("left out", self.left_out)
        there = {people.comparable_id(value) for row in rows for _, value in row.all_ids()}
        strangers = {*self.course.extensions, *self.course.excused, *self.overrides} - there
        print_list("in the course's file, and no student's id", sorted(strangers))
        unread = [f"{row.display_name()}: {row.student.unread}" for row in rows if row.status == scores.NOT_READABLE]
        print_list("not readable; no points until you have looked", unread)
        print_list("refused", [f"{row.display_name()}: {row.reason}" for row in rows if row.status == REFUSED])
        missing = [f"{row.display_name()}: {row.reason}" for row in rows if row.status == NOT_GRADED]
        print_list("not graded, through no fault of the student", missing)
        graded = sum(row.has_points() and row.status != scores.NOT_READABLE for row in rows)
        failed = failure_reasons_summary([row.failed for row in rows if row.failed])
        print_line(f"{graded} of {len(rows)} graded ({', '.join(self.labs)}); {printable_line(self.options.out)}/scores.csv"
            + (f"; {failed}" if failed else ""))  # fmt: skip
        if not ran_to_completion:
            print("lab32: interrupted; run the same command again to continue", file=sys.stderr)
            return INTERRUPTED
        failed = [self.write_outdated_student_pages(), self.write_class_report()]
        return NOT_ALL_GRADED if missing or unread or self.left_out or any(failed) else ALL_GRADED


def main(arguments=None):
    open_closed_streams()
    interrupt_on_termination()
    try:
        options = parse_options(arguments)
        session = GradeClassCommand(options)
        return session.write_scores_and_print_summary(session.grade_remaining_submissions())
    except UserError as problem:
        print(f"lab32: {problem}", file=sys.stderr)
    except OSError as error:
        error.filename = error.filename or options.out
        print(f"lab32: {worker.os_error_text(error)}", file=sys.stderr)
    except KeyboardInterrupt:
        print("lab32: interrupted", file=sys.stderr)
        return INTERRUPTED
    return NOT_ALL_GRADED


if __name__ == "__main__":
    sys.exit(main())
