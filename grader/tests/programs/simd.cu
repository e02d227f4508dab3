// SIMD in a word: the byte and halfword intrinsics against loops over the elements.
//! stdout| 256 pairs: 0 wrong
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kOps = 12;

__global__ void all(const unsigned* a, const unsigned* b, unsigned* out) {
  const unsigned x = a[threadIdx.x], y = b[threadIdx.x];
  unsigned* o = out + threadIdx.x * kOps;
  o[0] = __vadd4(x, y);
  o[1] = __vsub4(x, y);
  o[2] = __vmaxs4(x, y);
  o[3] = __vminu4(x, y);
  o[4] = __vabsdiffu4(x, y);
  o[5] = __vsadu4(x, y);
  o[6] = __vavgu4(x, y);
  o[7] = __vcmpgts4(x, y);
  o[8] = __vadd2(x, y);
  o[9] = __vmaxs2(x, y);
  o[10] = __vabsdiffu2(x, y);
  o[11] = __dp4a(static_cast<int>(x), static_cast<int>(y), 1000);
}

static int part(unsigned w, int i) { return w >> 8 * i & 255; }
static int signed_part(unsigned w, int i) { return static_cast<int8_t>(part(w, i)); }
static int half(unsigned w, int i) { return w >> 16 * i & 65535; }

static unsigned want(int op, unsigned x, unsigned y) {
  unsigned r = op == 11 ? 1000 : 0;
  for (int i = 0; i < 4; ++i) {
    const int p = part(x, i), q = part(y, i), s = signed_part(x, i), t = signed_part(y, i);
    if (op == 5) r += std::abs(p - q);
    if (op == 11) r += s * t;
    const int one = op == 0   ? p + q
                    : op == 1 ? p - q
                    : op == 2 ? (s > t ? s : t)
                    : op == 3 ? (p < q ? p : q)
                    : op == 4 ? std::abs(p - q)
                    : op == 6 ? (p + q + 1) / 2
                              : (s > t ? 255 : 0);
    if (op < 8 && op != 5) r |= static_cast<unsigned>(one & 255) << 8 * i;
  }
  for (int i = 0; i < 2 && op >= 8 && op < 11; ++i) {
    const int p = half(x, i), q = half(y, i);
    const int s = static_cast<int16_t>(p), t = static_cast<int16_t>(q);
    const int one = op == 8 ? p + q : op == 9 ? (s > t ? s : t) : std::abs(p - q);
    r |= static_cast<unsigned>(one & 65535) << 16 * i;
  }
  return r;
}

int main() {
  std::vector<unsigned> a(256), b(256), got(256 * kOps);
  unsigned x = 1;
  for (int i = 0; i < 256; ++i) {
    a[i] = x = x * 1664525u + 1013904223u;
    b[i] = x = x * 1664525u + 1013904223u;
  }
  a[0] = 0x80ff7f00u;
  b[0] = 0x7f01ff80u;
  unsigned *da, *db, *out;
  cudaMalloc(&da, 1024);
  cudaMalloc(&db, 1024);
  cudaMalloc(&out, 1024 * kOps);
  cudaMemcpy(da, a.data(), 1024, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), 1024, cudaMemcpyHostToDevice);
  all<<<1, 256>>>(da, db, out);
  cudaMemcpy(got.data(), out, 1024 * kOps, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < 256; ++i)
    for (int op = 0; op < kOps; ++op)
      if (got[i * kOps + op] != want(op, a[i], b[i])) {
        if (wrong++ < 5) std::printf("operation %d of %08x %08x: %08x\n", op, a[i], b[i], got[i * kOps + op]);
      }
  std::printf("256 pairs: %d wrong\n", wrong);
  return wrong != 0;
}
