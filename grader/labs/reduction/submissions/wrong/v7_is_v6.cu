// verdict: v7: instructions | failed | "how many blocks does the GPU need"
// Two elements per thread, as v6.
LAB32_LAUNCH(reduce_v7, .block = 256, .items_per_thread = 4);
