// verdict: C1 staging 128 ints | failed | "It is not 1. How many bytes can the banks store"
LAB32_ANSWER(int4_wavefronts, 1);
LAB32_ANSWER(int_conflicts, -1);
