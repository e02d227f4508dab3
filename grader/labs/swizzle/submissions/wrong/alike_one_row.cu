// verdict: A3 alike in a column | failed | "These are the same row"
// A row is alike to itself, which nobody asked.
LAB32_ANSWER(alike_row_1, 4);
