// verdict: v8: threads | failed | "1 block of 512 threads on 132 multiprocessors"
// Everything is right, and one multiprocessor does all the work.
LAB32_LAUNCH(reduce_v8, .block = kBestThreads, .items_per_thread = 1 << 20);
