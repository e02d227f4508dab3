// verdict: A1 what a lane gets | failed | "It is not 36"
// verdict: A2 who adds | failed | "does not depend on their order"
// verdict: A3 where 1.0f stops | failed | "Does any of these additions round?"
// Lane 20 reads lane 36; integers as floats; pairs as one by one.
LAB32_ANSWER(down_lane_20, 36);
LAB32_ANSWER(int_adds, 32);
LAB32_ANSWER(in_pairs, 16777216);
