"""The memory chart, as Nsight Compute has one: kernel, shared memory, L1, L2, device memory, and what goes between them."""

from lab32.pictures.canvas import Canvas, amount, grouped


def says(traffic, reference=None):
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
        words += f"; modelled: {cached(caches)}"
    if reference:
        words += (
            f". The reference solution, for the same: {grouped(reference['requests'])} requests, "
            f"{grouped(reference['sectors'])} sectors"
        )
        if reference["shared_requests"]:
            words += f", {grouped(reference['wavefronts'])} wavefronts of shared memory"
        if caches := reference["caches"]:
            words += f"; modelled: {cached(caches)}"
    return words + "."


def cached(caches):
    return (
        f"{caches['l1_percent']:.1f} % hit L1, {caches['l2_percent']:.1f} % hit L2, "
        f"{amount(caches['dram_read'])} read from device memory, {amount(caches['dram_written'])} written"
    )


def box(picture, x, y, width, height, name, lines):
    picture.rect(x, y, width, height, "cell unused", rx=5, fill_opacity=0.35)
    picture.text(x + width / 2, y + 20, name, 12.5, "middle", font_weight="bold")
    for n, words in enumerate(lines):
        picture.text(x + width / 2, y + 38 + 16 * n, words, 10.5, "middle")


def arrow(picture, x1, x2, y):
    picture.line(x1, y, x2 - 7, y, "", stroke_width=1.6)
    picture.polygon([(x2 - 9, y - 5), (x2, y), (x2 - 9, y + 5)], "")


def table(picture, x1, x2, y, rows, reference):
    """Rows of (what, yours, reference's) below an arrow: numbers stand below each other."""
    right = x2 - 10
    yours = right - 76 if reference else right
    if reference:
        picture.text(yours, y + 16, "yours", 10.5, "end", "soft")
        picture.text(right, y + 16, "reference", 10.5, "end", "soft")
    for n, (what, mine, theirs) in enumerate(rows):
        at = y + (32 if reference else 17) + 15 * n
        picture.text(x1 + 2, at, what, 10.5, kind="soft")
        picture.text(yours, at, mine, 10.5, "end")
        if reference:
            picture.text(right, at, theirs, 10.5, "end")


def needless(reached, ideal):
    """ "▲ 4.5 times" """
    if not ideal or reached <= ideal:
        return "✓ as few as can be"
    if reached < 1.005 * ideal:
        return f"▲ {grouped(reached - ideal)} beyond ideal"
    return f"▲ {reached / ideal:.3g} times ideal"


def verdict(traffic, reference, what, ideal):
    """Lines for a box: accesses that waste nothing can still be far more than the task takes."""
    reached = traffic[what]
    lines = [needless(reached, traffic[ideal])]
    if reference and reached > 1.05 * reference[what] > 0:
        if lines[0].startswith("✓"):
            lines = ["✓ ideal per access"]
        lines.append(f"▲ {reached / reference[what]:.3g} × reference")
    return lines


def rows_of(traffic, reference, *columns):
    """(what, yours, reference's): `columns` are words, and what makes a text of a Traffic."""
    return [(what, show(traffic), show(reference) if reference else "") for what, show in columns]


def counted(name, show=grouped):
    return lambda traffic: show(traffic[name])


def of_caches(name, show=grouped):
    return lambda traffic: show(traffic["caches"][name]) if traffic["caches"] else "–"


def percent(value):
    return f"{value:.1f} %"


def draw_traffic(traffic, reference=None):
    """`reference`: what the reference solution moves for the same; None: not known."""
    caches, shared = traffic["caches"], traffic["shared_requests"] > 0
    height = 122 if reference else 92
    # Of the arrows and their tables: as wide as the page of a report has room for.
    wide, middle, end = (230, 236, 200) if reference else (170, 170, 150)
    kernel, first, second, last = 76, 120, 70, 122  # widths of the boxes
    title = "Memory chart"
    if reference:
        title += ": yours and the reference solution's"
    width = 12 + kernel + wide + first + (middle + second + end + last if caches else 0) + 12
    total = 68 + height * (2 if shared else 1) + 4
    picture = Canvas(width, total, title, says(traffic, reference))
    picture.text(12, 20, title, 13, font_weight="bold")
    picture.text(
        12,
        38,
        "requests, sectors, wavefronts: simulated, as Nsight Compute counts them",
        10.5,
        kind="soft",
    )
    picture.text(12, 53, "caches and device memory: modelled" + ("; reference: recorded for the same input" if reference else ""), 10.5, kind="soft")  # fmt: skip
    y = 68
    box(picture, 12, y, kernel, height * (2 if shared else 1) - 8, "kernel", [])
    left, right = 12 + kernel + 4, 12 + kernel + wide - 4
    arrow(picture, left, right, y + 20)
    table(picture, left, right, y + 20, rows_of(
        traffic, reference, ("requests", counted("requests")), ("bytes asked", counted("asked_bytes", amount)),
        ("sectors", counted("sectors")), ("ideal", counted("ideal_sectors")),
    ), reference)  # fmt: skip
    lines = verdict(traffic, reference, "sectors", "ideal_sectors")
    box(picture, right + 4, y, first, height - 8, "L1", lines)
    if shared:
        below = y + height
        arrow(picture, left, right, below + 20)
        table(picture, left, right, below + 20, rows_of(
            traffic, reference, ("requests", counted("shared_requests")), ("wavefronts", counted("wavefronts")),
            ("ideal", counted("ideal_wavefronts")),
        ), reference)  # fmt: skip
        lines = verdict(traffic, reference, "wavefronts", "ideal_wavefronts")
        box(picture, right + 4, below, first, height - 8, "shared memory", lines)
    if caches:
        x = right + 4 + first
        arrow(picture, x + 4, x + middle - 4, y + 20)
        table(picture, x + 4, x + middle - 4, y + 20, rows_of(
            traffic, reference, ("hit L1", of_caches("l1_percent", percent)), ("sectors read", of_caches("l2_read_sectors")),
            ("sectors written", of_caches("l2_write_sectors")),
        ), reference)  # fmt: skip
        x += middle
        box(picture, x, y, second, height - 8, "L2", ["(modelled)"])
        x += second
        arrow(picture, x + 4, x + end - 4, y + 20)
        table(picture, x + 4, x + end - 4, y + 20, rows_of(
            traffic, reference, ("hit L2", of_caches("l2_percent", percent)), ("read", of_caches("dram_read", amount)),
            ("written", of_caches("dram_written", amount)),
        ), reference)  # fmt: skip
        x += end
        box(picture, x, y, last, height - 8, "device memory", ["(modelled)"])
    return picture
