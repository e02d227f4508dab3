// verdict: B1 follow: warps that wait | failed | "While a warp waits"
// As names_the_graders_kernels.cu, with a name that macros make.
LAB32_LAUNCH(follow, .block = 32, .items_per_thread = 8);

#define PASTE(a, b) a##b
namespace PASTE(lab32_, given) {
struct Index {
  struct X {
    __device__ operator unsigned() const { return blockDim.x == 32 ? 1u << 20 : ::threadIdx.x; }
  } x;
};
__device__ Index threadIdx;
}
