"""Replaces build/lab32 in tests that are about the class rather than CUDA: the lines of a submission decide its
result. `LAB32_FAKE_LOG` names a file that gets a line per finished grading.

// score 40            points out of 100; the default is 10
// sleep 0.5           seconds
// waits NAME          until NAME exists
// hangs once NAME     until it is terminated, unless NAME exists; creates NAME
// endless             does not end by itself; a child that it starts ignores SIGTERM, too
// signal SIGSEGV      the grader itself ends by this signal
// machine no nvcc     the grader's message about a fault of the machine, with status 2
// machine once NAME   like `machine`, unless NAME exists; creates NAME
// node fails NAME     kills the process that started the grader, unless NAME exists; creates NAME
// silent              status 0 and no result
// broken              a result that is not JSON
// error expected ;    the submission cannot be compiled
// fails A1: words     check A1 lost points, with this message
// says its time limit the lab's message is the value of --time-limit
"""

import json
import os
import signal
import sys
import time


def check(name, score, most, message):
    return {
        "name": name, "status": "passed" if score == most else "failed", "bonus": False, "score": score,
        "max_score": most, "measured": "", "expected": "", "message": message, "file": "", "line": 0,
        "seconds": 0.25, "failure": None, "not_run": None, "figures": {},
    }  # fmt: skip


def obey(line):
    word, _, rest = line.removeprefix("// ").partition(" ")
    if word == "sleep":
        time.sleep(float(rest))
    elif word == "waits":
        while not os.path.exists(rest):
            time.sleep(0.02)
    elif word == "hangs":
        name = rest.removeprefix("once ")
        if not os.path.exists(name):
            open(name, "w").close()
            time.sleep(1000)
    elif word == "endless":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "1000")
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        time.sleep(1000)
    elif word == "signal":
        os.kill(os.getpid(), getattr(signal, rest))
    elif word == "machine":
        once, _, name = rest.partition(" ")
        if once == "once":
            if os.path.exists(name):
                return
            open(name, "w").close()
        print(f"lab32: {rest}", file=sys.stderr)
        sys.exit(2)
    elif word == "node":
        name = rest.removeprefix("fails ")
        if not os.path.exists(name):
            open(name, "w").close()
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(1000)
    elif word == "silent":
        sys.exit(0)


def lab_of(name, lines, options):
    score, message, status, failed = 10, "", None, {}
    for line in lines:
        word, _, rest = line.removeprefix("// ").partition(" ")
        if word == "score":
            score = float(rest)
        elif word == "error":
            score, message, status = 0, rest, "error"
        elif word == "fails":
            which, _, words = rest.partition(": ")
            failed[which] = words
        elif word == "says":
            message = options.get("time-limit", "none")
    tests = [check("A1", 0 if "A1" in failed else min(score, 50), 50, failed.get("A1", ""))]
    tests.append(check("B1", 0 if "B1" in failed else max(0, score - 50), 50, failed.get("B1", "")))
    score = sum(test["score"] for test in tests)
    return {
        "lab": name, "status": status or ("passed" if score == 100 else "failed"), "message": message,
        "score": score, "max_score": 100, "tests": tests,
    }  # fmt: skip


def main():
    words = iter(sys.argv[2:])
    names, options = [], {}
    for word in words:
        if word in ("--allow-missing", "--no-modelled-times"):
            continue
        if word.startswith("-"):
            options[word.lstrip("-")] = next(words)
        else:
            names.append(word)
    labs = []
    for lab in names:
        try:
            with open(
                f"{options.get('dir', 'labs')}/{lab}/{lab}.cu", encoding="utf-8", errors="replace"
            ) as file:
                lines = file.read().splitlines()
        except FileNotFoundError:
            lines = ["// error it was not handed in"]
        for line in lines:
            obey(line)
        labs.append(lab_of(lab, lines, options))
        if "// broken" in lines:
            with open(options["json"], "w") as file:
                file.write('{"schema": "lab32-res')
            sys.exit(1)
    score = sum(lab["score"] for lab in labs)
    record = {
        "schema": "lab32-result/2", "device": "sim:fake", "timer": "", "seed": int(options.get("seed", 7)),
        "complete": True, "score": score, "max_score": 100 * len(labs), "labs": labs,
    }  # fmt: skip
    if "format" in options:  # of an autograder
        told = {"score": score, "output": "", "tests": []}
        lines = {"scores": {lab["lab"]: lab["score"] for lab in labs}}
        print(json.dumps(told if options["format"] == "gradescope" else lines))
        sys.exit(0 if score == 100 * len(labs) else 1)
    with open(options["json"], "w") as file:
        json.dump(record, file)
    with open(options["o"], "w") as file:
        file.writelines(f"{lab['lab']} {lab['score']} / 100\n" for lab in labs)
    if log := os.environ.get("LAB32_FAKE_LOG"):
        with open(log, "a") as file:
            file.write(os.path.basename(os.getcwd()) + "\n")
    sys.exit(0 if score == 100 * len(labs) else 1)


if __name__ == "__main__":
    main()
