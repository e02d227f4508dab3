"""kill -9 of the class's process and of its workers, at random moments: nothing is lost, nothing is
counted twice, and what was graded is not graded again."""

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
    """Of this run: the class, its jobs, their graders; all were started by this test."""
    try:
        parent = psutil.Process(process.pid)
        return [parent], parent.children(recursive=True)
    except psutil.NoSuchProcess:
        return [], []


def finished(classroom):
    """{student: what its record says} of those whose record has been written."""
    records = {}
    for path in (classroom.out / ".class/records").glob("*.json"):
        with contextlib.suppress(FileNotFoundError):  # forgotten meanwhile
            records[path.stem] = json.loads(path.read_text())  # whole, whenever it is read
    return {name: record for name, record in records.items() if record["status"] == "graded"}


@pytest.mark.slow
def test_a_run_killed_at_ten_random_moments_ends_with_the_same_scores(tmp_path):
    draw, classroom = random.Random(SEED), Classroom(tmp_path)
    class_of(classroom.submissions, STUDENTS)
    kills, process = 0, classroom.start(jobs=2)
    until = time.monotonic() + 60
    gradings = {}  # of each student, when he was seen to be finished
    while kills < 10 and time.monotonic() < until:
        if process.poll() is not None:  # it was ended by the last kill, or has come to its end
            process.communicate()
            process = classroom.start(jobs=2)
        time.sleep(draw.uniform(0.05, 0.7))
        for name in finished(classroom):
            gradings.setdefault(name, classroom.graded().count(name))
        own, others = processes_of(classroom, process)
        which = own if draw.random() < 0.4 else others
        if which and (kills < 9 or gradings):  # a slow machine finishes nobody between early kills
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
