// verdict: B2 collision | failed | "How many rows share one y16"
// Two elements of one line whose chunks stay apart.
LAB32_ANSWER(collision_x_2, 8);
