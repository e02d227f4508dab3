// verdict: B3 trace: result | failed | "was expected"
// verdict: B3 trace: blocks of 1024 | failed | "counts once the result is right"
// Sixteen steps, whatever `steps` says.
__global__ void __launch_bounds__(1024, 2) trace(const float4* field, const float* start, float* out, int n, int steps) {
  int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
    float x = start[i], y = start[n + i], z = start[2 * n + i];
    float length = 0, low = 1e30f, high = -1e30f, sum = 0, squares = 0;
    float mean_x = 0, mean_y = 0, mean_z = 0, moment_x = 0, moment_y = 0, moment_z = 0;
    for (int k = 0; k < 16; ++k) {
      int cell = int(x) % kSide + kSide * (int(y) % kSide + kSide * (int(z) % kSide));
      float4 f = field[cell];
      x += f.x, y += f.y, z += f.z;
      length += f.x + f.y + f.z;
      low = fminf(low, f.w), high = fmaxf(high, f.w);
      sum += f.w, squares += f.w * f.w;
      mean_x += x, mean_y += y, mean_z += z;
      moment_x += x * f.w, moment_y += y * f.w, moment_z += z * f.w;
    }
    float found[] = {x,      y,      z,        length,   low,     high, sum, squares,
                     mean_x, mean_y, mean_z, moment_x, moment_y, moment_z};
    for (int k = 0; k < 14; ++k) out[k * n + i] = found[k];
  }
}
