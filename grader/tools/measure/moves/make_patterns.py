#!/usr/bin/env python3
"""Writes the patterns that texture_patterns.cu and copy_patterns.cu launch.

make_patterns.py texture|copy explore   a few of each kind, to see which counters move
make_patterns.py texture|copy known     the patterns from which the rules were derived
make_patterns.py texture|copy unseen    patterns on which the rules were tested
make_patterns.py texture|copy more      further formats and modes, addresses outside the array, filters without a rule
make_patterns.py texture|copy predicted as many of these, on which the rules were tested
"""
import random
import sys

FULL = 0xFFFFFFFF
program, chosen = sys.argv[1:]
rng = random.Random(f"{program} {chosen}")
rows = []


def add_pattern(op, numbers, mask=FULL):
    rows.append((op, mask, list(numbers)))


def random_mask():
    kind = rng.randrange(6)
    if kind <= 2:
        return FULL
    if kind == 3:
        return (1 << rng.randint(1, 32)) - 1
    if kind == 4:
        return rng.getrandbits(32) | 1 << rng.randrange(32)
    return rng.getrandbits(32) & rng.getrandbits(32) | 1 << rng.randrange(32)


# ---- textures and surfaces -------------------------------------------------------------------
def texel_positions_of_warp(w, h, x0=0, y0=0, z0=0, dx=1, dy=1):
    return [(x0 + l % w * dx, y0 + l // w * dy, z0) for l in range(32)]


def texture_extent_of_access_form(shape):
    """Texels along x, y, z."""
    return {"fetch": (8192, 1, 1), "tex1": (8192, 1, 1), "suld1": (8192, 1, 1), "sust1": (8192, 1, 1),
            "tex3": (64, 64, 32), "suld3": (64, 64, 32), "sust3": (64, 64, 32),
            "layers1": (8192, 1, 4), "layers2": (256, 64, 4), "suldl": (256, 64, 4),
            "sustl": (256, 64, 4), "cube": (64, 64, 6), "cubes": (64, 64, 6),
            "suldc": (64, 64, 6), "suldl1": (8192, 1, 4), "sustl1": (8192, 1, 4)}.get(shape, (256, 256, 1))


def random_below(n):
    return rng.randrange(max(n, 1))


def random_texel_positions(size):
    """Returns 32 places in an array of this size, in a random pattern such as kernels produce."""
    w, h, d = size
    z = random_below(d)
    flat = h == 1
    kind = rng.randrange(9)
    if kind == 0:  # a row, with a stride, any start
        stride = rng.choice([1, 1, 1, 2, 3, 4, 5, 8])
        x, y = random_below(w - 31 * stride), random_below(h)
        return [((x + l * stride) % w, y, z) for l in range(32)]
    if kind == 1:  # tiles
        a = rng.choice([2, 4, 8, 16])
        if flat:
            x, s = random_below(w - 2048), rng.choice([33, 40, 64, 100])
            return [(x + l % a + l // a * s, 0, z) for l in range(32)]
        return texel_positions_of_warp(a, 32 // a, random_below(w - a), random_below(h - 32 // a), z)
    if kind == 2:  # tiles of quads
        if flat:
            x = random_below(w - 64)
            return [(x + (l ^ 5), 0, z) for l in range(32)]
        a = rng.choice([1, 2, 4, 8])
        x, y = random_below(w - 2 * a), random_below(h - 16 // a)
        return [(x + l // 4 % a * 2 + l % 2, y + l // 4 // a * 2 + l // 2 % 2, z) for l in range(32)]
    if kind == 3:  # columns
        if flat:
            s, x = rng.choice([2, 6, 7, 16, 32]), random_below(w - 1024)
            return [(x + l * s, 0, z) for l in range(32)]
        s = rng.choice([1, 1, 2])
        x, y = random_below(w), random_below(h - 31 * s if h > 31 * s else 1)
        return [(x, (y + l * s) % h, z) for l in range(32)]
    if kind in (4, 5):  # anywhere in a window
        sx, sy = 1 << rng.randint(0, 6), 1 << rng.randint(0, 5)
        sx, sy = min(sx * (64 if flat else 1), w), min(sy, h)
        x, y = random_below(w - sx + 1), random_below(h - sy + 1)
        sz = min(d, rng.choice([1, 1, 2, 4]))
        z = random_below(d - sz + 1)
        return [(x + random_below(sx), y + random_below(sy), z + random_below(sz))
                for _ in range(32)]
    if kind == 6:  # a permuted row
        x, y = random_below(w - 31), random_below(h)
        lanes = list(range(32))
        rng.shuffle(lanes)
        return [(x + l, y, z) for l in lanes]
    if kind == 7:  # few places, many lanes
        some = [(random_below(w), random_below(h), z) for _ in range(rng.randint(1, 8))]
        return [rng.choice(some) for _ in range(32)]
    return [(random_below(w), random_below(h), random_below(d)) for _ in range(32)]


def add_texture_pattern_at_texels(op, places, mask=FULL):
    """Converts places in whole texels to their centres; for a linear filter, to points between texels."""
    shape = op.split(":")[0]
    by_index = shape == "fetch" or shape.startswith("su")
    dx = dy = dz = 0.0 if by_index else 0.5
    first = chosen in ("known", "unseen", "explore") and op.endswith("linear mip")
    if first or op.endswith((":linear", ":mip")) or shape == "gather":
        kind = rng.randrange(3)
        if kind == 0:
            dx = dy = 1.0
        elif kind == 1:
            dx, dy = rng.choice([0.5, 0.75, 1.0]), rng.choice([0.5, 0.75, 1.0])
        if shape == "tex3":
            dz = rng.choice([0.5, 1.0])
    if shape.startswith("layers") or shape == "level":
        dz = 0
    numbers = []
    for x, y, z in places:
        if shape in ("cube", "cubes"):
            numbers += cube_direction_of_texel(x, y, z)
        elif shape == "level":
            numbers += [x + dx, y + dy, rng.choice(level_of)]
        else:
            numbers += [x + dx, y + dy, z + dz]
    add_pattern(op, [f"{n:g}" for n in numbers], mask)


level_of = [0]


def cube_direction_of_texel(x, y, face):
    u, v = (x + 0.5) / 32 - 1, (y + 0.5) / 32 - 1
    return [(1, -v, -u), (-1, -v, u), (u, 1, v), (u, -1, -v), (u, -v, 1), (-u, -v, -1)][face]


def add_texture_counter_probes():
    row, high = texel_positions_of_warp(32, 1), texel_positions_of_warp(1, 32)
    for op in ["fetch:f32", "tex1:f32", "tex2:f32", "tex3:f32", "layers2:f32", "suld2:f32", "sust2:f32",
               "fetch:f32x4", "tex2:f32x4", "tex2:first", "suld2:f32x4", "sust2:f32x4", "tex2:u8",
               "fetch:u8", "suld2:u8", "sust2:u8", "pitch:f32", "tex2:f32:linear", "tex2:f32x4:linear",
               "tex2:u8x4n:linear", "cube:f32", "gather:f32", "level:f32", "level:f32:linear mip", "tex3:f32:linear"]:
        add_texture_pattern_at_texels(op, row)
        add_texture_pattern_at_texels(op, texel_positions_of_warp(8, 4))
        if op in ("tex2:f32", "suld2:f32", "tex2:f32:linear", "sust2:f32", "tex2:f32x4"):
            add_texture_pattern_at_texels(op, high)
            add_texture_pattern_at_texels(op, texel_positions_of_warp(1, 1)[:1] * 32)
            add_texture_pattern_at_texels(op, row, 0x1)
            add_texture_pattern_at_texels(op, row, 0x11111111)
            add_texture_pattern_at_texels(op, row, 0xffff)


def add_random_texture_patterns(n):
    global level_of
    often = ["fetch:f32", "tex2:f32", "suld2:f32", "sust2:f32", "tex2:f32:linear", "tex2:f32x4"]
    seldom = ["fetch:u8", "fetch:u16", "fetch:f32x2", "fetch:f32x4", "fetch:u8x4", "tex1:f32", "tex1:f32x4",
              "tex2:u8", "tex2:u16", "tex2:f32x2", "tex2:first", "tex2:u8x4", "tex2:f32x4:linear",
              "tex2:u8x4n:linear", "tex2:u8n:linear", "tex2:f32x2:linear", "pitch:f32", "pitch:f32x4", "pitch:u8",
              "pitch:f32:linear", "tex3:f32", "tex3:f32x4", "tex3:f32:linear", "tex3:u8", "layers1:f32",
              "layers2:f32", "layers2:f32x4", "layers2:f32:linear", "cube:f32", "cube:f32:linear",
              "gather:f32", "level:f32", "level:f32:linear", "level:f32:linear mip", "tex1:f32:linear",
              "suld2:u8", "suld2:u16", "suld2:f32x2", "suld2:f32x4", "suld1:f32", "suld3:f32",
              "suldl:f32", "sust2:u8", "sust2:u16", "sust2:f32x2", "sust2:f32x4", "sust1:f32",
              "sust3:f32", "sustl:f32", "suld3:f32x4", "sust1:f32x4"]
    for op in often + seldom:
        level_of = [0] if rng.randrange(2) else [0, 1, 2]
        for _ in range(2 * n if op in often else n):
            shape = op.split(":")[0]
            places = random_texel_positions(texture_extent_of_access_form(shape))
            if ":linear" in op or ":mip" in op or shape == "gather":
                w, h, d = texture_extent_of_access_form(shape)
                places = [(min(x, w - 2), min(y, max(h - 2, 0)), min(z, max(d - 2, 0)) if shape == "tex3" else z)
                          for x, y, z in places]
            add_texture_pattern_at_texels(op, places, random_mask())


def add_further_texture_patterns(n):
    global level_of
    plain = ["tex2:f16", "tex2:f16x2", "tex2:f16x4", "tex2:u8x2n", "tex2:u16x2n", "tex2:s16x4n", "tex2:s32x2",
             "tex2:s8x4", "tex2:u8x4n:srgb", "tex2:f16:linear", "tex2:f16x2:linear", "tex2:f16x4:linear",
             "tex2:u8x2n:linear", "tex2:u16x2n:linear", "tex2:s16x4n:linear", "tex2:u8x4n:linear srgb",
             "tex2:f32:aniso", "tex2:f32:linear aniso", "cube:f32:linear seamless", "cubes:f32", "cubes:f32:linear",
             "grad:f32", "grad:f32:linear", "gather:f32x4", "gather:u8x4", "gather:u8x4n", "layers1:f32x4",
             "layers1:f32:linear", "pitch:f32x2:linear", "suldl1:f32", "suldl1:f32x4", "sustl1:f32", "suldc:f32",
             "suldc:f32x4", "suld3:u8", "suldl:f32x2", "sust3:f32x4", "sustl:f32x4", "sust3:u8"]
    outside = ["tex2:f32:border", "tex2:f32:linear border", "tex2:f32:wrap", "tex2:f32:linear wrap",
               "tex2:f32:mirror", "tex2:f32:linear mirror", "tex2:f32:point", "tex2:f32:linear",
               "suld2:f32", "sust2:f32", "suld2:f32x4", "fetch:f32", "gather:f32"]
    for op in plain + outside:
        for _ in range(n):
            shape = op.split(":")[0]
            places = random_texel_positions(texture_extent_of_access_form(shape))
            if op in outside:
                far = rng.choice([1, 2, 8])
                w, h, _ = texture_extent_of_access_form(shape)
                if shape == "fetch":
                    x = rng.choice([-8, w - 16])
                    places = [(x + rng.randrange(32) if rng.randrange(2) else x + l, 0, 0) for l in range(32)]
                else:
                    x, y = rng.choice([-far, w - 16]), rng.choice([-far, h - 3, 9])
                    places = texel_positions_of_warp(16, 2, x, y) if rng.randrange(2) else [
                        (x + rng.randrange(24), y + rng.randrange(4), 0) for _ in range(32)]
            elif "linear" in op or shape == "gather":
                w, h, d = texture_extent_of_access_form(shape)
                places = [(min(x, w - 2), min(y, max(h - 2, 0)), z) for x, y, z in places]
            if shape == "grad":
                places = [(x, y, rng.choice([0, 0.25, 1, 2, 8])) for x, y, z in places]
            add_texture_pattern_at_texels(op, places, random_mask())
    for op in ("level:f32:mip", "level:f32:linear mip", "level:f32:linear"):
        for _ in range(n + 2):
            level_of = rng.choice([[0.25], [0.5], [1.5], [0, 0.5, 1.75], [0.5, 1.25, 2.5], [0.499, 0.501]])
            places = [(min(x, 254), min(y, 254), z) for x, y, z in random_texel_positions(texture_extent_of_access_form("level"))]
            add_texture_pattern_at_texels(op, places, random_mask())
    # Filters that take several passes: few lanes, and one property at a time.
    for op in ("tex3:f32:linear", "tex2:f32x4:linear", "tex3:u8n:linear", "tex1:f32x4:linear",
               "layers2:f32x4:linear", "pitch:f32x4:linear"):
        masks = [0x1, 0x3, 0x5, 0x9, 0x6, 0xC, 0x7, 0xF, 0x11, 0xF0]
        for k in range(2 * n + 6):
            x, y, z = rng.randrange(4, 40), rng.randrange(4, 40), rng.randrange(4, 20)
            if op.startswith("layers"):
                z = rng.randrange(4)
            d = [rng.choice([0.5, 1.0]) for _ in range(3)]
            if op.startswith("layers"):
                d[2] = 0
            spread = rng.choice([0, 0, 1, 2, 4, 8])
            places = []
            for l in range(32):
                kind = k % 4
                dx, dy, dz = ((l * spread, 0, 0) if kind == 0 else (0, l * spread % 16, 0) if kind == 1
                              else (l % 2 * spread, l // 2 % 2 * spread, 0) if kind == 2
                              else (rng.randrange(spread + 1), rng.randrange(spread + 1),
                                    rng.randrange(spread + 1) if op.startswith("tex3") else 0))
                places += [x + dx + d[0], y + dy + d[1], z + dz + d[2]]
            add_pattern(op, [f"{v:g}" for v in places], rng.choice(masks) if k % 3 else FULL)


# ---- bulk copies and other blocks' shared memory ----------------------------------------------
def add_copy_counter_probes():
    add_pattern("nothing", [0, 0, 0, 0], 1)
    for op in ["load", "store", "block", "prefetch"]:
        add_pattern(op, [4096, 0, 0, 0], 1)
        add_pattern(op, [16, 16, 16, 0], 1)
        add_pattern(op, [1008, 16, 48, 0], 1)
        add_pattern(op, [256, 0, 0, 0], 0xff)
    add_pattern("many", [4096, 0, 0, 0b1111], 1)
    add_pattern("many", [4096, 0, 0, 0b0110], 1)
    for op in ["box_load", "box_store", "box_many"]:
        add_pattern(op, [4, 1, 256, 64, 0, 0, 0b0011], 1)
        add_pattern(op, [4, 2, 256, 256, 32, 32, 0, 0, 0, 0b1111], 1)
        add_pattern(op, [4, 2, 256, 256, 32, 32, 4, 3, 3, 0b0011], 1)
        add_pattern(op, [2, 3, 64, 16, 8, 16, 8, 2, 8, 0, 0, 0, 0b0101], 1)
    for op in ["d_none", "d_ld4", "d_st4", "d_atom", "d_red", "d_cas", "d_ld16", "d_st16", "d_ld8", "d_ld1"]:
        width = int(op[4:]) if op[2:4] in ("ld", "st") else 4
        for k, rank in ((1, 1), (1, 0), (0, 1), (2, 1), (32, 2)):
            add_pattern(op, [l * width * k + (rank << 20) for l in range(32)])
        add_pattern(op, [l * width + (l % 4 << 20) for l in range(32)])


def add_random_bulk_copy_patterns(n):
    for op in ["load", "store", "block", "prefetch", "many"]:
        for _ in range(n):
            mask = 1 if rng.randrange(3) else random_mask()
            lanes = bin(mask).count("1")
            most = min(32768 // lanes, rng.choice([64, 512, 4096, 32768]))
            size = 16 * rng.randint(1, max(1, most // 16))
            start = 16 * rng.randrange(64)
            to = 16 * rng.randrange(64) if rng.randrange(2) else 0
            add_pattern(op, [size, start, to, rng.randrange(1, 16)], mask)
    for op in ["box_load", "box_store", "box_many"]:
        for _ in range(2 * n):
            width = rng.choice([1, 2, 4, 4, 8])
            dims = rng.choice([1, 2, 2, 2, 3, 4])
            swizzle = rng.choice([0, 0, 1, 2, 3])
            unit = 16 // width
            inner = unit * rng.randint(1, 8 if swizzle == 0 else 1 << swizzle)
            if swizzle:
                inner = unit << swizzle
            inner = min(inner, 256 // unit * unit)
            boxes, sizes, firsts = [inner], [unit * rng.randint(4, 64)], [unit * rng.randrange(4)]
            left = 32768 // (inner * width)
            for _ in range(dims - 1):
                boxes.append(rng.randint(1, max(1, min(left, 40, 64))))
                left //= boxes[-1]
                sizes.append(rng.randint(1, 48))
                firsts.append(rng.randrange(3))
            total = width
            for s in sizes:
                total *= s
            if total > 4 << 20:
                sizes[-1] = 1
            if total // (48 if total > 4 << 20 else 1) > 4 << 20:
                continue
            add_pattern(op, [width, dims, *sizes, *boxes, *firsts, swizzle, rng.randrange(1, 16)], 1)
    for op in ["d_ld1", "d_ld2", "d_ld4", "d_ld8", "d_ld16", "d_st1", "d_st4", "d_st8", "d_st16", "d_atom",
               "d_red", "d_cas", "d_exch"]:
        width = int(op[4:]) if op[2:4] in ("ld", "st") else 4
        for _ in range(n):
            kind = rng.randrange(5)
            stride = rng.choice([0, 1, 1, 1, 2, 3, 4, 5, 8, 16, 32])
            first = rng.randrange(64)
            far = rng.randrange(1, 4)
            mixed, together = rng.randrange(4) == 0, 0
            if not mixed and rng.randrange(3) == 0:
                together = rng.choice([1, 2, 4, 8, 16])
            if kind <= 1:
                places = [first + l * stride for l in range(32)]
            elif kind == 2:
                window = 1 << rng.randint(0, 10)
                places = [first + rng.randrange(window) for _ in range(32)]
            elif kind == 3:
                x = rng.randrange(32)
                places = [first // 32 * 32 + (l ^ x) for l in range(32)]
            else:
                some = [rng.randrange(512) for _ in range(rng.randint(1, 6))]
                places = [rng.choice(some) for _ in range(32)]
            ranks = [rng.randrange(4) if mixed else l // together % 4 if together else far
                     for l in range(32)]
            add_pattern(op, [p * width + (r << 20) for p, r in zip(places, ranks)], random_mask())


def add_box_and_dsmem_patterns(n):
    for op in ["box_load", "box_many", "box_store"]:
        for _k in range(4 * n if op == "box_load" else n):
            width = rng.choice([1, 2, 4, 8])
            unit = 16 // width
            dims = rng.choice([1, 2, 2, 3])
            inner = unit * rng.randint(1, 16)
            swizzle = rng.choice([0, 0, 1, 2, 3])
            if swizzle:
                inner = unit << swizzle
            inner = min(inner, 256 // unit * unit)
            size = unit * rng.randint(2, 16)
            if rng.randrange(3) == 0 and op == "box_load":
                size -= rng.randrange(unit)
            low = 0 if op == "box_store" else -3
            at = unit * rng.randint(max(low, -(inner // unit) + 1), max(size // unit - 1, 0))
            boxes, sizes, firsts = [inner], [size], [at]
            for _ in range(dims - 1):
                boxes.append(rng.randint(1, 12))
                sizes.append(rng.randint(1, 24))
                firsts.append(rng.randrange(low, 4))
            add_pattern(op, [width, dims, *sizes, *boxes, *firsts, swizzle, rng.randrange(1, 16)], 1)
    for _ in range(3 * n):
        add_pattern("block", [16 * rng.randint(1, 40), 16 * rng.randrange(16), 16 * rng.randrange(16), 0], 1)
    for op in ["d_add64", "d_max", "d_exch64", "d_ld8", "d_ld16", "d_st2"]:
        width = 8 if op.endswith("64") else int(op[4:]) if op[2:4] in ("ld", "st") else 4
        for _ in range(n):
            some = [rng.randrange(512) + (rng.randrange(4) << 20) // width for _ in range(rng.randint(1, 20))]
            half = rng.choice([1, 2, 4, 8, 16])
            if rng.randrange(2):
                add_pattern(op, [rng.choice(some) * width for _ in range(32)], random_mask())
            else:
                add_pattern(op, [(7 + l) * width + (l // half % 4 << 20) for l in range(32)], random_mask())


if chosen in ("more", "predicted"):
    (add_further_texture_patterns if program == "texture" else add_box_and_dsmem_patterns)(4)
elif chosen == "explore":
    (add_texture_counter_probes if program == "texture" else add_copy_counter_probes)()
else:
    (add_random_texture_patterns if program == "texture" else add_random_bulk_copy_patterns)(7)
print("op,mask,points")
for op, mask, numbers in rows:
    print(f"{op},{mask:08x},{' '.join(str(n) for n in numbers)}")
