// verdict: C1 kinds of memory | failed | "How many words does the constant cache deliver"
// verdict: C2 too few registers | failed | "Not answered yet: spilled_time"
LAB32_ANSWER(constant_time, 1);
LAB32_ANSWER(spilled_time, -1);
