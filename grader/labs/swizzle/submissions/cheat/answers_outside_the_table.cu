// verdict: A3 alike in a column | failed | "alike_row_2 is 8, but the question asks for a whole number from 0 to 7"
// verdict: B2 collision | failed | "collision_x_2 is 1e-40f, but the question asks for a whole number from 0 to"
// Rows beyond the table, which repeat it, and a column that is nearly the same.
LAB32_ANSWER(alike_row_2, 8);
LAB32_ANSWER(collision_y_2, 0);
LAB32_ANSWER(collision_x_2, 1e-40f);
