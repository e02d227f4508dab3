"""kill -9 of the class's process and of its workers at random moments: no result is lost or counted twice, and no
finished submission is graded again."""

import contextlib
import json
import random
import time

import psutil
import pytest
from class_tools import Classroom, class_of

STUDENTS = {f"s{i:02}": f"// score {i}\n// sleep {0.05 + i % 3 * 0.05:g}" for i in range(18)}
SEED = 32


def processes_of(classroom, process):
    """The processes of this run: the class, its jobs, their graders; this test started all of them."""
    try:
        parent = psutil.Process(process.pid)
        return [parent], parent.children(recursive=True)
    except psutil.NoSuchProcess:
        return [], []


def finished(classroom):
    """{student: contents of the record} for all written records."""
    records = {}
    for path in (classroom.out / ".class/records").glob("*.json"):
        with contextlib.suppress(FileNotFoundError):  # removed meanwhile
            records[path.stem] = json.loads(path.read_text())  # records are written atomically
    return {name: record for name, record in records.items() if record["status"] == "graded"}


@pytest.mark.slow
def test_a_run_killed_at_ten_random_moments_ends_with_the_same_scores(tmp_path):
    draw, classroom = random.Random(SEED), Classroom(tmp_path)
    class_of(classroom.submissions, STUDENTS)
    kills, process = 0, classroom.start(jobs=2)
    until = time.monotonic() + 60
    gradings = {}  # {student: time when the result was first seen}
    while kills < 10 and time.monotonic() < until:
        if process.poll() is not None:  # the last kill ended it, or it finished
            process.communicate()
            process = classroom.start(jobs=2)
        time.sleep(draw.uniform(0.05, 0.7))
        for name in finished(classroom):
            gradings.setdefault(name, classroom.graded().count(name))
        own, others = processes_of(classroom, process)
        which = own if draw.random() < 0.4 else others
        if which and (kills < 9 or gradings):  # a slow machine finishes no student between early kills
            draw.choice(which).kill()
            kills += 1
    assert kills == 10
    process.communicate(timeout=60)

    assert classroom.run(jobs=2) == 0
    assert classroom.scores() == {name: str(i) for i, name in enumerate(STUDENTS)}
    assert len(classroom.rows()) == len(STUDENTS)
    for i, name in enumerate(STUDENTS):
        assert classroom.result(name)["score"] == i
        assert (
            classroom.out / f"reports/{name}.txt"
        ).read_text() == f"shuffle {i:.1f} / 100\n" or i == 0
    for name, count in gradings.items():
        assert classroom.graded().count(name) == count, "graded, kept, and graded again"
    assert gradings
    assert list((classroom.out / ".class/parts").iterdir()) == [], "what was written half is gone"
