"""An invented result with pictures of invented launches (schema lab32-pictures/1)."""

LANES = 32


def request(shared, first, stride, size=4, mask=0xFFFFFFFF, **more):
    on = [mask >> lane & 1 for lane in range(LANES)]
    address = [first + lane * stride if on[lane] else None for lane in range(LANES)]
    name = "tile" if shared else "in"
    words = [set() for _ in range(LANES)]
    for a in address:
        for byte in range(a or 0, (a or 0) + size) if a is not None else ():
            words[byte // 4 % 32].add(byte // 4)
    sectors = {byte // 32 for a in address if a is not None for byte in range(a, a + size)}
    degree = [len(bank) for bank in words] if shared else [0] * LANES
    return {
        "warp": 0, "request": 0, "kind": "load", "bytes": size, "matrix": False,
        "cost": max(degree) if shared else len(sectors), "ideal": 1 if shared else -(-sum(on) * size // 32),
        "address": address, "name": [f"{name}[{a // 4}]" if a is not None else None for a in address],
        "degree": degree,
    } | more  # fmt: skip


def access(shared, requests, line=12):
    return {
        "line": line, "source": "sum += tile[32 * threadIdx.x + c]; // <b>&", "space": "shared" if shared else "global",
        "block": 3, "requests_in_block": 40, "ptx_level": shared, "waste": 100, "worst": 0, "requests": requests,
    }  # fmt: skip


def party(thread, warp, use):
    return {"thread": thread, "warp": warp, "use": use, "line": 9, "source": "s[t] += s[t + 32];"}


def launch(**more):
    full = 0xFFFFFFFF
    return {
        "kernel": "scale<float>", "setting": "n = 64", "shape": "1 block of 64 threads", "bound": "L2", "seconds": 5e-6,
        "accesses": [
            access(False, [request(False, 256, 32, mask=0x00FFFFFF), request(False, 0, 4, warp=1), request(False, 0, 16, 16)]),
            access(True, [request(True, 0, 128), request(True, 0, 8), request(True, 0, 4)], 13),
        ],
        "steps": {"block": 0, "threads": 64, "more": True, "steps": [
            {"line": 7, "source": "s[t] = in[i];", "warp_barrier": False, "working": [full, full]},
            {"line": 9, "source": "s[t] += s[t + 1];", "warp_barrier": True, "working": [0x55555555, 0x55555555]},
            {"line": 11, "source": "out[0] = s[0];", "warp_barrier": False, "working": [1, 0]}]},
        "shuffles": {"block": 0, "warp": 0, "more": False, "shuffles": [
            {"line": 20, "source": "v += __shfl_down_sync(~0u, v, 16);", "mask": 0x7FFFFFFF, "in_range": 0xFFFF,
             "absent": 1 << 31, "from": [lane + 16 if lane < 16 else lane for lane in range(LANES)]}]},
        "traffic": {"requests": 2, "sectors": 64, "ideal_sectors": 8, "asked_bytes": 256, "shared_requests": 2,
                    "wavefronts": 32, "ideal_wavefronts": 2, "caches": {
                        "l1_percent": 12.5, "l2_percent": 50, "l2_read_sectors": 56, "l2_write_sectors": 8,
                        "dram_read": 2048, "dram_written": 0}, "other": None},
        "reference": {"requests": 2, "sectors": 8, "ideal_sectors": 8, "asked_bytes": 256, "shared_requests": 2,
                      "wavefronts": 2, "ideal_wavefronts": 2, "caches": None, "other": None},
        "race": {"place": "s[32]", "missing": "__syncthreads()", "first": party("thread 0 of block 0", 0, "reads"),
                 "second": party("thread 32 of block 0", 1, "writes")},
        "fault": {"kind": "out of bounds", "words": "thread (32,0,0) reads past `in`", "line": 12, "source": "in[i]",
                  "thread": "thread (32,0,0)", "object": "in", "offset": 128, "size": 128, "bytes": 4},
        "mappings": [{"name": "Swizzle<3, 0, 3>", "rows": 8, "columns": 8, "all_rows": 8, "all_columns": 8, "unit": 1, "turned": False,
                      "to": [8 * (n // 8) + (n % 8 ^ n // 8) for n in range(64)]}],
        "lines": [{"line": 2, "instructions": 2, "lanes": 64, "sectors": 64, "ideal_sectors": 8, "wavefronts": 0,
                   "ideal_wavefronts": 0, "other": None, "share": 0.75}],
    } | more  # fmt: skip


def test(name, status="failed", **more):
    return {
        "name": name, "status": status, "bonus": False, "score": 1, "max_score": 8, "measured": "", "expected": "",
        "message": "", "file": "", "line": 0, "seconds": 0, "failure": None, "not_run": None, "figures": {},
        "pictures": None,
    } | more  # fmt: skip


def result(source):
    modelled = {"n": 8, "seconds": 1e-5, "error": 0.1, "bottleneck": "", "seconds_before": None}
    not_run = {"kind": "no_gpu", "device": "sim:h200", "file": "", "gain": 0, "least_gain": 0, "modelled": modelled}
    tests = [
        test("A1 asks", pictures={"withheld_until": "A1 asks"}, message="Not <answered> yet."),
        test("B1 scale: result", "passed", measured="right", expected="right"),
        test("B1 scale: sectors", measured="64 sectors", expected="8 sectors", file=str(source), line=2,
             message="labs/x.cu:2\n    x = in[8 * i];\nWarp 0", figures={"sectors": 64, "ideal_sectors": 8}, pictures=launch()),
        test("B1 scale: time", "not run", bonus=True, not_run=not_run),
    ]  # fmt: skip
    lab = {"lab": "coalescing", "status": "failed", "message": "", "score": 4, "max_score": 24, "tests": tests}
    broken = {"lab": "reduction", "status": "error", "message": "x.cu(3): error: <what>", "score": 0, "max_score": 8, "tests": [test("v1", "error")]}  # fmt: skip
    return {
        "schema": "lab32-result/2", "device": "sim:h200", "timer": "", "seed": 7, "complete": True, "score": 4,
        "max_score": 32, "labs": [lab, broken],
    }  # fmt: skip


def attempt(time, points, measured):
    check = {"status": "failed", "score": points, "measured": measured, "figures": {}}
    return {"time": time, "lab": "coalescing", "device": "sim:h200", "score": points, "max_score": 24, "checks": {"B1 scale: sectors": check}}  # fmt: skip
