// Grids of one wave wherever that is possible.
LAB32_LAUNCH(follow, .block = 256, .items_per_thread = 1, .blocks_per_sm = 8);
LAB32_LAUNCH(orbits, .block = 256, .items_per_thread = 1, .blocks_per_sm = 6);
LAB32_LAUNCH(match, .block = 64, .items_per_thread = 1, .blocks_per_sm = 4);
