// Shuffles, votes, matches and reductions of a warp.
//! stdout| down 528 xor 496 up 31 idx 13 segment 60
//! stdout| ballot 55555555 any 1 all 0 match 8 lanes, all alike 1
//! stdout| redux 496 31 0 1f
//! stdout| double 31.5, long 4294967297
#include <cstdio>

__global__ void warp(unsigned* out, double* wide) {
  const unsigned all = 0xffffffffu;
  const unsigned t = threadIdx.x;
  unsigned sum = t + 1;
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(all, sum, d);
  unsigned butterfly = t;
  for (int d = 1; d < 32; d *= 2) butterfly += __shfl_xor_sync(all, butterfly, d);
  unsigned scan = t == 0 ? 0 : 1;
  for (int d = 1; d < 32; d *= 2) {
    const unsigned v = __shfl_up_sync(all, scan, d);
    if (t >= d) scan += v;
  }
  const unsigned from = __shfl_sync(all, t, 13);
  unsigned segment = t;
  for (int d = 4; d > 0; d /= 2) segment += __shfl_down_sync(all, segment, d, 8);
  const unsigned ballot = __ballot_sync(all, t % 2 == 0);
  const int any = __any_sync(all, t == 7), every = __all_sync(all, t < 31);
  const unsigned same = __match_any_sync(all, t % 4);
  int alike;
  __match_all_sync(all, 5, &alike);
  const unsigned added = __reduce_add_sync(all, t), most = __reduce_max_sync(all, t),
                 least = __reduce_min_sync(all, t), bits = __reduce_or_sync(all, t);
  const double d = __shfl_xor_sync(all, t + 0.5, 31);
  const long long l = __shfl_sync(all, (1ll << 32) * (t + 1) + 1, 0);
  if (t == 31) out[2] = scan;
  if (t == 8) out[4] = segment - 32;  // lanes 8 to 15
  if (t != 0) return;
  out[0] = sum;
  out[1] = butterfly;
  out[3] = from;
  out[5] = ballot;
  out[6] = any;
  out[7] = every;
  out[8] = __popc(same);
  out[9] = alike;
  out[10] = added;
  out[11] = most;
  out[12] = least;
  out[13] = bits;
  wide[0] = d;
  wide[1] = static_cast<double>(l);
}

int main() {
  unsigned *out, v[14];
  double *wide, w[2];
  cudaMalloc(&out, sizeof v);
  cudaMalloc(&wide, sizeof w);
  warp<<<1, 32>>>(out, wide);
  cudaMemcpy(v, out, sizeof v, cudaMemcpyDeviceToHost);
  cudaMemcpy(w, wide, sizeof w, cudaMemcpyDeviceToHost);
  std::printf("down %u xor %u up %u idx %u segment %u\n", v[0], v[1], v[2], v[3], v[4]);
  std::printf("ballot %08x any %u all %u match %u lanes, all alike %u\n", v[5], v[6], v[7], v[8],
              v[9]);
  std::printf("redux %u %u %u %x\n", v[10], v[11], v[12], v[13]);
  std::printf("double %.1f, long %.0f\n", w[0], w[1]);
  return 0;
}
