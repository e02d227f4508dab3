// Launches every kernel of grader/tests/sass once, with inputs that a formula gives, so that a
// profiler's counts of them can be compared with the simulator's. Prints one line a launch when it
// is asked to: launch_all list
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../../../grader/tests/sass/kernels.cu"

namespace {

constexpr int kBytes = 16 << 20;

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "launch_all: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(2);
}

unsigned hash(unsigned i) { return (i * 2654435761u) >> 16; }

// Values small enough for any sum; as bytes, ints (a third not positive), floats, or doubles.
template <typename T>
T* buffer(T (*value)(unsigned)) {
  T* host = static_cast<T*>(std::malloc(kBytes));
  for (unsigned i = 0; i < kBytes / sizeof(T); ++i) host[i] = value(i);
  T* device = nullptr;
  check(cudaMalloc(&device, kBytes), "cudaMalloc");
  check(cudaMemcpy(device, host, kBytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  std::free(host);
  return device;
}

bool listing = false;

#define RUN(kernel, grid, block, ...)                                     \
  do {                                                                    \
    if (listing) std::printf("%s\n", #kernel);                            \
    kernel<<<grid, block>>>(__VA_ARGS__);                                 \
    check(cudaGetLastError(), #kernel);                                   \
    check(cudaDeviceSynchronize(), #kernel);                              \
  } while (0)

}  // namespace

int main(int argc, char** argv) {
  listing = argc > 1 && std::strcmp(argv[1], "list") == 0;
  auto* bytes = buffer<unsigned char>([](unsigned i) -> unsigned char { return hash(i) & 255; });
  auto* ints = buffer<int>([](unsigned i) -> int { return int(hash(i) % 96) - 32; });
  auto* shorts = buffer<short>([](unsigned i) -> short { return short(hash(i) % 100); });
  auto* floats = buffer<float>([](unsigned i) -> float { return float(hash(i) % 64); });
  auto* doubles = buffer<double>([](unsigned i) -> double { return double(hash(i) % 64); });
  auto* longs = buffer<unsigned long long>([](unsigned i) -> unsigned long long { return hash(i); });
  auto* out = buffer<int>([](unsigned) -> int { return 0; });
  auto* out2 = buffer<int>([](unsigned) -> int { return 0; });
  auto* fout = reinterpret_cast<float*>(out);
  auto* fout2 = reinterpret_cast<float*>(out2);
  auto* dout = reinterpret_cast<double*>(out);
  auto* uints = reinterpret_cast<unsigned*>(ints);
  auto* uout = reinterpret_cast<unsigned*>(out);
  constexpr int n = 1 << 14;     // whole blocks
  constexpr int odd = n - 77;    // a last warp partly beyond the end

  // global.cuh
  RUN(copy, 64, 256, floats, fout, n);
  RUN(copy, 64, 256, floats, fout, odd);
  RUN(add_restrict, 64, 256, floats, floats + 1, fout, odd);
  RUN(add_swapped, 64, 256, floats, floats + n, fout);
  RUN(strided_copy, 64, 256, floats, fout, n, 4);
  RUN(scale_grid_stride, 16, 256, fout2, 1.5f, n);
  RUN(scale_grid_stride, 16, 256, fout2, 1.5f, odd);
  RUN(scale_own_run, 4, 256, floats, fout, 1.5f, odd);
  RUN(sum_own_run, 64, 256, floats, fout);
  RUN(aos_one_field, 64, 256, reinterpret_cast<const Particle*>(floats), fout, odd);
  RUN(aos_move, 64, 256, reinterpret_cast<Particle*>(fout2), 0.1f, odd);
  RUN(soa_move, 64, 256, fout, fout2, floats, floats + n, 0.1f, odd);
  RUN(lengths, 64, 256, reinterpret_cast<const Float3*>(floats), fout, odd);
  RUN(copy_float4, 64, 256, reinterpret_cast<const float4*>(floats),
      reinterpret_cast<float4*>(fout), odd);
  RUN(scale_float4_tail, 64, 256, floats, fout, 1.5f, 4 * n - 77);
  RUN(int4_ends, 64, 256, reinterpret_cast<const int4*>(ints), out);
  RUN(int4_low_half, 64, 256, reinterpret_cast<const int4*>(ints), out);
  RUN(int4_last, 64, 256, reinterpret_cast<const int4*>(ints), out);
  RUN(bytes_to_words, 64, 256, bytes, out, odd);
  RUN(shorts_and_doubles, 64, 256, shorts, doubles, dout, odd);
  RUN(same_load_twice, 64, 256, floats, fout, odd);
  RUN(called_function, 64, 256, floats, fout, odd);
  RUN(inlined_function, 64, 256, floats, fout, odd);
  RUN(branchy, 64, 256, reinterpret_cast<const float*>(floats), fout, odd);
  RUN(local_array, 64, 256, ints, out);
  RUN(polynomial, 64, 256, floats, fout, odd);
  RUN(stencil, 64, 256, floats, fout, odd);
  RUN(column_sum, 4, 256, floats, fout, 61, 1024);
  RUN(row_sum, 4, 256, floats, fout, 1024, 61);

  // shared.cuh
  RUN(sum_quad, 16, 512, ints, out);
  RUN(sum_quad_loop, 16, 512, ints, out);
  RUN(store_quad, 16, 128, ints, out);
  RUN(tile_row_sum, 16, 32, floats, fout);
  RUN(tile_column_sum, 16, 32, floats, fout);
  RUN(padded_row_sum, 16, 32, floats, fout);
  RUN(shared_run, 16, 256, floats, fout, 1003);
  RUN(transpose_naive, dim3(4, 4), dim3(32, 32), floats, fout, 121);
  RUN(transpose_tile, dim3(4, 4), dim3(32, 8), floats, fout, 128);
  RUN(transpose_swizzled, dim3(4, 4), dim3(32, 32), floats, fout, 128);
  RUN(matrix_product, dim3(8, 8), dim3(16, 16), floats, floats + 16384, fout, 128);
  if (listing) std::printf("dynamic_reverse\n");
  dynamic_reverse<<<16, 256, 1024>>>(ints, out);
  check(cudaDeviceSynchronize(), "dynamic_reverse");
  RUN(stage_float4, 16, 128, reinterpret_cast<const float4*>(floats), fout);
  RUN(staged_structures, 16, 256, floats, fout, 16 * 2048 - 777);
  RUN(async_copy, 16, 128, reinterpret_cast<const float4*>(floats),
      reinterpret_cast<float4*>(fout));
  RUN(store_between, 1, 256, out);
  RUN(volatile_loads, 1, 32, out);
  RUN(bytes_in_shared, 1, 1024, bytes, out);
  RUN(load_matrix, 1, 32, reinterpret_cast<const uint4*>(ints), uout);

  // reductions.cuh
  RUN(reduce_modulo, 16, 256, ints, out);
  RUN(reduce_interleaved, 16, 256, ints, out);
  RUN(reduce_sequential, 16, 256, ints, out);
  RUN(reduce_first_add, 16, 256, ints, out);
  RUN(reduce_volatile_warp, 16, 256, ints, out);
  RUN(reduce_unrolled<128>, 16, 128, ints, out);
  RUN(reduce_unrolled<512>, 16, 512, ints, out);
  RUN(reduce_grid_stride<256>, 4, 256, ints, out, unsigned(n));
  RUN(reduce_grid_stride<256>, 4, 256, ints, out, unsigned(odd));
  RUN(reduce_shuffle, 4, 256, floats, fout, n);
  RUN(reduce_shuffle, 4, 256, floats, fout, odd);
  RUN(reduce_vectorized, 16, 256, reinterpret_cast<const int4*>(ints), out, 4000);
  RUN(softmax_row, 16, 32, floats, fout, 2048);
  RUN(softmax_row, 16, 32, floats, fout, 1003);
  RUN(scan_block, 16, 256, ints, out);

  // atomics.cuh
  RUN(count_uniform, 64, 256, ints, out, odd);
  RUN(count_ones, 64, 256, ints, out, odd);
  RUN(max_uniform, 64, 256, ints, out, odd);
  RUN(or_uniform, 64, 256, uints, uout, odd);
  check(cudaMemset(out2, 0, 4), "cudaMemset");
  RUN(tickets, 64, 256, ints, out2, out, odd);
  RUN(add_float_uniform, 64, 256, floats, fout, odd);
  RUN(add_double_uniform, 64, 256, doubles, dout, odd);
  RUN(histogram_global, 64, 256, bytes, uout, odd);
  RUN(histogram_weights, 64, 256, bytes, uints, uout, odd);
  RUN(histogram_shared, 4, 256, bytes, uout, odd);
  RUN(shared_count, 16, 256, ints, out);
  RUN(shared_sum, 16, 256, ints, out);
  RUN(shared_bins, 16, 256, ints, out);
  RUN(shared_tickets, 16, 256, ints, out);
  RUN(shared_max, 16, 256, ints, out);
  RUN(shared_float_add, 16, 32, floats, fout);
  RUN(shared_float_add, 16, 256, floats, fout);
  RUN(shared_float_total, 16, 32, floats, fout);
  RUN(shared_float_total, 16, 256, floats, fout);
  RUN(shared_double_add, 16, 32, doubles, dout);
  RUN(shared_double_add, 16, 256, doubles, dout);
  RUN(shared_long_add, 16, 32, longs, reinterpret_cast<unsigned long long*>(out));
  RUN(exchange, 64, 256, out2, out);
  RUN(exchange_unused, 64, 256, out2);
  RUN(compare_swap, 64, 256, out2, out);
  RUN(shared_compare_swap, 1, 256, out);
  RUN(leader_adds, 64, 256, ints, out);
  RUN(block_adds, 16, 256, ints, out);
  return 0;
}
