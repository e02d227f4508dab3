// verdict: A3 alike in a column | failed | "How many row bits does it look at?"
// Rows 0 and 3: two row bits tell them apart.
LAB32_ANSWER(alike_row_2, 3);
