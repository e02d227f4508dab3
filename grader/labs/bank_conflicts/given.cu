// The given kernels of labs/bank_conflicts/bank_conflicts.cu as the grader launches them. They are compiled behind the
// submission, so that changing them in the submission changes nothing (grading/engine/compiled.h).
namespace lab32_given {

__global__ void arbiter(const unsigned* addresses, const int* bytes, const unsigned* active,
                        int* out_store, int* out_load, int patterns) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= patterns) return;
  out_store[p] = ::wavefronts(addresses + 32 * p, bytes[p], active[p]);
  out_load[p] = ::load_wavefronts(addresses + 32 * p, bytes[p], active[p]);
}

template <class T>
__global__ void touch(const T* in, T* out, int stride) {
  __shared__ T data[33 * 32];
  int lane = threadIdx.x;
  data[stride * lane] = in[lane];
  __syncthreads();
  out[lane] = data[stride * (lane ^ 31)];  // another lane's, or nvcc would keep it in a register
}
template __global__ void touch<char>(const char*, char*, int);
template __global__ void touch<short>(const short*, short*, int);
template __global__ void touch<int>(const int*, int*, int);
template __global__ void touch<double>(const double*, double*, int);
template __global__ void touch<int4>(const int4*, int4*, int);

}  // namespace lab32_given
