"""Draws the memory chart like Nsight Compute's: kernel, shared memory, L1, L2, device memory, and the traffic between."""

from lab32.pictures.canvas import Canvas, decimal_byte_size_text, with_thousands_separators


def ideal_comparison_text(reached, ideal):
    return f" where {with_thousands_separators(ideal)} would do" if reached > ideal else ", the minimum"


def traffic_alt_text(traffic, reference=None):
    words = (
        f"{with_thousands_separators(traffic['requests'])} requests for {decimal_byte_size_text(traffic['asked_bytes'])}; "
        f"{with_thousands_separators(traffic['sectors'])} sectors at L1{ideal_comparison_text(traffic['sectors'], traffic['ideal_sectors'])}"
    )
    if traffic["shared_requests"]:
        words += (
            f"; {with_thousands_separators(traffic['wavefronts'])} wavefronts of shared memory"
            f"{ideal_comparison_text(traffic['wavefronts'], traffic['ideal_wavefronts'])}"
        )
    if caches := traffic["caches"]:
        words += f"; modelled: {cache_summary_text(caches)}"
    for other in non_load_store_traffic_texts(traffic):
        words += f"; besides, {other}"
    if reference:
        words += (
            f". The reference solution takes for the same input {with_thousands_separators(reference['requests'])} requests, "
            f"{with_thousands_separators(reference['sectors'])} sectors"
        )
        if reference["shared_requests"]:
            words += f", {with_thousands_separators(reference['wavefronts'])} wavefronts of shared memory"
        if caches := reference["caches"]:
            words += f"; modelled: {cache_summary_text(caches)}"
    return words + "."


def cache_summary_text(caches):
    return (
        f"{caches['l1_percent']:.1f} % hit L1, {caches['l2_percent']:.1f} % hit L2, "
        f"{decimal_byte_size_text(caches['dram_read'])} read from device memory, {decimal_byte_size_text(caches['dram_written'])} written"
    )


def non_load_store_traffic_texts(traffic):
    """The rows for traffic other than the loads and stores of lanes, one for each kind."""
    ways, words = traffic.get("other"), []
    if not ways:
        return words
    if ways["bulk_sectors"]:
        words.append(f"bulk copies (the copy engine): {with_thousands_separators(ways['bulk_sectors'])} sectors, ideal {with_thousands_separators(ways['ideal_bulk_sectors'])}")
    for name, what in (("texture", "textures and surfaces"), ("cluster", "other blocks' shared memory")):
        if ways[f"{name}_requests"]:
            words.append(f"{what}: {with_thousands_separators(ways[f'{name}_requests'])} requests, {with_thousands_separators(ways[f'{name}_sectors'])} sectors")
    if ways["unknown"]:
        words.append("other kinds, whose counts on a GPU are unknown")
    return words


def draw_box(picture, x, y, width, height, name, lines):
    picture.rect(x, y, width, height, "cell unused", rx=5, fill_opacity=0.35)
    picture.text(x + width / 2, y + 20, name, 12.5, "middle", font_weight="bold")
    for n, words in enumerate(lines):
        picture.text(x + width / 2, y + 38 + 16 * n, words, 10.5, "middle")


def draw_arrow(picture, x1, x2, y):
    picture.line(x1, y, x2 - 7, y, "", stroke_width=1.6)
    picture.polygon([(x2 - 9, y - 5), (x2, y), (x2 - 9, y + 5)], "")


def draw_down_arrow(picture, x, y1, y2):
    picture.line(x, y1, x, y2 - 7, "", stroke_width=1.6)
    picture.polygon([(x - 5, y2 - 9), (x, y2), (x + 5, y2 - 9)], "")


def draw_table(picture, x1, x2, y, rows, reference):
    """Draws rows of (label, yours, reference's) below an arrow, with the numbers aligned."""
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


def distance_from_ideal_text(reached, ideal, unit="sectors"):
    """How far the count is from the ideal: "▲ 4.5 × ideal" or "▲ 60 sectors more"."""
    if not ideal or reached <= ideal:
        return "✓ the minimum"
    if reached < 1.005 * ideal:
        return f"▲ {with_thousands_separators(reached - ideal)} {unit if reached - ideal != 1 else unit[:-1]} more"
    return f"▲ {reached / ideal:.3g} × ideal"


def comparison_lines(traffic, reference, what, ideal):
    """The lines in a box that compare with the reference solution: even an access that wastes no sectors can move far
    more bytes than its accesses."""
    reached = traffic[what]
    lines = [distance_from_ideal_text(reached, traffic[ideal], what)]
    if reference and reached > 1.05 * reference[what] > 0:
        if lines[0].startswith("✓"):
            lines = ["✓ ideal per access"]
        lines.append(f"▲ {reached / reference[what]:.3g} × reference")
    return lines


def traffic_table_rows(traffic, reference, *columns):
    """Rows [(label, yours, reference's)] from `columns`, pairs of a label and a function that makes text from a
    Traffic."""
    return [(what, show(traffic), show(reference) if reference else "") for what, show in columns]


def traffic_entry_text_getter(name, show=with_thousands_separators):
    return lambda traffic: show(traffic[name])


def cache_entry_text_getter(name, show=with_thousands_separators):
    return lambda traffic: show(traffic["caches"][name]) if traffic["caches"] else "–"


def percent_text(percent_value):
    return f"{percent_value:.1f} %"


def draw_traffic(traffic, reference=None):
    """`reference` is the reference solution's traffic for the same input, or None if unknown. Device memory is drawn
    below L2, because side by side they are too wide for paper."""
    caches, shared = traffic["caches"], traffic["shared_requests"] > 0
    height = 122 if reference else 92
    wide, middle = (230, 250) if reference else (170, 170)  # widths of the arrows with their tables
    kernel, first, last = 76, 120, 122  # widths of the boxes
    title = "Memory chart"
    if reference:
        title += ": yours and the reference solution's"
    width = 12 + kernel + wide + first + (middle + last if caches else 0) + 12
    foot = 68 + height * (2 if shared or caches else 1) + 4
    others = non_load_store_traffic_texts(traffic)
    total = foot + (8 + 17 * len(others) if others else 0)
    picture = Canvas(width, total, f"{title}, between kernel, caches and device memory", traffic_alt_text(traffic, reference))
    picture.text(12, 20, title, 13, font_weight="bold")
    picture.text(
        12,
        38,
        "requests, sectors, wavefronts: simulated, as Nsight Compute counts them",
        10.5,
        kind="soft",
    )
    picture.text(12, 53, "caches and device memory: modelled" + ("; reference: recorded for the same input" if reference else ""), 10.5, kind="soft")  # fmt: skip
    for n, words in enumerate(others):
        picture.text(12, foot + 12 + 17 * n, f"besides, {words}", 11)
    y, below = 68, 68 + height
    draw_box(picture, 12, y, kernel, height * (2 if shared else 1) - 8, "kernel", [])
    left, right = 12 + kernel + 4, 12 + kernel + wide - 4
    draw_arrow(picture, left, right, y + 20)
    draw_table(picture, left, right, y + 20, traffic_table_rows(
        traffic, reference, ("requests", traffic_entry_text_getter("requests")), ("bytes asked", traffic_entry_text_getter("asked_bytes", decimal_byte_size_text)),
        ("sectors", traffic_entry_text_getter("sectors")), ("ideal", traffic_entry_text_getter("ideal_sectors")),
    ), reference)  # fmt: skip
    lines = comparison_lines(traffic, reference, "sectors", "ideal_sectors")
    draw_box(picture, right + 4, y, first, height - 8, "L1", lines)
    if shared:
        draw_arrow(picture, left, right, below + 20)
        draw_table(picture, left, right, below + 20, traffic_table_rows(
            traffic, reference, ("requests", traffic_entry_text_getter("shared_requests")), ("wavefronts", traffic_entry_text_getter("wavefronts")),
            ("ideal", traffic_entry_text_getter("ideal_wavefronts")),
        ), reference)  # fmt: skip
        lines = comparison_lines(traffic, reference, "wavefronts", "ideal_wavefronts")
        draw_box(picture, right + 4, below, first, height - 8, "shared memory", lines)
    if caches:
        x = right + 4 + first
        draw_arrow(picture, x + 4, x + middle - 4, y + 20)
        draw_table(picture, x + 4, x + middle - 4, y + 20, traffic_table_rows(
            traffic, reference, ("hit L1", cache_entry_text_getter("l1_percent", percent_text)), ("sectors read", cache_entry_text_getter("l2_read_sectors")),
            ("sectors written", cache_entry_text_getter("l2_write_sectors")),
        ), reference)  # fmt: skip
        draw_box(picture, x + middle, y, last, height - 32, "L2", ["(modelled)"])
        draw_down_arrow(picture, x + middle + last / 2, y + height - 28, below - 4)
        draw_table(picture, x + 4, x + middle - 4, below + 2, traffic_table_rows(
            traffic, reference, ("hit L2", cache_entry_text_getter("l2_percent", percent_text)), ("bytes read", cache_entry_text_getter("dram_read", decimal_byte_size_text)),
            ("bytes written", cache_entry_text_getter("dram_written", decimal_byte_size_text)),
        ), reference)  # fmt: skip
        draw_box(picture, x + middle, below, last, height - 8, "device memory", ["(modelled)"])
    return picture
