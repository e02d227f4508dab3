"""--executor slurm with replaced Slurm commands that start local processes (fake_slurm.py)."""

import os
import re
import signal
import sys
import time

import pytest
from class_tools import HERE, Classroom, class_of
from submitit.core.core import InfoWatcher

from lab32.classroom import slurm
from lab32.classroom.problem import UserError


@pytest.fixture
def classroom(tmp_path):
    made = Classroom(tmp_path)
    for name in ("sbatch", "srun", "squeue", "scancel"):
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!{sys.executable} -IS\n{(HERE / 'fake_slurm.py').read_text()}")
        path.chmod(0o755)
    (tmp_path / "slurm").mkdir()
    made.environment |= {
        "PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "FAKE_SLURM": str(tmp_path / "slurm"),
    }  # fmt: skip
    return made


def ask_at_once():
    """Asks squeue at once, rather than after two seconds."""
    InfoWatcher.update_if_long_enough = lambda self, mode: mode == "cache" or self.update()


def scripts(classroom):
    """The options of each call of sbatch."""
    texts = [path.read_text() for path in sorted((classroom.folder / "slurm").glob("*.sh"))]
    return [dict(re.findall(r"^#SBATCH --([\w-]+)=(.*)$", text, re.M)) for text in texts]


def test_an_array_with_a_lost_node_is_completed(classroom):
    texts = {f"s{i}": f"// score {i}\n// sleep 0.1" for i in range(5)}
    texts["s2"] += f"\n// node fails {classroom.folder}/node"
    class_of(classroom.submissions, texts)
    options = [
        "--executor",
        "slurm",
        "--partition",
        "gpu",
        "--time",
        "1:30:00",
        "--gres",
        "gpu:h200:1",
    ]
    assert classroom.run(*options, jobs=3, executor=None, before=ask_at_once) == 0
    assert classroom.scores() == {f"s{i}": str(i) for i in range(5)}
    assert all(classroom.graded().count(name) == 1 for name in texts)
    first, *again = scripts(classroom)
    assert re.fullmatch("lab32-class-[0-9a-f]{8}", first["job-name"])
    assert {key: first[key] for key in ("partition", "time", "gres", "cpus-per-task")} == {
        "partition": "gpu", "time": "90", "gres": "gpu:h200:1", "cpus-per-task": "1",
    }  # fmt: skip
    assert first["array"].startswith("0-2")
    assert len(again) <= 1, "the others of the array may have taken the lost one's place"


@pytest.mark.slow
def test_an_interrupted_class_cancels_its_jobs(classroom):
    class_of(classroom.submissions, {"s0": "// sleep 30"})
    process = classroom.start("--executor", "slurm")
    until = time.monotonic() + 20
    while not (classroom.out / ".class/tries/s0").exists() and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 130
    name = scripts(classroom)[0]["job-name"]
    before, after = (classroom.folder / "slurm/cancelled").read_text().splitlines()
    assert before == after == f"--name={name}", "what an earlier run has left, and its own"


def test_a_failing_sbatch_is_reported(classroom):
    class_of(classroom.submissions, {"s0": ""})
    (classroom.folder / "bin/sbatch").write_text(
        "#!/bin/sh\necho 'invalid partition' >&2; exit 1\n"
    )
    assert classroom.run("--executor", "slurm", executor=None) == 2
    assert "no job can be started" in classroom.err_text
    assert "invalid partition" in classroom.err_text


def listing(*jobs):
    return "".join(f"{'|'.join(job)}|\n" for job in jobs)


def test_states_of_squeue_are_understood(monkeypatch):
    seconds = iter(range(0, 1000, 50))
    monkeypatch.setattr(time, "monotonic", lambda: next(seconds))
    queue, names = slurm.SlurmJobWatcher("lab32-class-1"), ["7_0", "7_1", "7_2"]
    for name in names:
        queue.register_job(name)

    def answers(text, *done):
        command = ["cat", "/nowhere"] if text is None else ["printf", "%s", text]
        monkeypatch.setattr(queue, "_make_command", lambda: command)
        queue.update()
        assert [name for name in names if queue.is_done(name, mode="cache")] == list(done)
        told, queue.news = queue.news, []
        return told

    waits = listing(*((name, "PENDING", "", "0", "Resources") for name in names))
    assert answers(None) == [], "squeue has failed: nothing is known"
    assert answers(waits) == []
    assert answers(waits) == ["no job runs yet; Slurm's reason: Resources"]
    assert answers(waits) == [], "told once"
    for state in ("CONFIGURING", "SUSPENDED", "COMPLETING", "STOPPED", "REQUEUE_HOLD"):
        assert answers(listing(*((name, state, "n1", "0", "None") for name in names))) == []
    assert answers(listing(
        ("7_0", "RUNNING", "n1", "0", "None"), ("7_1", "PENDING", "", "1", "BeginTime"),
        ("7_2", "OUT_OF_MEMORY", "n2", "0", "OutOfMemory"),
    ), "7_2") == ["job 7_1 on n1: Slurm starts it again", "job 7_2 on n2: OUT_OF_MEMORY"]  # fmt: skip
    assert answers(None, "7_2") == []
    assert answers(listing(("7_1", "COMPLETED", "n1", "1", "None")), *names) == []
    assert queue.job_state_text("7_2") == "7_2 on n2: OUT_OF_MEMORY"
    assert queue.job_state_text("7_0") == "7_0 on n1: no longer known to Slurm"


@pytest.mark.parametrize(
    "text, minutes",
    [("60", 60), ("90:00", 90), ("1:30:00", 90), ("0:00:30", 1), ("2-0", 2880), ("1-12:30", 2190)],
)
def test_slurms_time_formats_are_accepted(text, minutes):
    assert slurm.parse_minutes(text) == minutes


@pytest.mark.parametrize("text", ["", "0", "-5", "1:2:3:4", "1h", "1-"])
def test_invalid_times_are_refused(text):
    with pytest.raises(UserError, match="--time"):
        slurm.parse_minutes(text)
