// Simulations: bodies that attract each other, cellular automata, chance.
#include "kernel_kit.h"

// ------------------------------------------------------------------------------------
KERNEL(bodies) {  // n bodies of four floats, tiles of blockDim.x, one at most 256
  __shared__ float4 tile[256];
  const unsigned i = first();
  const float4* all = reinterpret_cast<const float4*>(a);
  const float4 mine = all[i];
  float x = 0, y = 0, z = 0;
  for (unsigned t = 0; t < n; t += blockDim.x) {
    tile[threadIdx.x] = all[t + threadIdx.x];
    __syncthreads();
#pragma unroll 4
    for (unsigned k = 0; k < blockDim.x; ++k) {
      const float4 other = tile[k];
      const float u = other.x - mine.x, v = other.y - mine.y, w = other.z - mine.z;
      const float r = rsqrtf(u * u + v * v + w * w + 0.01f), f = other.w * r * r * r;
      x += u * f, y += v * f, z += w * f;
    }
    __syncthreads();
  }
  reinterpret_cast<float4*>(c)[i] = make_float4(x, y, z, 0);
}

KERNEL(bodies_in_memory) {  // n bodies of four floats, all from device memory
  const unsigned i = first();
  if (i >= n) return;
  const float4* all = reinterpret_cast<const float4*>(a);
  const float4 mine = all[i];
  float x = 0, y = 0, z = 0;
  for (unsigned k = 0; k < n; ++k) {
    const float4 other = all[k];
    const float u = other.x - mine.x, v = other.y - mine.y, w = other.z - mine.z;
    const float square = u * u + v * v + w * w + 0.01f;
    const float f = other.w / (square * sqrtf(square));
    x += u * f, y += v * f, z += w * f;
  }
  reinterpret_cast<float4*>(c)[i] = make_float4(x, y, z, 0);
}

KERNEL(nearest_point) {  // of q points in b, in tiles of blockDim.x, two floats each
  __shared__ float2 tile[256];
  const unsigned i = first();
  const float2 mine = reinterpret_cast<const float2*>(a)[i];
  float best = 1e30f;
  unsigned which = 0;
  for (unsigned t = 0; t < q; t += blockDim.x) {
    tile[threadIdx.x] = reinterpret_cast<const float2*>(b)[t + threadIdx.x];
    __syncthreads();
    for (unsigned k = 0; k < blockDim.x; ++k) {
      const float u = tile[k].x - mine.x, v = tile[k].y - mine.y, d = u * u + v * v;
      if (d < best) best = d, which = t + k;
    }
    __syncthreads();
  }
  words(c)[i] = which;
}

KERNEL(forces_in_tiles) {  // n bodies of four floats, tiles of blockDim.x (128)
  __shared__ float4 tile[128];
  const float4* all = reinterpret_cast<const float4*>(a);
  const float4 mine = all[first()];
  float x = 0, y = 0, z = 0;
  for (unsigned t = 0; t < n; t += 128) {
    tile[threadIdx.x] = all[t + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (unsigned k = 0; k < 128; ++k) {
      const float u = tile[k].x - mine.x, v = tile[k].y - mine.y, w = tile[k].z - mine.z;
      const float square = u * u + v * v + w * w + 0.01f;
      const float f = tile[k].w * __frsqrt_rn(square) / square;
      x += u * f, y += v * f, z += w * f;
    }
    __syncthreads();
  }
  reinterpret_cast<float4*>(c)[first()] = make_float4(x, y, z, 0);
}

KERNEL(nearest_centre) {  // n points of two words, q centres (256 at most) in shared memory
  __shared__ float2 centre[256];
  for (unsigned k = threadIdx.x; k < q; k += blockDim.x)
    centre[k] = reinterpret_cast<const float2*>(b)[k];
  __syncthreads();
  const unsigned i = first();
  if (i >= n) return;
  const float2 mine = reinterpret_cast<const float2*>(a)[i];
  float least = 1e30f;
  unsigned which = 0;
  for (unsigned k = 0; k < q; ++k) {
    const float u = centre[k].x - mine.x, v = centre[k].y - mine.y, d = u * u + v * v;
    if (d < least) least = d, which = k;
  }
  words(c)[i] = which;
}

KERNEL(neighbours_attracted) {  // n points of four words, 16 neighbours each from a list
  const unsigned i = first();
  if (i >= n) return;
  const float4* at = reinterpret_cast<const float4*>(b);
  const float4 here = at[i];
  float x = 0, y = 0, z = 0;
  for (unsigned k = 0; k < 16; ++k) {
    const float4 there = at[(i + (word(a, k * n + i) & 4095)) & (n - 1)];
    const float u = there.x - here.x, v = there.y - here.y, w = there.z - here.z;
    const float r = 1 / (u * u + v * v + w * w + 0.01f), six = r * r * r;
    const float force = six * (six - 0.5f) * r;
    x += force * u, y += force * v, z += force * w;
  }
  reinterpret_cast<float4*>(c)[i] = make_float4(x, y, z, 0);
}

KERNEL(bodies_in_doubles) {  // p bodies of four doubles, tiles of 128 in shared memory
  __shared__ double tile[3][128];
  const unsigned i = first();
  const double here[3] = {real(a, 4 * i), real(a, 4 * i + 1), real(a, 4 * i + 2)};
  double force[3] = {};
  for (unsigned k = 0; k < p; k += 128) {
    for (unsigned d = 0; d < 3; ++d) tile[d][threadIdx.x] = real(a, 4 * (k + threadIdx.x) + d);
    __syncthreads();
#pragma unroll 4
    for (unsigned j = 0; j < 128; ++j) {
      double far[3], r = 0.01;
#pragma unroll
      for (unsigned d = 0; d < 3; ++d) far[d] = tile[d][j] - here[d], r += far[d] * far[d];
      const double near = static_cast<double>(rsqrtf(static_cast<float>(r)));
      const double cube = near * near * near;
#pragma unroll
      for (unsigned d = 0; d < 3; ++d) force[d] += cube * far[d];
    }
    __syncthreads();
  }
  for (unsigned d = 0; d < 3; ++d) reals(c)[4 * i + d] = force[d];
}

KERNEL(molecules_in_cells) {  // p cubed cells of eight, edges joined: forces within a cell's width
  const unsigned i = first();
  if (i >= n) return;
  const float4* at = reinterpret_cast<const float4*>(a);
  const unsigned cell = i / 8, x = cell % p, y = cell / p % p, z = cell / (p * p);
  const float4 here = at[i];
  float3 force = {};
  for (unsigned k = 0; k < 27; ++k) {
    const unsigned u = k % 3, v = k / 3 % 3, w = k / 9;
    const unsigned other =
        ((z + w + p - 1) % p * p + (y + v + p - 1) % p) * p + (x + u + p - 1) % p;
    for (unsigned j = 0; j < 8; ++j) {
      const float4 there = at[other * 8 + j];
      const float dx = there.x - here.x + static_cast<float>(u) - 1;
      const float dy = there.y - here.y + static_cast<float>(v) - 1;
      const float dz = there.z - here.z + static_cast<float>(w) - 1;
      const float r = dx * dx + dy * dy + dz * dz;
      if (r < 1 && r > 0) {
        const float near = 0.1f / (r + 0.01f), six = near * near * near;
        const float by = near * six * (0.5f - six);
        force.x += by * dx, force.y += by * dy, force.z += by * dz;
      }
    }
  }
  reinterpret_cast<float4*>(c)[i] = make_float4(force.x, force.y, force.z, 0);
}

KERNEL(potentials_on_grid) {  // p by p points, four a thread of 16 by 16, of q charges, 64 a tile
  __shared__ float4 charge[64];
  const unsigned u = threadIdx.x, v = threadIdx.y, t = v * 16 + u;
  const unsigned x = blockIdx.x * 64 + u, y = blockIdx.y * 16 + v;
  const float by = 1 / static_cast<float>(p);
  const float px = 1 + static_cast<float>(x) * by, py = 1 + static_cast<float>(y) * by;
  float sum[4] = {};
  for (unsigned k = 0; k < q; k += 64) {
    if (t < 64) charge[t] = reinterpret_cast<const float4*>(b)[k + t];
    __syncthreads();
#pragma unroll 4
    for (unsigned j = 0; j < 64; ++j) {
      const float4 from = charge[j];
      const float dy = py - from.y, dz = 0.5f - from.z, rest = dy * dy + dz * dz;
#pragma unroll
      for (unsigned r = 0; r < 4; ++r) {
        const float dx = px + static_cast<float>(16 * r) * by - from.x;
        sum[r] += from.w * rsqrtf(dx * dx + rest);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (unsigned r = 0; r < 4; ++r) c[y * p + x + 16 * r] = sum[r];
}

KERNEL(game_of_life) {  // rows of p cells, q rows
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x,
                 y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= p || y >= q) return;
  unsigned alive = 0;
  for (int v = -1; v <= 1; ++v)
    for (int u = -1; u <= 1; ++u) {
      const unsigned column = (x + p + u) % p, row = (y + q + v) % q;
      if (u != 0 || v != 0) alive += word(a, row * p + column) & 1;
    }
  words(c)[y * p + x] = alive == 3 || (alive == 2 && (word(a, y * p + x) & 1));
}

KERNEL(life_by_bits) {  // q rows of p words, a bit a cell, one step
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  if (x >= p || y >= q) return;
  unsigned one = 0, two = 0, four = 0;  // digits of the number of neighbours
  const auto count = [&](unsigned bits) {
    const unsigned carry = one & bits;
    one ^= bits;
    four |= two & carry;
    two ^= carry;
  };
  unsigned alive = 0;
#pragma unroll
  for (int v = -1; v <= 1; ++v) {
    if (y + v >= q) continue;
    const unsigned at = (y + v) * p + x, here = word(a, at);
    const unsigned left = x > 0 ? word(a, at - 1) : 0, right = x + 1 < p ? word(a, at + 1) : 0;
    count(__funnelshift_l(left, here, 1));
    count(__funnelshift_r(here, right, 1));
    if (v == 0)
      alive = here;
    else
      count(here);
  }
  words(c)[y * p + x] = two & ~four & (one | alive);
}

KERNEL(cells_by_rule) {  // rings of 1024 cells, n words of bits, a warp a ring: q steps of rule p
  const unsigned i = first(), lane = threadIdx.x % 32;
  if (i >= n) return;
  unsigned cells = word(a, i);
  for (unsigned k = 0; k < q; ++k) {
    const unsigned left = __funnelshift_l(__shfl_sync(~0u, cells, lane + 31), cells, 1);
    const unsigned right = __funnelshift_r(cells, __shfl_sync(~0u, cells, lane + 1), 1);
    unsigned next = 0;
#pragma unroll
    for (unsigned j = 0; j < 8; ++j)
      if (p >> j & 1)
        next |= (j & 4 ? left : ~left) & (j & 2 ? cells : ~cells) & (j & 1 ? right : ~right);
    cells = next;
  }
  words(c)[i] = cells;
}

KERNEL(spins_flipped) {  // q rows of p bytes (powers of two): every other one, by Metropolis' rule
  const unsigned y = blockIdx.y, x = 2 * first() + y % 2, i = y * p + x;
  const auto spin = [&](unsigned u, unsigned v) {
    return bytes(a)[(v & (q - 1)) * p + (u & (p - 1))] & 1 ? 1 : -1;
  };
  const int here = spin(x, y);
  const int around = spin(x - 1, y) + spin(x + 1, y) + spin(x, y - 1) + spin(x, y + 1);
  unsigned state = i * 2654435769u ^ n;
  state ^= state >> 15, state *= 2246822519u, state ^= state >> 13;
  const float chance = static_cast<float>(state >> 8) * (1.0f / (1 << 24));
  const bool flip = chance < __expf(-0.88f * static_cast<float>(here * around));
  reinterpret_cast<signed char*>(c)[i] = flip ? -here : here;
}

KERNEL(darts) {  // Monte Carlo: q darts a thread, hits summed over the warp
  unsigned state = word(a, first() & (n - 1)) | 1, hits = 0;
  for (unsigned k = 0; k < q; ++k) {
    const float x = static_cast<float>(next_random(state) >> 8) * 5.9604645e-8f;
    const float y = static_cast<float>(next_random(state) >> 8) * 5.9604645e-8f;
    hits += x * x + y * y < 1;
  }
  for (unsigned d = 16; d > 0; d /= 2) hits += __shfl_down_sync(0xffffffff, hits, d);
  if (threadIdx.x % 32 == 0) atomicAdd(words(c), hits);
}

KERNEL(price_paths) {  // Monte Carlo: a path of q steps, normal numbers after Box and Muller
  unsigned state = word(a, first() & (n - 1)) | 1;
  float price = 100;
  for (unsigned k = 0; k < q; ++k) {
    const float u = static_cast<float>((next_random(state) >> 8) + 1) * 5.9604645e-8f;
    const float v = static_cast<float>(next_random(state) >> 8) * 5.9604645e-8f;
    price *= __expf(0.01f * sqrtf(-2 * __logf(u)) * __cosf(6.2831853f * v));
  }
  c[first()] = fmaxf(price - 100, 0);
}

KERNEL(walks) {  // Monte Carlo: q steps of a walk on a grid
  unsigned state = word(a, first() & (n - 1)) | 1;
  int x = 0, y = 0;
  for (unsigned k = 0; k < q; ++k) {
    state = state * 1664525u + 1013904223u;
    const unsigned way = state >> 30;
    if (way == 0)
      ++x;
    else if (way == 1)
      --x;
    else if (way == 2)
      ++y;
    else
      --y;
  }
  words(c)[first()] = static_cast<unsigned>(x * x + y * y);
}

KERNEL(dice_thrown) {  // q throws of two dice, sixes counted by xorshift
  unsigned state = word(a, first() & (n - 1)) | 1, sixes = 0;
  for (unsigned k = 0; k < q; ++k) {
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    sixes += state % 6 == 0 && (state >> 16) % 6 == 0;
  }
  words(c)[first()] = sixes;
}

KERNEL(needles_thrown) {  // q throws a thread, xorshift
  unsigned state = first() * 2654435769u + 12345, hits = 0;
  const auto next = [&state] {
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    return static_cast<float>(state >> 8) * (1.0f / (1 << 24));
  };
  for (unsigned k = 0; k < q; ++k) {
    const float at = next(), angle = next() * 3.14159265f;
    hits += at < __sinf(angle) * 0.5f;
  }
  for (unsigned step = 16; step > 0; step /= 2) hits += __shfl_down_sync(~0u, hits, step);
  if (threadIdx.x % 32 == 0) words(c)[first() / 32] = hits;
}

KERNEL(normals_by_rejection) {  // q pairs a thread, summed, by Marsaglia's polar method
  const unsigned i = first();
  if (i >= n) return;
  unsigned state = i * 2654435769u + 97;
  const auto next = [&state] {
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    return static_cast<float>(state >> 8) * (2.0f / (1 << 24)) - 1;
  };
  float sum = 0;
  for (unsigned k = 0; k < q; ++k) {
    float x, y, s;
    do {
      x = next(), y = next();
      s = x * x + y * y;
    } while (s >= 1 || s == 0);
    sum += (x + y) * sqrtf(-2 * __logf(s) / s);
  }
  c[i] = sum;
}

KERNEL(
    photons_scattered) {  // in a slab, q a thread, until they leave or fade: what each depth takes
  __shared__ float taken[64];
  const unsigned t = threadIdx.x;
  if (t < 64) taken[t] = 0;
  __syncthreads();
  unsigned state = first() * 2654435769u + 12345;
  const auto next = [&state] {
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    return (static_cast<float>(state >> 8) + 0.5f) * (1.0f / (1 << 24));
  };
  for (unsigned k = 0; k < q; ++k) {
    float deep = 0, along = 1, weight = 1;
    for (;;) {
      deep -= along * __logf(next());
      if (deep < 0 || deep >= 4) break;
      atomicAdd(taken + static_cast<unsigned>(deep * 16), 0.2f * weight);
      weight *= 0.8f;
      along = 2 * next() - 1;
      if (weight < 0.1f) {
        if (next() > 0.1f) break;
        weight *= 10;
      }
    }
  }
  __syncthreads();
  if (t < 64) atomicAdd(c + t, taken[t]);
}

KERNEL(options_priced) {  // Black and Scholes', with fast functions
  unsigned i = first();
  if (i >= n) return;
  const float price = 10 * a[i], strike = 10 * b[i];
  const float d = (__logf(price / strike) + 0.06f) * 2, e = d - 0.5f;
  const auto below = [](float v) { return 1 / (1 + __expf(-1.702f * v)); };
  c[i] = price * below(d) - strike * __expf(-0.02f) * below(e);
}

KERNEL(option_prices) {  // Black and Scholes
  const unsigned i = first();
  if (i >= n) return;
  const float spot = a[i], strike = b[i];
  const float d1 = (logf(spot / strike) + 0.065f) / 0.3f, d2 = d1 - 0.3f;
  const auto normal = [](float x) { return 0.5f * erfcf(-0.70710678f * x); };
  c[i] = spot * normal(d1) - strike * expf(-0.02f) * normal(d2);
}

KERNEL(options_by_trees) {  // an option a block of 256, a tree of q steps (255 at most)
  __shared__ float value[257];
  const unsigned t = threadIdx.x;
  const float price = 20 * a[blockIdx.x], strike = 20 * b[blockIdx.x];
  const float move = 0.3f * rsqrtf(static_cast<float>(q));
  const float up = 0.5f + 0.1f * move, down = 1 - up, rate = 0.9998f;
  value[t] = fmaxf(
      price * __expf(move * (2 * static_cast<float>(t) - static_cast<float>(q))) - strike, 0.0f);
  __syncthreads();
  for (unsigned step = q; step > 0; --step) {
    float next = 0;
    if (t < step) next = rate * (up * value[t + 1] + down * value[t]);
    __syncthreads();
    if (t < step) value[t] = next;
    __syncthreads();
  }
  if (t == 0) c[blockIdx.x] = value[0];
}
