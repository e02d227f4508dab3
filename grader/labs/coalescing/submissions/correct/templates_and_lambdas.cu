// Templates instead of loops: sectors by recursion over the lanes, and one loop over elements to
// which three kernels pass a lambda.
template <int kLane>
__device__ int sectors_from(const unsigned long long* address, unsigned active) {
  if constexpr (kLane == 32) {
    return 0;
  } else {
    bool counts = active >> kLane & 1;
    for (int later = kLane + 1; counts && later < 32; ++later)
      counts = !(active >> later & 1 && address[later] / 32 == address[kLane] / 32);
    return counts + sectors_from<kLane + 1>(address, active);
  }
}

__device__ int sectors(const unsigned long long address[32], int bytes, unsigned active) {
  return sectors_from<0>(address, active);
}

// Calls body(i) for kEach elements a thread, those of a block one after the other, a block apart.
template <int kEach, class Body>
__device__ __forceinline__ void for_elements(long long first, long long n, Body body) {
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const long long i = first + threadIdx.x + static_cast<long long>(k) * blockDim.x;
    if (i < n) body(i);
  }
}

__global__ void scale(const float* in, float* out, float factor, int n) {
  const auto scaled = [=](long long i) { out[i] = factor * in[i]; };
  for_elements<16>(16ll * blockDim.x * blockIdx.x, n, scaled);
}

template <int kWide>
struct Tiled {
  int fields, n;
  __device__ int operator()(int field, int i) const {
    return (i / kWide * fields + field) * kWide + i % kWide;
  }
};

__device__ int slot(int field, int i, int n) { return Tiled<32>{kFields, n}(field, i); }

template <class T, int kCount>
struct Tile {
  T at[kCount];
  // All of the block copy `floats` floats, in this direction or in that.
  __device__ void load(const float* from, int floats) {
    for_elements<kCount * sizeof(T) / 4 / 256>(0, floats, [&](int j) { flat()[j] = from[j]; });
    __syncthreads();
  }
  __device__ void store(float* to, int floats) {
    __syncthreads();
    for_elements<kCount * sizeof(T) / 4 / 256>(0, floats, [&](int j) { to[j] = flat()[j]; });
  }
  __device__ float* flat() { return reinterpret_cast<float*>(at); }
};

__global__ void push(const Particle* in, Particle* out, float ex, float ey, float ez, float dt,
                     int n) {
  __shared__ Tile<Particle, 256> tile;
  const int first = 256 * blockIdx.x, floats = kFields * min(256, n - first);
  tile.load(&in[first].x, floats);
  for_elements<1>(0, floats / kFields, [&](int t) {
    Particle& p = tile.at[t];
    const float a = dt * p.charge / p.mass;
    const auto move = [&](float Particle::*place, float Particle::*speed, float field) {
      p.*place += dt * p.*speed;
      p.*speed += a * field;
    };
    move(&Particle::x, &Particle::vx, ex);
    move(&Particle::y, &Particle::vy, ey);
    move(&Particle::z, &Particle::vz, ez);
  });
  tile.store(&out[first].x, floats);
}

__global__ void centre(const float* in, const float* mean, float* out, int n) {
  for_elements<1>(256ll * (4 * blockIdx.x + blockIdx.y), 4ll * n,
                  [=](long long i) { out[i] = in[i] - mean[i % 4]; });
}
