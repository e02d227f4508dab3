// Loads of 16 bytes from device memory, split for a padded tile; a tile type with its own index
// operator; pointers that are incremented; events four at a time, in size_t.
template <int kRows, int kPitch>
struct Tile {
  int words[kRows * kPitch];
  __device__ int* row(int r) { return words + r * kPitch; }
};

__global__ void row_scan(const int* in, int* out, int n) {
  __shared__ Tile<kBlock, 33> tile;
  size_t first = size_t(kBlock) * blockIdx.x;
  int fours = first < size_t(n) ? 8 * min(kBlock, int(n - first)) : 0;
  const int4* from = reinterpret_cast<const int4*>(in + 32 * first);
  for (int j = threadIdx.x; j < fours; j += blockDim.x) {
    const int4 v = from[j];
    int* to = tile.row(j >> 3) + 4 * (j & 7);
    *to++ = v.x;
    *to++ = v.y;
    *to++ = v.z;
    *to = v.w;
  }
  __syncthreads();
  if (8 * int(threadIdx.x) < fours) {
    int* at = tile.row(threadIdx.x);
#pragma unroll 1
    for (int sum = 0, *end = at + 32; at != end; ++at) *at = sum += *at;
  }
  __syncthreads();
  int4* to = reinterpret_cast<int4*>(out + 32 * first);
  for (int j = threadIdx.x; j < fours; j += blockDim.x) {
    const int* w = tile.row(j >> 3) + 4 * (j & 7);
    to[j] = make_int4(w[0], w[1], w[2], w[3]);
  }
}

__global__ void spectrum(const unsigned* events, unsigned* total, int n) {
  __shared__ unsigned energy[kChannels * kWarpSize];
  for (size_t j = threadIdx.x; j < sizeof(energy) / 4; j += kBlock) energy[j] = 0;
  __syncthreads();
  const auto add = [own = energy + threadIdx.x % kWarpSize](unsigned event) {
    atomicAdd(own + (event & 63) * kWarpSize, event >> 6);
  };
  size_t share = 64 * kBlock, first = share * blockIdx.x;
  size_t count = first < size_t(n) ? min(share, size_t(n) - first) : 0;
  const unsigned* mine = events + first;
  for (size_t j = threadIdx.x; j < count / 4; j += kBlock) {
    const uint4 four = reinterpret_cast<const uint4*>(mine)[j];
    add(four.x);
    add(four.y);
    add(four.z);
    add(four.w);
  }
  if (threadIdx.x < count % 4) add(mine[count / 4 * 4 + threadIdx.x]);
  __syncthreads();
  // Four threads have a channel, each eight of its words, from different banks on.
  unsigned channel = threadIdx.x / 4, part = threadIdx.x % 4, sum = 0;
  for (unsigned k = 0; k < 8; ++k)
    sum += energy[channel * kWarpSize + (8 * part + k + channel) % kWarpSize];
  sum += __shfl_xor_sync(0xffffffffu, sum, 1);
  sum += __shfl_xor_sync(0xffffffffu, sum, 2);
  if (part == 0) atomicAdd(total + channel, sum);
}
