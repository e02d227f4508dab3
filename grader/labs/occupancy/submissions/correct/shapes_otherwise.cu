// Larger blocks, smaller blocks, and half-size tiles earn the same points.
LAB32_LAUNCH(follow, .block = 512, .items_per_thread = 2);
LAB32_LAUNCH(smooth, .block = 128, .items_per_thread = 6);
LAB32_LAUNCH(orbits, .block = 128, .items_per_thread = 1);
LAB32_LAUNCH(match, .block = 256, .items_per_thread = 1, .blocks_per_sm = 1);
