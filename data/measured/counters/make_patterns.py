#!/usr/bin/env python3
"""Writes the access patterns that access_patterns.cu launches: op, mask, 32 byte offsets.

Hand-made ones first (strides, broadcasts, misalignment, permutations), then random ones of many
shapes: few or many addresses, near or far, any mask. Seeded: the same rows every time.
"""
import random
import sys

FULL = 0xFFFFFFFF
rng = random.Random(32)
rows = []


def add(op, addresses, mask=FULL):
    rows.append((op, mask, [int(a) for a in addresses]))


def masks():
    kind = rng.randrange(5)
    if kind <= 1:
        return FULL
    if kind == 2:
        return (1 << rng.randint(1, 32)) - 1
    if kind == 3:
        return rng.getrandbits(32) | 1 << rng.randrange(32)
    return rng.getrandbits(32) & rng.getrandbits(32) | 1 << rng.randrange(32)


def shape(size, top):
    """32 multiples of `size` below `top`, in one of the shapes that kernels make."""
    n = top // size
    kind = rng.randrange(7)
    if kind == 0:  # anywhere within a window
        span = min(n, 1 << rng.randint(0, 14))
        first = rng.randrange(n - span + 1)
        return [(first + rng.randrange(span)) * size for _ in range(32)]
    if kind == 1:  # a permutation of neighbours
        first = rng.randrange(n - 32)
        lanes = list(range(32))
        rng.shuffle(lanes)
        return [(first + l) * size for l in lanes]
    if kind == 2:  # xor
        x, first = rng.randrange(32), rng.randrange(n // 32 - 1) * 32
        return [(first + (l ^ x)) * size for l in range(32)]
    if kind == 3:  # a stride, any start
        stride = rng.choice([0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 32, 33])
        first = rng.randrange(n - stride * 31)
        return [(first + l * stride) * size for l in range(32)]
    if kind == 4:  # few addresses, many lanes
        some = [rng.randrange(min(n, 4096)) * size for _ in range(rng.randint(1, 8))]
        return [rng.choice(some) for _ in range(32)]
    if kind == 5:  # rows of a tile: lanes in groups
        group = rng.choice([2, 4, 8, 16])
        pitch = rng.randint(1, 64)
        top_row = rng.randrange(max(1, n - 32 * pitch - 32))
        return [(top_row + l // group * pitch + l % group) * size for l in range(32)]
    pairs = [rng.randrange(min(n, 2048)) * size for _ in range(16)]  # neighbours or halves agree
    how = rng.choice([1, 2, 16])
    if how == 16:
        return [pairs[l % 16] for l in range(32)]
    return [pairs[l // 2 if how == 1 else l // 4 * 2 + l % 2] for l in range(32)]


def with_random(op, size, top, count):
    for _ in range(count):
        add(op, shape(size, top), masks())


def global_patterns(repeats):
    sizes = {1: 1, 2: 2, 4: 4, 8: 8, 16: 16}
    for kind in ("ld", "st"):
        for size in sizes:
            op = f"g_{kind}{size}"
            for stride in (0, 1, 2, 4, 8, 32):
                add(op, [l * stride * size for l in range(32)])
            add(op, [(l + 1) * size for l in range(32)])
            add(op, [l * size for l in range(32)], 1)
            with_random(op, size, 1 << 20, 6)
    atomics = {
        "g_red_add_u32": (4, 60), "g_red_add_f32": (4, 25), "g_red_add_u64": (8, 20),
        "g_red_add_f64": (8, 8), "g_red_max_s32": (4, 8), "g_atom_add_u32": (4, 60),
        "g_atom_add_f32": (4, 12), "g_atom_add_u64": (8, 20), "g_atom_exch_b32": (4, 8),
        "g_atom_cas_b32": (4, 12), "g_atom_cas_b64": (8, 10),
    }
    for op, (size, count) in atomics.items():
        for stride in (0, 1, 8, 32):
            add(op, [l * stride * size for l in range(32)])
        with_random(op, size, 1 << 20, count)
    # Scattered far and wide, with few collisions: where the simple rule was seen to be short by one
    # or two. Each twice: is it the pattern, or chance?
    for op in ("g_red_add_u32", "g_atom_add_u32"):
        for span in (64, 256, 512, 1024, 4096, 1 << 14, 1 << 18, 1 << 22):
            for _ in range(repeats):
                a = [rng.randrange(span) * 4 for _ in range(32)]
                add(op, a)
                add(op, a)


def shared_patterns():
    top = 32768
    for kind in ("ld", "st"):
        for size, count in ((1, 8), (2, 8), (4, 20), (8, 40), (16, 60)):
            op = f"s_{kind}{size}"
            for stride in (0, 1, 2, 3, 16, 32, 33):
                if stride * 31 * size + size <= top:
                    add(op, [l * stride * size for l in range(32)])
            with_random(op, size, top, count if kind == "ld" else count * 2 // 3)
    atomics = {
        "s_atom_add_u32": (4, 30), "s_red_add_u32": (4, 8), "s_atom_inc_u32": (4, 15),
        "s_atom_max_s32": (4, 8), "s_atom_exch_b32": (4, 10), "s_atom_cas_b32": (4, 20),
        "s_atom_cas_b64": (8, 25),
    }
    for op, (size, count) in atomics.items():
        for stride in (0, 1, 2, 32):
            add(op, [l * stride * size for l in range(32)])
        with_random(op, size, top, count)
    for kind, count in (("ld", 14), ("st", 10)):
        for x in (1, 2, 4):
            op = f"s_{kind}matrix_x{x}"
            mask = (1 << 8 * x) - 1
            for pitch in (16, 32, 64, 128, 144):
                add(op, [l * pitch for l in range(32)], mask)
            for _ in range(count):
                add(op, shape(16, top), mask)
    for _ in range(8):
        add("s_ldmatrix_x4t", shape(16, top))


global_patterns(repeats=int(sys.argv[1]) if len(sys.argv) > 1 else 3)
rows.sort(key=lambda r: r[0][0])  # global first; stable
print("op,mask,offsets")
for op, mask, offsets in rows:
    print(f"{op},{mask:08x},{' '.join(map(str, offsets))}")
rows.clear()
shared_patterns()
for op, mask, offsets in rows:
    print(f"{op},{mask:08x},{' '.join(map(str, offsets))}")
