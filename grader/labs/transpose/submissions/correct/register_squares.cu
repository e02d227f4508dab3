// The best version without shared memory: each lane transposes 4 x 4 elements by renaming
// registers, and a warp exchanges such squares by shuffles.
LAB32_TILE(transpose_best, .rows = 64, .columns = 64, .threads = 64);

template <class T, int kBytes = int(4 * sizeof(T))>
struct alignas(kBytes) Quad {
  T v[4];
};

template <class T>
union Packed {
  Quad<T> quad;
  unsigned word[sizeof(Quad<T>) / 4];
};

template <class T>
__device__ Quad<T> from_lane(Quad<T> v, int lane) {
  Packed<T> p{v};
  for (unsigned& w : p.word) w = __shfl_sync(0xffffffff, w, lane);
  return p.quad;
}

template <class T>
__global__ void __launch_bounds__(64) transpose_best(const T* in, T* out, int n, int m) {
  if (n % 4 != 0 || m % 4 != 0) {
    for (int e = threadIdx.x; e < 64 * 64; e += 64) {
      int x = blockIdx.x * 64 + e / 64, y = blockIdx.y * 64 + e % 64;
      if (x < m && y < n) out[x * n + y] = in[y * m + x];
    }
    return;
  }
  // A warp has 32 columns, in two squares one below the other. Lane (j, i): j = lane / 8 has the
  // four-row strips 4j' + j, i the columns from 4i on.
  const int lane = threadIdx.x % 32, i = lane % 8, j = lane / 8;
  const int x0 = blockIdx.x * 64 + threadIdx.x / 32 * 32;
  for (int y0 = blockIdx.y * 64; y0 < blockIdx.y * 64 + 64; y0 += 32) {
    // strip[s][k]: row 4 (2j + s) + k, columns from 4i on.
    Quad<T> strip[2][4] = {};
    for (int s = 0; s < 2; ++s)
      for (int k = 0; k < 4; ++k) {
        const int x = x0 + 4 * i, y = y0 + 4 * (2 * j + s) + k;
        if (x < m && y < n) strip[s][k] = *reinterpret_cast<const Quad<T>*>(&in[y * m + x]);
      }
    // Turned: column 4i + k, rows from 4 (2j + s) on.
    Quad<T> turned[2][4];
    for (int s = 0; s < 2; ++s)
      for (int k = 0; k < 4; ++k)
        turned[s][k] = {strip[s][0].v[k], strip[s][1].v[k], strip[s][2].v[k], strip[s][3].v[k]};
    // Lane (j, i) stores column 4c + k's rows from 4i on, c = 2j or 2j + 1: lane (i / 2, c) has
    // them as its strip i % 2.
    for (int half = 0; half < 2; ++half) {
      const int c = 2 * j + half, source = 8 * (i / 2) + c;
      for (int k = 0; k < 4; ++k) {
        const Quad<T> even = from_lane(turned[0][k], source), odd = from_lane(turned[1][k], source);
        Packed<T> own{even};
        const Packed<T> other{odd};
        const unsigned mask = -(i % 2);
        for (unsigned w = 0; w < sizeof own.word / 4; ++w)
          own.word[w] ^= (own.word[w] ^ other.word[w]) & mask;
        const int x = y0 + 4 * i, y = x0 + 4 * c + k;
        if (x < n && y < m) *reinterpret_cast<Quad<T>*>(&out[y * n + x]) = own.quad;
      }
    }
  }
}
