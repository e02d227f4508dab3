"""A private Slurm for tests: munged, slurmctld and two slurmd on this machine, in one folder. It uses no service of
the machine; stop() ends all processes."""

import contextlib
import hashlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import psutil

# Debian installs daemons in folders that are not on a user's PATH.
PATH = f"{os.environ['PATH']}:/usr/sbin:/sbin"
NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "scontrol")
NODES = ("n1", "n2")
PATIENCE = 20  # seconds to wait for events that take less than one

CONFIG = """\
ClusterName=lab32-tests
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
# A job that is requeued waits until its credential has expired: two minutes, by default.
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
# Starts jobs on the emptier node, and at once.
SelectTypeParameters=CR_Core,CR_LLN
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
GresTypes=gpu
KillWait=2
SlurmdTimeout=5
SlurmctldTimeout=5
OverTimeLimit=0
MaxArraySize=100
ReturnToService=0
# Each of the two nodes has four cores, whatever this machine has.
SlurmdParameters=config_overrides
{nodes}
PartitionName=short Nodes=ALL Default=YES MaxTime=60 State=UP
PartitionName=long Nodes=ALL MaxTime=INFINITE State=UP
PartitionName=first Nodes=n1 MaxTime=INFINITE State=UP
PartitionName=second Nodes=n2 MaxTime=INFINITE State=UP
"""


def installed():
    return all(shutil.which(name, path=PATH) for name in NEEDED)


def until(condition, what, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.05)
    return found


def free_ports(count):
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


class Cluster:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.daemons = {}
        self.environment = {"PATH": PATH, "SLURM_CONF": str(self.folder / "slurm.conf")}

    def start(self):
        ports, host = free_ports(1 + len(NODES)), socket.gethostname()
        nodes = [
            f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=4 RealMemory=1000 Gres=gpu:2"
            for name, port in zip(NODES, ports[1:])
        ]
        user = psutil.Process().username()
        text = CONFIG.format(
            host=host, folder=self.folder, user=user, ports=ports, nodes="\n".join(nodes)
        )
        (self.folder / "slurm.conf").write_text(text)
        (self.folder / "gres.conf").write_text("Name=gpu File=/dev/null\nName=gpu File=/dev/zero\n")
        (self.folder / "cgroup.conf").write_text("CgroupAutomount=no\n")
        for name in ("state", *NODES):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.touch(0o600)
        key.write_bytes(secrets.token_bytes(128))
        self._start(
            "munged", "munged", "--foreground", "--force", f"--socket={self.folder}/munge.socket",
            f"--key-file={key}", f"--pid-file={self.folder}/munged.pid", f"--seed-file={self.folder}/munged.seed",
            f"--log-file={self.folder}/munged.log",
        )  # fmt: skip
        until((self.folder / "munge.socket").exists, "munged")
        self.start_controller()
        for name in NODES:
            self.start_node(name)
        until(lambda: set(self.states().values()) == {"idle"}, "idle nodes")

    def _start(self, name, *command):
        with open(self.folder / f"{name}.out", "ab") as out:
            self.daemons[name] = subprocess.Popen(
                [shutil.which(command[0], path=PATH), *command[1:]], env=os.environ | self.environment,
                stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
            )  # fmt: skip

    def start_controller(self):
        self._start("slurmctld", "slurmctld", "-D")

    def stop_controller(self):
        """The controller keeps the state of its jobs in a file."""
        self.daemons["slurmctld"].terminate()
        self.daemons["slurmctld"].wait(PATIENCE)

    def start_node(self, name):
        self._start(name, "slurmd", "-D", "-N", name)

    def ask(self, *command):
        return subprocess.run(
            command, env=os.environ | self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, check=False,
        ).stdout  # fmt: skip

    def states(self):
        lines = self.ask("sinfo", "-h", "-N", "-p", "short", "-o", "%N %t").splitlines()
        return dict(line.split() for line in lines if len(line.split()) == 2)

    def name_of(self, out):
        """The name of the jobs of the class that is graded into OUT."""
        return f"lab32-class-{hashlib.sha256(bytes(Path(out).resolve())).hexdigest()[:8]}"

    def jobs(self, out):
        """{id: [state, node]} of a class's running and waiting jobs; an array's job is called 12_3."""
        lines = self.ask(
            "squeue", f"--name={self.name_of(out)}", "-h", "-r", "-o", "%i %T %N"
        ).splitlines()
        return {line.split()[0]: line.split()[1:] for line in lines}

    def show(self, job):
        """The output of `scontrol show job`: {key: value}."""
        words = self.ask("scontrol", "show", "job", "-d", job).split()
        return dict(word.split("=", 1) for word in words if "=" in word)

    def show_all(self, jobs):
        """Slurm's state of these jobs and its controller's last messages, for the message of a failed test."""
        words = (self.folder / "slurmctld.out").read_text(errors="replace").splitlines()[-60:]
        return "\n".join([self.ask("scontrol", "show", "job", job) for job in jobs] + words)

    def left(self, *marks):
        """Processes that were started in this cluster and have all of `marks` in their environment."""
        found, marks = [], {f"SLURM_CONF={self.folder}/slurm.conf", *marks}
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):
                words = Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0")
                if marks <= {os.fsdecode(word) for word in words}:
                    found.append(process)
        return found

    def kill_node(self, name):
        """kill -9 of the node's slurmd, its slurmstepds, and all their children."""
        self._kill(self.daemons[name])
        started = self.left(f"SLURMD_NODENAME={name}")
        for process in started:
            with contextlib.suppress(psutil.Error):
                for above in process.parents():  # slurmstepd itself lacks that environment
                    if above.name() == "slurmstepd":
                        above.kill()
        for process in started:
            with contextlib.suppress(psutil.Error):
                process.kill()

    def kill_job(self, job):
        """kill -9 of the job's process, as if memory had run out."""
        array, _, index = job.partition("_")
        for process in self.left(f"SLURM_ARRAY_JOB_ID={array}", f"SLURM_ARRAY_TASK_ID={index}"):
            with contextlib.suppress(psutil.Error):
                process.kill()

    def _kill(self, daemon):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(daemon.pid, signal.SIGKILL)
        daemon.wait()

    def request_stop(self):
        for daemon in self.daemons.values():
            self._kill(daemon)
        for process in self.left():
            with contextlib.suppress(psutil.Error):
                process.kill()
        until(lambda: not self.left(), "no process is left")
