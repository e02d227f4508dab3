"""Compiles submissions with `lab32 ptx`, in the grader's sandbox and with its cache."""

import contextlib
import subprocess
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from lab32.classroom.problem import UserError, printable_line
from lab32.similarity.ptx import kernel_fingerprints, merged_kernel_fingerprints

PTX_BYTES = 32 << 20
GRACE = 10  # seconds that a terminated process has to clean up


@dataclass
class SubmissionFingerprints:
    prints: dict | None = None
    why: str = ""  # the reason why there are no fingerprints, in one line
    ours: bool = False  # the failure is the machine's, not the submission's


class SubmissionCompiler:
    def __init__(self, binary, seconds=300):
        self.binary, self.seconds = str(binary), seconds
        # The lock makes starting a process and stop() exclusive, so that no process starts after stop() or escapes it.
        self.running, self.stopped, self.lock = set(), False, threading.Lock()

    def compile_to_ptx_or_reason(self, lab, data, headers=None):
        """Compiles a submission: (PTX, the reason if there is none, whether the machine is at fault)."""
        with tempfile.TemporaryDirectory(prefix="lab32-similarity-") as scratch:
            source, output = Path(scratch, f"{lab}.cu"), Path(scratch, f"{lab}.ptx")
            for name, text in (headers or {}).items():
                Path(scratch, name).parent.mkdir(parents=True, exist_ok=True)
                Path(scratch, name).write_bytes(text)
            source.write_bytes(data)
            with self.lock:
                if self.stopped:
                    return "", "interrupted", True
                process = subprocess.Popen(
                    [self.binary, "ptx", lab, source, "-o", output],
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                )  # fmt: skip
                self.running.add(process)
            try:
                said = process.communicate(timeout=self.seconds)[1].decode("utf-8", "replace")
            except subprocess.TimeoutExpired:
                return "", f"not compiled after {self.seconds:g} s", True
            finally:
                terminate(process)
                with self.lock:
                    self.running.discard(process)
            if process.returncode == 0:
                if output.stat().st_size > PTX_BYTES:
                    return "", f"its PTX is larger than {PTX_BYTES >> 20} MiB", False
                return output.read_text("utf-8", "replace"), "", False
        lines = [line for line in said.removeprefix("lab32: ").splitlines() if line.strip()]
        first = [line for line in lines[1:] if " error" in line][:1] or lines[1:2]
        why = " ".join(lines[:1] + first) or "lab32 ptx failed"
        return "", printable_line(why), process.returncode != 1

    def compile_to_fingerprints(self, lab, data, given, headers=None):
        try:
            text, why, ours = self.compile_to_ptx_or_reason(lab, data, headers)
            return (
                SubmissionFingerprints(None, why, ours) if why else SubmissionFingerprints(kernel_fingerprints(text, f"{lab}.cu", given))
            )
        except OSError as error:
            return SubmissionFingerprints(None, printable_line(error), True)
        except (ValueError, ArithmeticError, LookupError, RecursionError, MemoryError) as error:
            # Inline assembly may contain anything; PTX that it breaks affects this submission only.
            return SubmissionFingerprints(None, f"its PTX cannot be read: {printable_line(error)}")

    def fingerprints_of_skeleton(self, lab, skeleton):
        """The fingerprints of the skeleton, which all students started from."""
        text, why, _ = self.compile_to_ptx_or_reason(lab, Path(skeleton).read_bytes())
        if why:
            raise UserError(f"{printable_line(skeleton)}: {why}")
        return merged_kernel_fingerprints(text, f"{lab}.cu")

    def compile_all(self, lab, sources, given, jobs, each=lambda: None):
        """{name: SubmissionFingerprints} for {name: collect.SubmittedFile}."""
        pool = ThreadPoolExecutor(jobs)

        def compile_one(source):
            try:
                return self.compile_to_fingerprints(lab, source.data, given, source.headers)
            finally:
                each()

        try:
            futures = {name: pool.submit(compile_one, source) for name, source in sources.items()}
            return {name: future.result() for name, future in futures.items()}
        except BaseException:
            self.stop()
            raise
        finally:
            pool.shutdown(cancel_futures=True)

    def stop(self):
        with self.lock:
            self.stopped = True
            for process in self.running:
                process.terminate()


def terminate(process):
    """Sends SIGTERM first, so that lab32 removes its temporary files and ends its own processes."""
    if process.poll() is None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
        process.kill()
    process.communicate()
