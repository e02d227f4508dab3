// verdict: lab | error | "dynamic initialization"
// An answer that the host would look up when the program starts.
#include <cstdio>

static float looked_up() {
  std::FILE* file = std::fopen("data/limits/reduction.toml", "r");
  float answer = 0;
  if (file) std::fscanf(file, "%f", &answer), std::fclose(file);
  return answer;
}

LAB32_ANSWER(v1_warps, looked_up());
