// verdict: v7 int: result | failed | ".block = 192 of reduce_v7"
// verdict: v7 float: result | failed | ".block = 192 of reduce_v7"
// verdict: v7: sectors | failed | "counts once the result is right"
// verdict: v7: instructions | failed | "counts once nearly all points are reached"
// Not a power of two, and not instantiated.
LAB32_LAUNCH(reduce_v7, .block = 192, .items_per_thread = 16);
