"""Replaces sbatch, srun, squeue and scancel, depending on the name under which it is started. Jobs of an array are
local processes; the folder FAKE_SLURM holds the state that these commands share."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

STATE = Path(os.environ["FAKE_SLURM"])


def sbatch(script):
    text = Path(script).read_text()
    number = 100 * (len(list(STATE.glob("*.sh"))) + 1)
    (STATE / f"{number}.sh").write_text(text)
    array = re.search(r"^#SBATCH --array=0-(\d+)", text, re.M)
    children = {}
    for task in range(int(array[1]) + 1) if array else [None]:
        name = str(number) if task is None else f"{number}_{task}"
        where = (
            {"SLURM_ARRAY_JOB_ID": str(number), "SLURM_ARRAY_TASK_ID": str(task)} if array else {}
        )
        environment = os.environ | where | {
            "SLURM_JOB_ID": str(number + (task or 0)), "SLURM_NTASKS": "1", "SLURM_JOB_NUM_NODES": "1",
            "SLURM_NODEID": "0", "SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_JOB_NODELIST": "node",
        }  # fmt: skip
        process = subprocess.Popen(
            ["bash", script], env=environment, start_new_session=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        children[name] = process.pid
    (STATE / f"{number}.jobs").write_text(json.dumps(children))
    print(f"Submitted batch job {number}")


def srun(*words):
    words = list(words)
    while words[0].startswith("--"):
        words = words[2:] if words[0] == "--output" else words[1:]
    os.execvp(words[0], words)


def jobs():
    return {
        name: pid
        for path in STATE.glob("*.jobs")
        for name, pid in json.loads(path.read_text()).items()
    }


def runs(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def squeue(*_):
    for name, pid in jobs().items():
        print(f"{name}|{'RUNNING' if runs(pid) else 'NODE_FAIL'}|node|0|None|")


def scancel(*words):
    with (STATE / "cancelled").open("a") as file:
        file.write(f"{' '.join(words)}\n")
    for pid in jobs().values():
        if runs(pid):
            os.killpg(pid, signal.SIGKILL)


{"sbatch": sbatch, "srun": srun, "squeue": squeue, "scancel": scancel}[Path(sys.argv[0]).name](
    *sys.argv[1:]
)
