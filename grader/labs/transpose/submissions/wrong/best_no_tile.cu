// verdict: B4 best: result | failed | "a tile of 0 x 64 elements"
// verdict: B4 best: sectors | failed | "counts once the result is right"
// verdict: B4 best: requests | failed | "see `B4 best: sectors`"
// verdict: B4 best: wavefronts | failed | "see `B4 best: sectors`"
// A tile without rows.
LAB32_TILE(transpose_best, .rows = 0, .columns = 64, .threads = 256);
