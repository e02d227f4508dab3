// verdict: B6 match: rows that stay in L1 | failed | "this task does not leave that field free"
// Keeps most blocks out by shared memory, which leaves next to nothing of L1.
LAB32_LAUNCH(match, .block = 128, .items_per_thread = 1, .dynamic_shared = 70000);
