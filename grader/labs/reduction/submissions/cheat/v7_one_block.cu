// verdict: v7: instructions | failed | "too few loads are in flight"
// All elements in one block: its tree is paid once, and nearly the whole GPU is idle.
LAB32_LAUNCH(reduce_v7, .block = 1024, .items_per_thread = 1 << 20);
