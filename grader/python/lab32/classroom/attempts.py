"""Chooses the attempt that counts where a course says `attempt = "best"` or "best_before_due": all attempts are graded,
and the best becomes the student's submission. Slip days are not considered."""

from lab32.classroom.late import (
    days_late_and_note,
    deduction_per_cent,
    points_after_deduction,
    submission_time,
)

MOST = 20  # attempts of a student at one lab that are graded; earlier ones are ignored


def attempts_that_may_count(course, row):
    """{lab: the SubmittedFiles of attempts that may count, the latest first, at most MOST}. Under
    best_before_due these are the attempts in time, or only the latest if none is in time."""
    when = row.person and row.person.submitted
    found = {}
    for lab, attempts in row.student.attempts.items():
        if course.attempt == "best_before_due":
            due = course.due_time(lab, row.all_ids())
            in_time = [each for each in attempts if not days_late_and_note(course, lab, each, row.all_ids(), when)[0]]
            attempts = (in_time or attempts[:1]) if due else attempts
        found[lab] = attempts[:MOST]
    return found


def attempts_to_choose_best_from(course, rows):
    """The attempts that are graded to choose the best, as [(the student's row, number of the attempt, {lab: SubmittedFile})]."""
    found = []
    for row in rows:
        several = {lab: attempts for lab, attempts in attempts_that_may_count(course, row).items() if len(attempts) > 1}
        for number in range(max(map(len, several.values()), default=0)):
            found.append((row, number, {lab: each[number] for lab, each in several.items() if number < len(each)}))
    return found


def select_files_of_best_attempts(course, row, scores):
    """Makes the best attempt at each lab the student's file. `scores` are {(lab, number of the attempt): points}."""
    when = row.person and row.person.submitted
    for lab, attempts in attempts_that_may_count(course, row).items():
        def attempt_points_after_deduction(number, lab=lab, attempts=attempts):
            days, _ = days_late_and_note(course, lab, attempts[number], row.all_ids(), when)
            return points_after_deduction(scores.get((lab, number), 0), deduction_per_cent(course, days))

        best = max(range(len(attempts)), key=attempt_points_after_deduction)  # the latest among equal ones
        row.student.files[lab] = attempts[best]
        if len(row.student.attempts[lab]) > 1:
            row.student.notes = [note for note in row.student.notes if not note.startswith(f"{lab}: ")]
            time = submission_time(course, attempts[best])
            row.student.notes.append(
                f"{lab}: of {len(row.student.attempts[lab])} attempts {attempts[best].path} counts"
                + (f", of {time.isoformat(sep=' ', timespec='minutes')}" if time else "")
            )
