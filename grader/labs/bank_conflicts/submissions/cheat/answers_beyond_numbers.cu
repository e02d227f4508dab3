// verdict: C1 staging 128 ints | failed | "It is not 1e-30f."
// Answers that compare with nothing, or with everything, it hopes.
LAB32_ANSWER(int_wavefronts, INFINITY);
LAB32_ANSWER(int4_wavefronts, NAN);
LAB32_ANSWER(int_conflicts, -0.0f - 1e-30f);
LAB32_ANSWER(int4_conflicts, 1e-30f);
