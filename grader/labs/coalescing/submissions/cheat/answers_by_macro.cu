// verdict: C1 one element off the line | failed | "the file has no LAB32_ANSWER(add2_sectors"
// verdict: C2 three floats a point | failed | "the file has no LAB32_ANSWER(length_time"
// Answers that no comparison holds against: NaN, and infinity by a macro of one's own.
#undef LAB32_ANSWER
#define LAB32_ANSWER(question, value)               \
  extern "C" {                                      \
  __device__ float lab32_answer_##question = value; \
  }
LAB32_ANSWER(add2_sectors, __builtin_nanf(""));
LAB32_ANSWER(length_aos_sectors, __builtin_huge_valf());
LAB32_ANSWER(length_time, __builtin_huge_valf());
