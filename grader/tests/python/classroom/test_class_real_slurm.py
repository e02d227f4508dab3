"""--executor slurm on a Slurm of our own (slurm_cluster.py): an array on two nodes, and what becomes of a
class whose node dies, whose jobs are cancelled or run out of time, or which is itself interrupted."""

import getpass
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from class_tools import COMMAND, Classroom, class_of
from slurm_cluster import Cluster, installed, until

from lab32 import ROOT
from lab32.classroom import worker

pytestmark = pytest.mark.slow

NAMES = [f"s{i}" for i in range(8)]
SCORES = {name: str(10 * i) for i, name in enumerate(NAMES)}


# The real command, with shorter intervals for polling.
IMPATIENT = """\
import sys
from lab32.classroom import run, slurm
run.POLL_SHARED = slurm.ASK_EVERY = 0.3
from lab32.classroom.__main__ import main
sys.exit(main())
"""


class OnSlurm(Classroom):
    def __init__(self, folder, cluster):
        super().__init__(folder)
        self.cluster, self.gate = cluster, self.folder / "gate"
        self.environment |= cluster.environment

    def hand_in(self):
        """Hands in eight submissions. One is graded at once, the others when the gate file exists."""
        wait = f"\n// waits {self.gate}"
        class_of(self.submissions, {
            name: f"// score {10 * i}{wait if i else ''}" for i, name in enumerate(NAMES)
        })  # fmt: skip

    def command(self, *options, jobs=1):
        return [
            sys.executable,
            "-c",
            IMPATIENT,
            *super().command(*options, jobs=jobs)[len(COMMAND) :],
        ]

    def begin(self, *options, jobs=4):
        self.process = self.start("--executor", "slurm", *options, jobs=jobs)

    def end(self, seconds=45):
        """The exit status; `said` holds the output."""
        try:
            self.said = self.process.communicate(timeout=seconds)[1]
        except subprocess.TimeoutExpired:
            left = self.cluster.show_all(self.jobs())
            self.process.kill()
            pytest.fail(f"not ended after {seconds} s; {self.process.communicate()[1]}\n{left}")
        assert "Traceback" not in self.said, self.said
        return self.process.returncode

    def jobs(self):
        """{job: (state, node)} of this class's jobs."""
        return {job: (state, *rest) for job, (state, *rest) in self.cluster.jobs(self.out).items()}

    def running(self, count):
        """{job: node} once `count` jobs run and each has begun a submission."""

        def found():
            nodes = {job: words[1] for job, words in self.jobs().items() if words[0] == "RUNNING"}
            return len(nodes) == count and len(self.tries()) >= count and nodes

        return until(found, f"{count} jobs run")

    def tries(self):
        """{name: (number of tries, last job)}."""
        return {path.name: path.read_text() for path in (self.out / ".class/tries").glob("*")}

    def kept(self):
        """The students with a result; a grading that ended without one is repeated."""
        records = (self.out / ".class/records").glob("*.json")
        return {path.stem for path in records if json.loads(path.read_text())["status"] == "graded"}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    assert installed(), "there is no Slurm: `grader/setup/setup slurm`"
    made = Cluster(tmp_path_factory.mktemp("slurm"))
    try:
        made.start()
        yield made
    finally:
        made.request_stop()
    assert made.left() == []


@pytest.fixture
def classroom(tmp_path, cluster):
    made = OnSlurm(tmp_path, cluster)
    yield made
    made.process.kill()
    cluster.ask("scancel", f"--user={getpass.getuser()}", f"--name={cluster.name_of(made.out)}")
    until(lambda: not made.jobs(), "no jobs are left")


@pytest.fixture(scope="module", autouse=True)
def late(tmp_path_factory, cluster):
    """Slurm checks time limits every 30 s; this class waits for that while the other tests run."""
    made = OnSlurm(tmp_path_factory.mktemp("late"), cluster)
    class_of(
        made.submissions, {"slow": f"// score 30\n// hangs once {made.folder}/flag", "quick": ""}
    )
    made.begin("--partition", "second", jobs=1)
    until((made.folder / "flag").exists, "it hangs")
    (made.job,) = made.jobs()
    assert cluster.ask("scontrol", "update", f"JobId={made.job}", "EndTime=now") == ""
    yield made
    made.process.kill()


def test_an_array_over_two_nodes_gives_the_scores_of_the_local_executor(classroom, cluster):
    classroom.hand_in()
    classroom.begin("--partition", "long", "--time", "1:30:00", "--gres", "gpu:1")
    jobs = classroom.running(4)
    shown = cluster.show(sorted(jobs)[1])
    classroom.gate.touch()
    assert classroom.end() == 0
    assert set(jobs.values()) == {"n1", "n2"}
    assert {key: shown[key] for key in ("Partition", "TimeLimit", "TresPerNode", "NumCPUs")} == {
        "Partition": "long", "TimeLimit": "01:30:00", "TresPerNode": "gres:gpu:1", "NumCPUs": "1",
    }  # fmt: skip
    assert shown["JobName"] == cluster.name_of(classroom.out)
    assert sorted(classroom.graded()) == NAMES
    assert "job" not in classroom.said

    local = Classroom(classroom.folder / "local")
    local.submissions = classroom.submissions
    assert local.run(jobs=8) == 0
    assert (local.out / "scores.csv").read_text() == (classroom.out / "scores.csv").read_text()
    for name in NAMES:
        assert local.result(name) == classroom.result(name)


@pytest.mark.parametrize("slurm_starts_it_again", [True, False])
def test_a_class_survives_the_death_of_a_node(classroom, cluster, slurm_starts_it_again):
    classroom.hand_in()
    if not slurm_starts_it_again:
        classroom.environment["SBATCH_NO_REQUEUE"] = "1"
    classroom.begin()
    jobs = classroom.running(4)
    until(classroom.kept, "one is graded")
    cluster.kill_node("n1")
    kept = classroom.kept()
    classroom.gate.touch()
    cluster.ask("scontrol", "update", "NodeName=n1", "State=DOWN", "Reason=killed")
    cluster.start_node("n1")
    cluster.ask("scontrol", "update", "NodeName=n1", "State=RESUME")
    assert classroom.end() == 0
    until(lambda: cluster.states()["n1"] == "idle", "the node is back")

    assert classroom.scores() == SCORES
    assert kept == {"s0"}
    assert all(classroom.graded().count(name) == 1 for name in kept)
    died = sorted(job for job, node in jobs.items() if node == "n1")
    if slurm_starts_it_again:
        assert re.search(
            f"lab32: job {', '.join(died)}( on n1)?: Slurm starts it again\n", classroom.said
        )
    else:
        assert f"lab32: job {', '.join(died)} on n1: NODE_FAIL\n" in classroom.said


def test_a_cancelled_job_of_an_array_is_replaced(classroom, cluster):
    classroom.hand_in()
    classroom.begin()
    jobs = classroom.running(4)
    job = sorted(jobs)[2]
    cluster.ask("scancel", job)
    until(lambda: job not in classroom.jobs(), "it is cancelled")
    classroom.gate.touch()
    assert classroom.end() == 0
    assert classroom.scores() == SCORES
    assert sorted(classroom.graded()) == NAMES
    assert f"lab32: job {job} on {jobs[job]}: CANCELLED\n" in classroom.said


def test_a_submission_whose_jobs_die_twice_is_reported_as_ungraded(classroom, cluster):
    class_of(classroom.submissions, {
        "cancelled": f"// hangs once {classroom.folder}/1\n// hangs once {classroom.folder}/2",
        "killed": f"// hangs once {classroom.folder}/3\n// hangs once {classroom.folder}/4",
    })  # fmt: skip
    classroom.begin(jobs=2)
    for flags in "13", "24":
        until(lambda: all((classroom.folder / flag).exists() for flag in flags), "both hang")  # noqa: B023
        first, second = (classroom.tries()[name].split()[1] for name in ("cancelled", "killed"))
        cluster.ask("scancel", first)
        cluster.kill_job(second)
    assert classroom.end() == 2
    rows = classroom.rows()
    assert {row["status"] for row in rows.values()} == {"not graded"}
    assert rows["cancelled"]["notes"] == worker.ENDED
    assert rows["killed"]["notes"].startswith(f"the job that graded it has died ({second} on n")
    assert rows["killed"]["notes"].endswith(": FAILED)")
    for name in rows:
        assert f"  {name}: {rows[name]['notes']}\n" in classroom.said
    assert f"lab32: job {first} on n" in classroom.said

    classroom.begin(jobs=2)
    assert classroom.end() == 0
    assert set(classroom.scores().values()) == {"10"}


def test_a_job_near_its_time_limit_finishes_its_submission(classroom, cluster):
    classroom.hand_in()
    classroom.begin(jobs=1)
    (job,) = classroom.running(1)
    cluster.ask("scancel", "--signal=USR2", job)  # like Slurm, because of the job's --signal=USR2@90
    time.sleep(1)  # until the signal arrives
    classroom.gate.touch()
    assert classroom.end() == 0
    assert classroom.graded() == NAMES
    assert set(classroom.tries().values()) != {f"1 {job}"}, "another job has graded the others"
    assert all(text.startswith("1 ") for text in classroom.tries().values())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_class_cancels_its_array_and_resumes_later(classroom, number):
    classroom.hand_in()
    classroom.begin(jobs=6)
    classroom.running(6)
    classroom.process.send_signal(number)
    assert classroom.end(15) == 130
    assert classroom.said.endswith("lab32: interrupted; run the same command again to continue\n")
    assert "CANCELLED" not in classroom.said
    until(lambda: not classroom.jobs(), "no job is left", 5)
    classroom.gate.touch()
    kept = classroom.kept()
    classroom.begin(jobs=8)
    assert classroom.end() == 0
    assert classroom.scores() == SCORES
    assert all(classroom.graded().count(name) == 1 for name in kept)


def test_a_class_survives_an_outage_of_slurm(classroom, cluster):
    classroom.hand_in()
    classroom.begin()
    jobs = classroom.running(4)
    cluster.stop_controller()
    classroom.gate.touch()
    until(lambda: len(classroom.kept()) > 2, "the jobs go on")
    cluster.start_controller()
    assert classroom.end() == 0
    assert sorted(classroom.graded()) == NAMES
    assert set(classroom.tries().values()) == {f"1 {job}" for job in jobs}


def test_a_killed_class_resumes_and_cancels_its_old_jobs(classroom):
    classroom.hand_in()
    class_of(classroom.submissions, {"s8": f"// score 80\n// waits {classroom.gate}"})
    classroom.begin("--partition", "first", "--seed", "8", jobs=8)
    classroom.running(4)  # the node has four cores, so that other jobs wait
    classroom.process.kill()
    classroom.process.communicate()
    left = set(classroom.jobs())
    assert len(left) > 4
    classroom.begin(jobs=3)
    new = until(lambda: set(classroom.jobs()) - left, "new jobs")
    until(lambda: not set(classroom.jobs()) & left, "the old ones are gone", 8)
    classroom.gate.touch()
    assert classroom.end() == 0
    assert new
    assert classroom.scores() == SCORES | {"s8": "80"}
    for name in NAMES:
        assert classroom.result(name)["seed"] == 7, "of the second run"


def test_slurms_error_message_is_shown_when_it_refuses_jobs(classroom):
    class_of(classroom.submissions, {f"s{i:03}": "" for i in range(101)})
    for options, jobs, words in [
        (["--partition", "nowhere"], 2, "invalid partition specified: nowhere"),
        (["--gres", "card:1"], 2, "Invalid generic resource (gres) specification"),
        ([], 101, "Invalid job array specification"),
    ]:
        classroom.begin(*options, jobs=jobs)
        assert classroom.end() == 2
        assert "lab32: no job can be started: " in classroom.said
        assert words in classroom.said


def test_a_job_over_its_time_limit_is_reported_and_its_submission_graded_again(late):
    assert late.end(120) == 0
    assert late.scores() == {"quick": "10", "slow": "30"}
    assert sorted(late.graded()) == ["quick", "slow"]
    assert f"lab32: job {late.job} on n2: TIMEOUT\n" in late.said


def test_the_real_grader_runs_on_slurm(classroom):
    classroom.binary = ROOT / "build/lab32"
    labs = {"as given": "labs", "solved": "solutions"}
    texts = {
        name: Path(ROOT, where, "shuffle/shuffle.cu").read_text() for name, where in labs.items()
    }
    class_of(classroom.submissions, texts | {"broken": "__global__ void f() {"})
    classroom.begin(jobs=3)
    assert classroom.end(80) == 0
    scores = classroom.scores()
    assert scores["solved"] == "100"
    assert scores["broken"] == "0"
    assert 0 <= float(scores["as given"]) < 100
