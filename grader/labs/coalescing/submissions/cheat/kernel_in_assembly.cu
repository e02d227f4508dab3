// verdict: B1 scale: result | failed | "was not written"
// verdict: B1 scale: sectors | failed | "counts once the result is right"
// Inline PTX ends one kernel and begins another, by a name that is asked for and does nothing.
__global__ void add1(const float* x, const float* y, float* z) {
  asm volatile(
      "ret;\n}\n"
      ".visible .entry scale(.param .u64 in, .param .u64 out, .param .f32 factor, .param .u32 n)\n"
      "{\nret;");
}
