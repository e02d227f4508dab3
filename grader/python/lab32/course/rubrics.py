"""Applies a course to the rubrics of its labs: points, dropped and hidden checks, thresholds."""

import json
import re
import subprocess
from datetime import datetime
from fractions import Fraction
from math import floor
from pathlib import Path

from lab32.classroom.problem import UserError, printable_line


def adapted_rubric(course, lab):
    """The rubric of a lab as the course changes it, as a table."""
    rubric = {key: dict(value) if isinstance(value, dict) else value for key, value in lab.rubric.items()}
    for table, changes in lab.changes.items():
        row = rubric[table]
        for key, value in changes.items():
            row["bonus" if key == "points" and "bonus" in row else key] = value
    rows = {table: rubric[table] for table in lab.rubric_rows_by_name()}
    most = lab.max_score or rubric["max_score"]
    scale_check_points(course, lab, rows, most)
    rubric["max_score"] = most
    for table in lab.hidden:  # also afterwards, since `lab32 ask` asks no questions about these checks
        rows[table]["hidden_until"] = course.latest_due_time(lab.name)
    return rubric


def scale_check_points(course, lab, rows, most):
    """Scales the points of the checks so that they add up to `most`. Hundredths that remain go to the checks that lost
    most by rounding."""
    counted = {table: Fraction(str(row["points"])) for table, row in rows.items() if "points" in row}
    total = sum(counted.values())
    if not total:
        raise UserError(f"{course.place_of_key('labs', lab.name, 'checks')}: no check of {lab.name} has points")
    factor = Fraction(str(most)) / total
    if factor == 1:
        return
    exact = {table: points * factor * 100 for table, points in counted.items()}
    left = round(Fraction(str(most)) * 100) - sum(map(floor, exact.values()))
    by_loss = sorted(exact, key=lambda table: floor(exact[table]) - exact[table])
    for at, table in enumerate(by_loss):
        rows[table]["points"] = points_from_hundredths(floor(exact[table]) + (at < left))
    for row in rows.values():
        if "bonus" in row:
            row["bonus"] = points_from_hundredths(floor(Fraction(str(row["bonus"])) * factor * 100))


def points_from_hundredths(number):
    return number // 100 if number % 100 == 0 else number / 100


def toml_text_of_value(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {toml_text_of_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_text_of_value, value)) + "]"
    if isinstance(value, datetime):
        return value.isoformat()
    return json.dumps(value, ensure_ascii=False)


def adapted_toml_and_change_places(course, lab):
    """(the rubric as TOML, {line: the place in course.toml of the key there that the course changes})"""
    rubric = adapted_rubric(course, lab)
    if rubric == lab.rubric:
        return lab.rubric_path.read_text(), {}
    lines = [f"{key} = {toml_text_of_value(value)}" for key, value in rubric.items() if not isinstance(value, dict)]
    places = {}
    for table, row in rubric.items():
        if not isinstance(row, dict):
            continue
        lines += ["", f"[{table}]"]
        for key, value in row.items():
            lines.append(f"{json.dumps(key)} = {toml_text_of_value(value)}")
            if key in lab.changes.get(table, {}):
                places[len(lines)] = course.place_of_key("labs", lab.name, "checks", table, key)
    return "\n".join(lines) + "\n", places


def write_rubrics(course, folder, binary):
    """Writes LAB.toml of each lab. Thresholds are checked by the program; its errors name the line of the course."""
    folder = Path(folder)
    folder.mkdir(exist_ok=True)
    for path in folder.glob("*.toml"):
        if path.stem not in course.labs:
            path.unlink()
    for lab in course.labs.values():
        (text, places), path = adapted_toml_and_change_places(course, lab), folder / f"{lab.name}.toml"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
        if any(changes.keys() - {"points"} for changes in lab.changes.values()):
            raise_if_rubric_invalid(lab, folder, binary, places)


def raise_if_rubric_invalid(lab, folder, binary, places):
    done = subprocess.run([binary, "seal", lab.name, "--check", "--rubric", folder], capture_output=True, text=True)
    if done.returncode == 0:
        return
    said = printable_line(done.stderr.strip().removeprefix("lab32: "), 400)
    where = re.match(rf".*/{lab.name}\.toml:(\d+): ", said)
    line = int(where[1]) if where else 0
    # An error about a whole table has the table's first line, and the key that the course has changed is below it.
    at = next((places[n] for n in sorted(places) if n >= line), places[max(places)])
    raise UserError(f"{at}: {said[where.end():] if where else said}")
