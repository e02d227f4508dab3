"""`%load_ext lab32`: lab32's commands in a notebook.

    %lab32 grade reduction              the score report; any option of `lab32 grade` may follow
    %lab32 explain coalescing ["B1 scale: sectors"]     a picture of the worst access
    %lab32 ask coalescing [--answer N ...]     questions about your own code
    %lab32 progress coalescing          your predictions and your counts, attempt by attempt
    %lab32 runtime                      programs that this notebook builds with nvcc run on the simulator
    %%cuda [run|profile|check|explain] [OPTIONS] [-- ARGUMENTS]     the cell is a complete program
        %%lab32 run|profile|check|explain   like %%cuda, for notebooks whose %%cuda is nvcc4jupyter's
"""

import csv
import os
import shlex
import shutil
import subprocess
import sys
from io import StringIO
from pathlib import Path

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class
from IPython.display import display

from lab32 import ROOT, explained, questions, results
from lab32.cells import NotebookCellFile
from lab32.report import history, plots

CELL_COMMANDS = ["run", "profile", "check", "explain"]
# The rows in the table of a launch: words, and Nsight Compute's metric.
METRICS = {
    "load requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "load sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "store requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "store sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "sectors of all accesses": "memory_l2_theoretical_sectors_global",
    "ideal sectors": "memory_l2_theoretical_sectors_global_ideal",
    "shared wavefronts": "memory_l1_wavefronts_shared",
    "ideal wavefronts": "memory_l1_wavefronts_shared_ideal",
    "bytes read from DRAM, modelled": "dram__bytes_read.sum",
    "bytes written to DRAM, modelled": "dram__bytes_write.sum",
    "time in ns, modelled": "gpu__time_duration.sum",
}
MOST_LAUNCHES = 8


@magics_class
class Lab32Magic(Magics):
    @line_magic("lab32")
    def lab32_line(self, line):
        if not line.strip():
            print(__doc__)
            return None
        command, *rest = split_words(line)
        if command == "grade":
            return grade_magic(rest)
        if command == "explain":
            if not rest:
                raise UsageError("%lab32 explain LAB [CHECK]: name a lab")
            return explained.picture_of_worst_access(rest[0], *split_check_and_options(rest[1:]))
        if command == "ask":
            return ask_magic(rest)
        if command == "progress":
            return progress_magic(rest)
        if command == "runtime":
            return redirect_nvcc_to_lab32_runtime()
        done = subprocess.run([str(results.BINARY), command, *rest], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, check=False)  # fmt: skip
        print(done.stdout, end="")
        print(done.stderr, end="", file=sys.stderr)
        return None

    @cell_magic("lab32")
    def lab32_cell(self, line, cell):
        run_cuda_cell(line, cell)


@magics_class
class CudaMagic(Magics):
    @cell_magic
    def cuda(self, line, cell):
        run_cuda_cell(line, cell)


def register_magic_commands(shell):
    shell.register_magics(Lab32Magic)
    owner = shell.find_cell_magic("cuda")
    if owner is None or isinstance(getattr(owner, "__self__", None), CudaMagic):
        shell.register_magics(CudaMagic)
    else:
        print(f"%%cuda remains {owner.__module__.split('.')[0]}'s; use %%lab32 for lab32. "
              "After `%lab32 runtime`, both run on the simulator.")  # fmt: skip


# ---- %lab32 ---------------------------------------------------------------------------------------


def split_words(line):
    try:
        return shlex.split(line)
    except ValueError as error:
        raise UsageError(f"{line!r}: {error}") from None


def split_check_and_options(rest):
    """(the check, the options) from the words that follow a lab's name: the check's are those before the first option."""
    options = next((k for k, word in enumerate(rest) if word.startswith("-")), len(rest))
    return " ".join(rest[:options]) or None, rest[options:]


def grade_magic(rest):
    if not rest or rest[0].startswith("-"):
        raise UsageError("%lab32 grade LAB [OPTIONS]: name a lab")
    lab, *more = rest
    directory = None
    if "--dir" in more:
        k = more.index("--dir")
        directory = str(Path("".join(more[k + 1 : k + 2])).resolve())
        del more[k : k + 2]
    try:
        return results.grade(lab, directory, more=["--history", *more])
    except (RuntimeError, ValueError) as error:
        raise UsageError(str(error)) from None


def ask_magic(rest):
    if not rest or rest[0].startswith("-"):
        raise UsageError("%lab32 ask LAB [CHECK] [--answer N ...]: name a lab")
    lab, *more = rest
    if "--dir" not in more:
        more += ["--dir", str(results.student_labs_root(lab))]
    try:
        return questions.ask_questions(lab, more)
    except ValueError as error:
        raise UsageError(str(error)) from None


def progress_magic(rest):
    """The plot of predictions and counts, from the attempts in the history; None with a line that says why there is none."""
    if len(rest) != 1:
        raise UsageError("%lab32 progress LAB: name a lab")
    attempts = [each for each in history.read_graded_attempts(results.student_labs_root(rest[0])) if each["lab"] == rest[0]]
    plot = plots.plot_prediction_errors_by_attempt(attempts)
    if plot is None:
        print("no plot: the history has no prediction that was wrong at first and is right by now")
        return None
    return explained.ExplainedPicture(str(plot))


def redirect_nvcc_to_lab32_runtime():
    """Makes programs that nvcc4jupyter's %%cuda or `!nvcc` builds from now on run on lab32's CUDA runtime, without a GPU."""
    os.environ["PATH"] = os.pathsep.join([str(find_nvcc().parent), os.environ.get("PATH", "")])
    folder = str(ROOT / "build/runtime")
    os.environ["LD_LIBRARY_PATH"] = os.pathsep.join(
        filter(None, [folder, os.environ.get("LD_LIBRARY_PATH")])
    )
    flags = os.environ.get("NVCC_APPEND_FLAGS", "")
    if "-cudart" not in flags:
        os.environ["NVCC_APPEND_FLAGS"] = f"{flags} -arch=sm_90 -cudart shared".strip()
    print("programs that nvcc builds from now on run on lab32's simulator")


def find_nvcc():
    """Searches for nvcc in the order in which `lab32` itself does: LAB32_NVCC, the toolkit that set-up found, pip's,
    then PATH."""
    settings = ROOT / "build/toolchain.env"
    lines = settings.read_text().splitlines() if settings.is_file() else []
    found = dict(line.split("=", 1) for line in lines)
    pip = [Path(folder) / "nvidia/cu13/bin/nvcc" for folder in sys.path]
    for path in (os.environ.get("LAB32_NVCC"), found.get("NVCC"), *pip, shutil.which("nvcc")):
        if path and os.access(path, os.X_OK):
            return Path(path)
    raise UsageError("nvcc is not installed; `lab32 doctor` explains how to install it")


# ---- %%cuda ---------------------------------------------------------------------------------------


def parse_cuda_magic_line(line):
    """Splits the magic's line into command, lab32's options, the program's arguments and nvcc's options."""
    rest, arguments = split_words(line), []
    if "--" in rest:
        k = rest.index("--")
        rest, arguments = rest[:k], rest[k + 1 :]
    command, compiler, options = "run", "", []
    if rest and not rest[0].startswith("-"):
        command, *rest = rest
        if command not in CELL_COMMANDS:
            raise UsageError(f"%%cuda has {', '.join(CELL_COMMANDS)}; not {command}")
    rest = iter(rest)
    for word in rest:
        name, _, value = word.partition("=")
        # These are options of nvcc4jupyter.
        if name in ("-p", "--profile"):
            command = "profile"
        elif name in ("-c", "--compiler-args"):
            compiler = value or next(rest, "")
        elif name in ("-t", "--timeit", "-l", "--profiler-args"):
            raise UsageError(f"{name} needs a GPU; `%%cuda profile` counts, and models the time")
        else:
            options.append(word)
    return command, options, arguments, compiler


def run_cuda_cell(line, text):
    command, options, arguments, compiler = parse_cuda_magic_line(line)
    with NotebookCellFile(text) as cell:
        made = Path(cell.folder.name)
        if command == "explain":
            options = [*options, "--format", "svg", "-o", str(made / "picture.svg")]
        if command == "profile" and "--csv" not in options:
            options = [*options, "--csv", str(made / "launches.csv")]
        done = cell.run_lab32(command, options, arguments, compiler)
        if not done.was_compiled_and_linked:
            print(done.errors, end="", file=sys.stderr)
            raise UsageError("the cell does not compile")
        if command == "explain":
            display(explained.read_picture_or_reason(made / "picture.svg", done.output, done.errors, done.status))
            return
        if (made / "launches.csv").is_file():
            display(launch_counters_dataframe((made / "launches.csv").read_text()))
        print(done.output, end="")
        print(done.errors, end="", file=sys.stderr)
        if done.status and command != "check":
            print(f"exit status {done.status}", file=sys.stderr)


def launch_counters_dataframe(text):
    """A table with a column for each launch and a row for each counter, by Nsight Compute's names of metrics."""
    import pandas  # takes long to import, and is needed only here

    columns = {}
    for row in csv.DictReader(StringIO(text)):
        column = columns.setdefault(row["ID"], {"": row})
        column[row["Metric Name"]] = row["Metric Value"]
    shown = list(columns.items())[:MOST_LAUNCHES]
    table = {"": list(METRICS)}
    for number, column in shown:
        row = column[""]
        head = f"launch {number}: {row['Kernel Name']} {row['Grid Size']} x {row['Block Size']}"
        table[head] = [column.get(metric, "n/a") for metric in METRICS.values()]
    table["Nsight Compute's name"] = list(METRICS.values())
    if len(columns) > MOST_LAUNCHES:
        print(f"the first {MOST_LAUNCHES} of {len(columns)} launches; `--csv FILE` writes all of them")
    return pandas.DataFrame(table).set_index("")
