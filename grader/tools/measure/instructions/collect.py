#!/usr/bin/env python3
"""Records the results of single PTX instructions on this machine's GPU.

    collect.py OLD.csv > NEW.csv

Reads the columns `instruction, operands` of OLD.csv, runs every instruction on its operands with one thread per
row, and writes the same rows with the computed `results`. Operands and results are hexadecimal bit patterns in
the order of the registers in the text; a predicate is 0 or 1. It needs only ptxas (PATH or
/usr/local/cuda/bin) and the CUDA driver.
"""

import csv
import ctypes
import datetime
import re
import shutil
import subprocess
import sys
import tempfile

LOADS = {"%p": "u32", "%rs": "u16", "%r": "u32", "%f": "f32", "%rd": "u64", "%fd": "f64"}
BYTES = {"%p": 4, "%rs": 2, "%r": 4, "%f": 4, "%rd": 8, "%fd": 8}
REGISTERS = (
    ".reg .pred %p<10>; .reg .b16 %rs<10>; .reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .f32 %f<10>; "
    ".reg .f64 %fd<10>; .reg .b64 %at<3>; .reg .b32 %tmp;"
)


def destination_and_source_registers(instruction):
    """Destinations and sources, in order."""
    operands = instruction.rstrip(";").split(" ", 1)[1]
    first, rest = re.match(r"(\{[^}]*\}|[^,]*),(.*)", operands).groups()
    name = r"%[a-z]+\d+"
    return re.findall(name, first), re.findall(name, rest)


def register_name_prefix(register):
    return register.rstrip("0123456789")


def kernel_ptx(index, instruction):
    """Thread t reads 8-byte cells in[source][t] and writes out[destination][t], 1024 threads."""
    destinations, sources = destination_and_source_registers(instruction)
    lines = [
        f".visible .entry k{index}(.param .u64 in, .param .u64 out) {{ {REGISTERS}",
        "mov.u32 %tmp, %tid.x; mul.wide.u32 %at0, %tmp, 8;",
        "ld.param.u64 %at1, [in]; add.s64 %at1, %at1, %at0;",
        "ld.param.u64 %at2, [out]; add.s64 %at2, %at2, %at0;",
    ]
    for i, source in enumerate(sources):
        cell = f"[%at1 + {8192 * i}]"
        if register_name_prefix(source) == "%p":
            lines.append(f"ld.global.u32 %tmp, {cell}; setp.ne.u32 {source}, %tmp, 0;")
        else:
            lines.append(f"ld.global.{LOADS[register_name_prefix(source)]} {source}, {cell};")
    lines.append(instruction)
    for i, destination in enumerate(destinations):
        cell = f"[%at2 + {8192 * i}]"
        if register_name_prefix(destination) == "%p":
            lines.append(f"selp.u32 %tmp, 1, 0, {destination}; st.global.u32 {cell}, %tmp;")
        else:
            lines.append(f"st.global.{LOADS[register_name_prefix(destination)]} {cell}, {destination};")
    return "\n".join(lines + ["ret; }"])


class CudaDriverSession:
    """The few functions of the CUDA driver that this program needs; a failure ends the program."""

    def __init__(self, image):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        device, context, self.module = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
        self.call_driver("cuInit", 0)
        self.call_driver("cuDeviceGet", ctypes.byref(device), 0)
        self.call_driver("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call_driver("cuCtxSetCurrent", context)
        self.call_driver("cuModuleLoadData", ctypes.byref(self.module), image)
        name = ctypes.create_string_buffer(100)
        self.call_driver("cuDeviceGetName", name, 100, device)
        self.name = name.value.decode()
        self.cells = [ctypes.c_uint64(), ctypes.c_uint64()]
        for cell in self.cells:
            self.call_driver("cuMemAlloc_v2", ctypes.byref(cell), ctypes.c_size_t(8192 * 8))

    def call_driver(self, function, *arguments):
        status = getattr(self.cuda, function)(*arguments)
        if status != 0:
            sys.exit(f"collect.py: {function} failed with CUDA error {status}")

    def run_kernel(self, name, columns, results):
        source, target = self.cells
        for i, column in enumerate(columns):
            data = (ctypes.c_uint64 * 1024)(*column)
            self.call_driver("cuMemcpyHtoD_v2", ctypes.c_uint64(source.value + 8192 * i), data,
                      ctypes.c_size_t(8192))
        function = ctypes.c_void_p()
        self.call_driver("cuModuleGetFunction", ctypes.byref(function), self.module, name.encode())
        arguments = (ctypes.c_void_p * 2)(*(ctypes.addressof(cell) for cell in self.cells))
        self.call_driver("cuLaunchKernel", function, 1, 1, 1, 1024, 1, 1, 0, None, arguments, None)
        data = (ctypes.c_uint64 * (1024 * results))()
        self.call_driver("cuMemcpyDtoH_v2", data, target, ctypes.c_size_t(8192 * results))
        return [data[1024 * i : 1024 * (i + 1)] for i in range(results)]


def main():
    with open(sys.argv[1], newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    groups = {}
    for row in rows:
        groups.setdefault(row["instruction"], []).append(row)

    ptx = [".version 9.0", ".target sm_90", ".address_size 64"]
    ptx += [kernel_ptx(i, instruction) for i, instruction in enumerate(groups)]
    ptxas = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/k.ptx", "w") as file:
            file.write("\n".join(ptx) + "\n")
        subprocess.run([ptxas, "-arch=sm_90", f"{folder}/k.ptx", "-o", f"{folder}/k.cubin"], check=True)
        with open(f"{folder}/k.cubin", "rb") as file:
            gpu = CudaDriverSession(file.read())

    for i, (instruction, group) in enumerate(groups.items()):
        destinations, sources = destination_and_source_registers(instruction)
        values = [[int(v, 16) for v in row["operands"].split()] for row in group]
        columns = [[v[s] for v in values] + [0] * (1024 - len(group)) for s in range(len(sources))]
        results = gpu.run_kernel(f"k{i}", columns, len(destinations))
        for t, row in enumerate(group):
            cells = (
                result[t] & ((1 << (8 * BYTES[register_name_prefix(d)])) - 1)
                for d, result in zip(destinations, results)
            )
            row["results"] = " ".join(f"{cell:x}" for cell in cells)

    driver = subprocess.run(
        ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
        capture_output=True, text=True, check=True).stdout.split()[0]
    version = subprocess.run([ptxas, "--version"], capture_output=True, text=True, check=True).stdout
    print(f"# device: {gpu.name}")
    print(f"# driver: {driver}")
    print(f"# ptxas: {re.search('V([0-9.]+)', version).group(1)}, sm_90")
    print("# clocks: they do not matter here")
    print(f"# date: {datetime.date.today()}")
    print("# command: grader/tools/measure/instructions/collect.py")
    out = csv.DictWriter(sys.stdout, ["instruction", "operands", "results"], lineterminator="\n",
                         quoting=csv.QUOTE_MINIMAL)
    out.writeheader()
    out.writerows(rows)


if __name__ == "__main__":
    main()
