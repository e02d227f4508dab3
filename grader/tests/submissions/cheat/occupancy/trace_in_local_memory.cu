// verdict: B3 trace: blocks of 1024 | failed | "ptxas keeps values in local memory"
// Few registers, because the sums lie in an array that the compiler must keep in memory.
__global__ void trace(const float4* field, const float* start, float* out, int n, int steps) {
  int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
    float x = start[i], y = start[n + i], z = start[2 * n + i];
    float length = 0, low = 1e30f, high = -1e30f, sum = 0, squares = 0;
    volatile float moment[6] = {};
    for (int k = 0; k < steps; ++k) {
      int cell = int(x) % kSide + kSide * (int(y) % kSide + kSide * (int(z) % kSide));
      float4 f = field[cell];
      x += f.x, y += f.y, z += f.z;
      length += f.x + f.y + f.z;
      low = fminf(low, f.w), high = fmaxf(high, f.w);
      sum += f.w, squares += f.w * f.w;
      moment[0] = moment[0] + x; moment[1] = moment[1] + y; moment[2] = moment[2] + z;
      moment[3] = moment[3] + x * f.w; moment[4] = moment[4] + y * f.w; moment[5] = moment[5] + z * f.w;
    }
    float found[] = {x,      y,      z,        length,   low,     high, sum, squares,
                     moment[0], moment[1], moment[2], moment[3], moment[4], moment[5]};
    for (int k = 0; k < 14; ++k) out[k * n + i] = found[k];
  }
}
