// verdict: B1 follow: warps that wait | failed | "a block has 1 to 1024 threads"
// verdict: B4 smooth: the tile | failed | "This shape cannot be launched: not one block"
// verdict: B5 orbits: the tail | failed | "schedulers often have none that is ready"
LAB32_LAUNCH(follow, .block = 2048, .items_per_thread = 1);
LAB32_LAUNCH(smooth, .block = 1024, .items_per_thread = 64);
LAB32_LAUNCH(orbits, .block = 128, .items_per_thread = 1, .blocks_per_sm = 1);
