// verdict: C1 plain: wavefronts | failed | "It is not 8."
// One matrix instead of four.
LAB32_ANSWER(plain_load_wavefronts, 8);
