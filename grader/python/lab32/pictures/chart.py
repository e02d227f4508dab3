"""The memory chart: kernel, shared memory, L1, L2, device memory, and what goes between them."""

from lab32.pictures.canvas import Canvas, amount, grouped

SECTOR = 32


def says(traffic):
    words = (
        f"{grouped(traffic['requests'])} requests for {amount(traffic['asked_bytes'])}; "
        f"{grouped(traffic['sectors'])} sectors at L1 where {grouped(traffic['ideal_sectors'])} would do"
    )
    if traffic["shared_requests"]:
        words += (
            f"; {grouped(traffic['wavefronts'])} wavefronts of shared memory where "
            f"{grouped(traffic['ideal_wavefronts'])} would do"
        )
    if caches := traffic["caches"]:
        words += (
            f"; modelled: {caches['l1_percent']:.1f} % hit L1, {caches['l2_percent']:.1f} % hit L2, "
            f"{amount(caches['dram_read'])} read from device memory, {amount(caches['dram_written'])} written"
        )
    return words + "."


def box(picture, x, y, width, height, name, lines):
    picture.rect(x, y, width, height, "cell unused", rx=5, fill_opacity=0.35)
    picture.text(x + width / 2, y + 20, name, 12.5, "middle", font_weight="bold")
    for n, words in enumerate(lines):
        picture.text(x + width / 2, y + 38 + 16 * n, words, 10.5, "middle")


def arrow(picture, x1, x2, y, above, below=""):
    picture.line(x1, y, x2 - 7, y, "", stroke_width=1.6)
    picture.polygon([(x2 - 9, y - 5), (x2, y), (x2 - 9, y + 5)], "")
    for n, words in enumerate(reversed(above)):
        picture.text((x1 + x2) / 2, y - 7 - 14 * n, words, 10.5, "middle")
    for n, words in enumerate(below):
        picture.text((x1 + x2) / 2, y + 16 + 14 * n, words, 10.5, "middle", "soft")


def needless(reached, ideal):
    """ "▲ 4.5 times" """
    if not ideal or reached <= ideal:
        return "✓ as few as can be"
    return f"▲ {reached / ideal:.3g} times as many"


def draw_traffic(traffic):
    caches = traffic["caches"]
    shared = traffic["shared_requests"] > 0
    picture = Canvas(
        944 if caches else 470, 268 if shared else 190, "The way of the data", says(traffic)
    )
    picture.text(12, 20, "The way of the data", 13, font_weight="bold")
    picture.text(
        12,
        38,
        "requests and sectors: simulated, as Nsight Compute counts them; caches: modelled",
        10.5,
        kind="soft",
    )
    y, height = 70, 82
    box(picture, 12, y, 96, 182 if shared else height, "kernel", [])
    arrow(
        picture, 112, 300, y + 34, [f"{grouped(traffic['requests'])} requests", f"{amount(traffic['asked_bytes'])} asked"],
        [f"{grouped(traffic['sectors'])} sectors", f"ideal {grouped(traffic['ideal_sectors'])}", needless(traffic["sectors"], traffic["ideal_sectors"])],
    )  # fmt: skip
    box(
        picture,
        304,
        y,
        130,
        height,
        "L1",
        [f"{caches['l1_percent']:.1f} % hit", "(modelled)"] if caches else [],
    )
    if shared:
        arrow(
            picture, 112, 300, y + 136, [f"{grouped(traffic['shared_requests'])} requests"],
            [f"{grouped(traffic['wavefronts'])} wavefronts", f"ideal {grouped(traffic['ideal_wavefronts'])}", needless(traffic["wavefronts"], traffic["ideal_wavefronts"])],
        )  # fmt: skip
        box(picture, 304, y + 104, 130, 66, "shared memory", [])
    if caches:
        moved = caches["l2_read_sectors"] + caches["l2_write_sectors"]
        arrow(
            picture, 438, 580, y + 34, [f"{grouped(caches['l2_read_sectors'])} read", f"{grouped(caches['l2_write_sectors'])} written"],
            ["sectors", amount(SECTOR * moved)],
        )  # fmt: skip
        box(picture, 584, y, 100, height, "L2", [f"{caches['l2_percent']:.1f} % hit", "(modelled)"])
        arrow(
            picture, 688, 790, y + 34, [amount(caches["dram_read"]), "read"], [amount(caches["dram_written"]), "written"],
        )  # fmt: skip
        box(picture, 794, y, 134, height, "device memory", ["(modelled)"])
    return picture
