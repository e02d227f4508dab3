// verdict: A1 what an atomic counts | failed | "L2 adds to different words of a sector at once"
// Neighbours as if all lanes waited for each other.
LAB32_ANSWER(neighbours_sectors, 32);
