// verdict: A1 lanes, warps, banks | failed | "It is not 16. "
// verdict: A2 faults of three kernels | failed | "It is not 6. "
// Counts lanes that do not add, banks of the first access only, and readers for words.
LAB32_ANSWER(v1_lanes, 16);
LAB32_ANSWER(v2_wavefronts, 2);
LAB32_ANSWER(overlap_words, 6);
