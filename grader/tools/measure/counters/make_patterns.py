#!/usr/bin/env python3
"""Writes the access patterns that access_patterns.cu launches: op, mask, 32 byte offsets.

Hand-made patterns come first (strides, broadcasts, misalignment, permutations), then random ones of many shapes:
few or many addresses, near or far, any mask. The seed is fixed, so the rows are the same every time.

make_patterns.py [REPEATS]       these patterns
make_patterns.py systematic      every width with every stride, mask and kind of shared address;
                                 every multiplicity of an atomic; asynchronous copies
make_patterns.py copies          asynchronous copies of 16 bytes with a pattern on both sides: an
                                 offset is that in global memory, and 2^20 times the 16-byte chunk
                                 in shared memory
make_patterns.py vectors         updates of several elements a lane; asynchronous copies of 16 bytes
                                 into rows of an odd number of chunks
"""
import random
import sys

FULL = 0xFFFFFFFF
rng = random.Random(32)
rows = []


def add_pattern(op, addresses, mask=FULL):
    rows.append((op, mask, [int(a) for a in addresses]))


def random_mask():
    kind = rng.randrange(5)
    if kind <= 1:
        return FULL
    if kind == 2:
        return (1 << rng.randint(1, 32)) - 1
    if kind == 3:
        return rng.getrandbits(32) | 1 << rng.randrange(32)
    return rng.getrandbits(32) & rng.getrandbits(32) | 1 << rng.randrange(32)


def random_warp_offsets(size, top):
    """Returns 32 multiples of `size` below `top`, in a random pattern such as kernels produce."""
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


def add_random_access_patterns(op, size, top, count):
    for _ in range(count):
        add_pattern(op, random_warp_offsets(size, top), random_mask())


def add_global_patterns(patterns_per_atomic_span):
    sizes = {1: 1, 2: 2, 4: 4, 8: 8, 16: 16}
    for kind in ("ld", "st"):
        for size in sizes:
            op = f"g_{kind}{size}"
            for stride in (0, 1, 2, 4, 8, 32):
                add_pattern(op, [l * stride * size for l in range(32)])
            add_pattern(op, [(l + 1) * size for l in range(32)])
            add_pattern(op, [l * size for l in range(32)], 1)
            add_random_access_patterns(op, size, 1 << 20, 6)
    atomics = {
        "g_red_add_u32": (4, 60), "g_red_add_f32": (4, 25), "g_red_add_u64": (8, 20),
        "g_red_add_f64": (8, 8), "g_red_max_s32": (4, 8), "g_atom_add_u32": (4, 60),
        "g_atom_add_f32": (4, 12), "g_atom_add_u64": (8, 20), "g_atom_exch_b32": (4, 8),
        "g_atom_cas_b32": (4, 12), "g_atom_cas_b64": (8, 10),
    }
    for op, (size, count) in atomics.items():
        for stride in (0, 1, 8, 32):
            add_pattern(op, [l * stride * size for l in range(32)])
        add_random_access_patterns(op, size, 1 << 20, count)
    # Widely scattered addresses with few collisions, for which the simple rule was one or two sectors short. Each
    # pattern runs twice, to tell its effect from chance.
    for op in ("g_red_add_u32", "g_atom_add_u32"):
        for span in (64, 256, 512, 1024, 4096, 1 << 14, 1 << 18, 1 << 22):
            for _ in range(patterns_per_atomic_span):
                a = [rng.randrange(span) * 4 for _ in range(32)]
                add_pattern(op, a)
                add_pattern(op, a)


def add_shared_patterns():
    top = 32768
    for kind in ("ld", "st"):
        for size, count in ((1, 8), (2, 8), (4, 20), (8, 40), (16, 60)):
            op = f"s_{kind}{size}"
            for stride in (0, 1, 2, 3, 16, 32, 33):
                if stride * 31 * size + size <= top:
                    add_pattern(op, [l * stride * size for l in range(32)])
            add_random_access_patterns(op, size, top, count if kind == "ld" else count * 2 // 3)
    atomics = {
        "s_atom_add_u32": (4, 30), "s_red_add_u32": (4, 8), "s_atom_inc_u32": (4, 15),
        "s_atom_max_s32": (4, 8), "s_atom_exch_b32": (4, 10), "s_atom_cas_b32": (4, 20),
        "s_atom_cas_b64": (8, 25),
    }
    for op, (size, count) in atomics.items():
        for stride in (0, 1, 2, 32):
            add_pattern(op, [l * stride * size for l in range(32)])
        add_random_access_patterns(op, size, top, count)
    for kind, count in (("ld", 14), ("st", 10)):
        for x in (1, 2, 4):
            op = f"s_{kind}matrix_x{x}"
            mask = (1 << 8 * x) - 1
            for pitch in (16, 32, 64, 128, 144):
                add_pattern(op, [l * pitch for l in range(32)], mask)
            for _ in range(count):
                add_pattern(op, random_warp_offsets(16, top), mask)
    for _ in range(8):
        add_pattern("s_ldmatrix_x4t", random_warp_offsets(16, top))


def regular_address_patterns(size):
    """Cases that the hand-made patterns above leave out: strides, shared addresses, masks."""
    lanes = range(32)
    for stride in (3, 5, 7, 9, 16, 33):
        yield [l * stride * size for l in lanes], FULL
    for share in (2, 4, 8, 16):  # neighbouring lanes share an address; each part repeats that
        yield [l // share * size for l in lanes], FULL
        yield [l % share * size for l in lanes], FULL
    yield [(31 - l) * size for l in lanes], FULL
    yield [(l ^ 16) * size for l in lanes], FULL
    yield [(l % 16 * 2 + l // 16) * size for l in lanes], FULL
    for active in (1, 2, 3, 5, 8, 9, 15, 16, 17, 24, 31):
        yield [l * size for l in lanes], (1 << active) - 1
    for mask in (0x55555555, 0xAAAAAAAA, 0xFFFF0000, 0xFF00FF00, 0x80000001, 0x33333333):
        yield [l * size for l in lanes], mask
        yield [l // 2 * size for l in lanes], mask


def multiplicity_address_patterns(size, all_multiplicities):
    """m lanes on one word, for every m; then groups of m lanes; then m lanes on each of two words."""
    for m in range(1, 33) if all_multiplicities else (1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24, 31, 32):
        yield [0 if l < m else (l - m + 1) * 32 for l in range(32)], FULL
    for m in (2, 4, 8, 16):
        yield [l // m * size for l in range(32)], FULL
        yield [l % (32 // m) * 128 for l in range(32)], FULL
        yield [0 if l < m else size if l < 2 * m else (l + 1) * 64 for l in range(32)], FULL


def print_systematic_pattern_inputs(space):
    widths = {"1": 1, "2": 2, "4": 4, "8": 8, "16": 16}
    vectors = {"_v4u8": 4, "_v2u16": 4, "_v4u16": 8, "_v2u64": 16}
    for name, size in {**widths, **vectors}.items():
        for kind in ("ld", "st"):
            some = list(regular_address_patterns(size))
            if name in vectors:
                some = some[:12:3] + some[17::5]
            elif size < 4:
                some = some[::2]
            for addresses, mask in some:
                add_pattern(f"{space}_{kind}{name}", addresses, mask)
    copies = {"4": 4, "8": 8, "16": 16, "16cg": 16}
    for name, size in copies.items():
        for stride in (0, 1, 2, 8):
            add_pattern(f"{space}_copy{name}", [l * stride * size for l in range(32)])
        for addresses, mask in list(regular_address_patterns(size))[::3]:
            add_pattern(f"{space}_copy{name}", addresses, mask)
        add_random_access_patterns(f"{space}_copy{name}", size, 32768, 3)
    atomics = {
        "g": {"g_red_add_u32": 4, "g_atom_add_u32": 4, "g_red_add_f32": 4, "g_atom_cas_b32": 4,
              "g_red_add_u64": 8, "g_atom_cas_b64": 8},
        "s": {"s_atom_add_u32": 4, "s_red_inc_u32": 4, "s_atom_cas_b32": 4, "s_atom_max_s32": 4,
              "s_atom_cas_b64": 8},
    }
    for op, size in atomics[space].items():
        every = op.endswith(("red_add_u32", "atom_add_u32", "inc_u32"))
        for addresses, mask in multiplicity_address_patterns(size, every):
            add_pattern(op, addresses, mask)
    # The order is random, so that a measurement that runs out of time has covered patterns of every kind.
    shuffled = rows[:]
    rng.shuffle(shuffled)
    print_pattern_input_rows(shuffled)
    rows.clear()


def print_async_copy_pattern_inputs():
    lanes = list(range(32))
    permuted = lanes[:]
    rng.shuffle(permuted)
    swizzled = [l // 8 * 8 + (l % 8 ^ l // 8) for l in lanes]
    far = [l // 8 * 8 + (l % 8 ^ 5) for l in lanes]
    maps = [lanes, [31 - l for l in lanes], [l * 2 for l in lanes], [l * 3 for l in lanes],
            [l + 1 for l in lanes], swizzled, far, permuted, [l % 2 * 16 + l // 2 for l in lanes]]
    maps += [[l ^ x for l in lanes] for x in (1, 2, 16)]
    sources = maps + [[l // 2 for l in lanes], [l % 2 for l in lanes], [0] * 32,
                      [l // 2 * 8 + l % 2 for l in lanes], [l * 8 for l in lanes]]
    chosen = [(a, b, FULL) for a in sources for b in maps]
    rng.shuffle(chosen)
    chosen = [(lanes, b, FULL) for b in maps] + chosen[:40]
    for _ in range(40):
        span, places = rng.choice([4, 8, 16, 64, 512]), rng.choice([32, 40, 64, 256])
        chosen.append(([rng.randrange(span) for _ in lanes], rng.sample(range(places), 32),
                       random_mask()))
    for op in ("g_both16cg", "s_both16cg"):
        for a, b, mask in chosen:
            add_pattern(op, [g * 16 + s * (1 << 20) for g, s in zip(a, b)], mask)
    for a, b, mask in chosen[::8]:
        add_pattern("g_both16", [g * 16 + s * (1 << 20) for g, s in zip(a, b)], mask)
    rows.sort(key=lambda r: r[0][0])
    print_pattern_input_rows(rows)


def print_vector_atomic_pattern_inputs():
    sizes = {"g_red_v2f32": 8, "g_red_v4f32": 16, "g_red_v2f16x2": 8, "g_red_v4f16x2": 16,
             "g_atom_v2f32": 8, "g_atom_v4f32": 16}
    for op, size in sizes.items():
        for stride in (0, 1, 2, 3, 8, 32):
            add_pattern(op, [l * stride * size for l in range(32)])
        for addresses, mask in list(regular_address_patterns(size))[::3]:
            add_pattern(op, addresses, mask)
        for addresses, mask in multiplicity_address_patterns(size, False):
            add_pattern(op, addresses, mask)
        add_random_access_patterns(op, size, 1 << 20, 14)
    lanes = range(32)
    for chunks in (1, 3, 5, 7, 9, 17):  # filled chunks of a row; one more chunk is a gap
        for first in range(8):
            to = [(first + l // chunks * (chunks + 1) + l % chunks) for l in lanes]
            for op in ("g_both16cg", "s_both16cg"):
                add_pattern(op, [l * 16 + t * (1 << 20) for l, t in zip(lanes, to)])
    for first in range(8):  # eight chunks of nine
        to = [first + l // 8 * 9 + l % 8 for l in lanes]
        for start in range(4):
            for op in ("g_both16cg", "s_both16cg"):
                add_pattern(op, [(start + l) * 16 + t * (1 << 20) for l, t in zip(lanes, to)])
    for _ in range(30):
        places = rng.sample(range(rng.choice([32, 40, 64])), 32)
        first = rng.randrange(8)
        for op in ("g_both16cg", "s_both16cg"):
            add_pattern(op, [(first + l) * 16 + t * (1 << 20) for l, t in zip(lanes, places)], FULL)
    rows.sort(key=lambda r: r[0][0])
    print_pattern_input_rows(rows)


def print_pattern_input_rows(rows):
    for op, mask, offsets in rows:
        print(f"{op},{mask:08x},{' '.join(map(str, offsets))}")


print("op,mask,offsets")
if sys.argv[1:] == ["systematic"]:
    print_systematic_pattern_inputs("g")
    print_systematic_pattern_inputs("s")
elif sys.argv[1:] == ["copies"]:
    print_async_copy_pattern_inputs()
elif sys.argv[1:] == ["vectors"]:
    print_vector_atomic_pattern_inputs()
else:
    add_global_patterns(patterns_per_atomic_span=int(sys.argv[1]) if len(sys.argv) > 1 else 3)
    rows.sort(key=lambda r: r[0][0])  # global first; stable
    print_pattern_input_rows(rows)
    rows.clear()
    add_shared_patterns()
    print_pattern_input_rows(rows)
