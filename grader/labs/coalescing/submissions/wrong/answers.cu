// verdict: C1 one element off the line | failed | "It is not 4. Lane 0 reads bytes"
// verdict: C2 three floats a point | failed | "Not answered yet: length_time"
LAB32_ANSWER(add2_sectors, 4);
LAB32_ANSWER(length_time, -1);
