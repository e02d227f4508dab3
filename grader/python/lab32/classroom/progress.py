"""Shows the progress of a class: a bar on a terminal, elsewhere a line per student."""

import sys
import time
from collections import Counter

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from lab32.classroom.problem import printable_line

WINDOW = 20  # number of last students from which the rate is computed


def failure_reasons_summary(failed):
    """ "2 cannot be compiled or loaded, 1 refused: a link", the most frequent first."""
    return ", ".join(f"{count} {printable_line(why, 60)}" for why, count in Counter(failed).most_common(3))


def clock_text(seconds):
    minutes, seconds = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


class ProgressBar(Progress):
    """Shows failures on a line of their own below the bar, because 80 columns have no room for both."""

    below = ""

    def get_renderables(self):
        yield from super().get_renderables()
        if self.below:
            yield Text(self.below, overflow="ellipsis", no_wrap=True)


class ProgressDisplay:
    """`done` is the number of students whom an earlier run has graded."""

    def __init__(self, count, done, stream=None):
        self.count, self.done, self.failed = count, done, []
        self.ends = [time.monotonic()]
        console = Console(file=stream or sys.stderr, highlight=False)
        self.plain = None if console.is_terminal else console.file
        self.bar = ProgressBar(
            TextColumn("class"), BarColumn(24), MofNCompleteColumn(), TimeElapsedColumn(),
            TextColumn("{task.fields[pace]}", markup=False), console=console, disable=self.plain is not None,
        )  # fmt: skip
        self.task = self.bar.add_task("class", total=count, completed=done, pace="")

    def __enter__(self):
        self.bar.start()
        return self

    def __exit__(self, *_):
        self.bar.stop()

    def students_per_minute(self):
        """Students per minute over the last WINDOW; 0 if unknown."""
        ends = self.ends[-WINDOW - 1 :]
        return (
            60 * (len(ends) - 1) / (ends[-1] - ends[0])
            if len(ends) > 1 and ends[-1] > ends[0]
            else 0.0
        )

    def pace_text(self):
        rate = self.students_per_minute()
        if not rate:
            return ""
        return f"{rate:.1f} per minute, {clock_text(60 * (self.count - self.done) / rate)} left"

    def add_finished_student(self, row):
        """Counts one more student."""
        self.done += 1
        self.ends.append(time.monotonic())
        if row.failed:
            self.failed.append(row.failed)
            self.bar.below = failure_reasons_summary(self.failed)
        self.bar.update(self.task, completed=self.done, pace=self.pace_text())
        if self.plain:
            points = (
                f"{sum(row.final.values()):g} / {row.max_score:g}" if row.has_points() else row.status
            )
            why = f" ({printable_line(row.failed, 80)})" if row.failed not in ("", points) else ""
            print(
                f"[{self.done}/{self.count}] {printable_line(row.display_name(), 60)}: {points}{why}",
                file=self.plain,
                flush=True,
            )

    def print_above_bar(self, line):
        """Prints a line above the bar."""
        if self.plain:
            print(f"lab32: {printable_line(line)}", file=self.plain, flush=True)
        else:
            self.bar.console.print(f"lab32: {printable_line(line)}", markup=False)
