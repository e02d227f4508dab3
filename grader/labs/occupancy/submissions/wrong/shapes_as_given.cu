// verdict: B1 follow: warps that wait | failed | "the grid gives it 16 warps at a time"
// verdict: B4 smooth: the tile | failed | "1 block of 16 warps fits on a multiprocessor"
// verdict: B5 orbits: the tail | failed | "takes 1.05 waves"
// verdict: B6 match: rows that stay in L1 | failed | "How many warps' rows fit"
LAB32_LAUNCH(follow, .block = 32, .items_per_thread = 8);
LAB32_LAUNCH(smooth, .block = 512, .items_per_thread = 24);
LAB32_LAUNCH(orbits, .block = 1024, .items_per_thread = 4);
LAB32_LAUNCH(match, .block = 128, .items_per_thread = 1);
