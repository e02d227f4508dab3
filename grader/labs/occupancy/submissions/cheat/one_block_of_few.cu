// verdict: B5 orbits: the tail | failed | "% of the time"
// verdict: B6 match: rows that stay in L1 | failed | "of the time until the busiest one finishes"
// One warp per block: nothing is uneven, and a warp has one thread; all rows fit L1 in one block.
LAB32_LAUNCH(orbits, .block = 1, .items_per_thread = 1);
LAB32_LAUNCH(match, .block = 128, .items_per_thread = 2112);
