// verdict: C1 one element off the line | failed | "It is not INFINITY."
// verdict: C2 three floats a point | failed | "It is not 1e-30."
// The nearest of the times that are asked about is another matter.
LAB32_ANSWER(add2_time, INFINITY);
LAB32_ANSWER(length_time, 1e-30);
