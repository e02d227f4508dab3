// All accesses to shared words are atomic, so none races. But an atomic load may return an older
// value until a fence orders it after the store.
//! case ticket
//! gpu: faulty
//! stdout| 2016
//! check: race 1
//! case ticket_block
//! gpu: faulty
//! stdout| 2016
//! check: race 1
//! case ticket_fenced_before
//! gpu: faulty
//! stdout| 2016
//! check: race 1
//! case ticket_fenced
//! stdout| 2016
//! case flags
//! gpu: faulty
//! stdout| 2016
//! check: race 1
//! case flags_fenced
//! stdout| 2016
//! case two_steps
//! gpu: undefined
//! check: race 1
//! case one_step
//! stdout| 2016
//! case chain
//! stdout| 2016
#include <cuda/atomic>

#include <cstdio>
#include <cstring>

constexpr int kBlocks = 64;
constexpr auto kRelaxed = cuda::memory_order_relaxed;
using Word = cuda::atomic_ref<int, cuda::thread_scope_device>;

enum Fence { none, of_block, of_device };
template <Fence fence>
__device__ void order() {
  if (fence == of_block) __threadfence_block();
  if (fence == of_device) __threadfence();
}

// The last block to draw a ticket adds what all have stored.
template <Fence before, Fence after = before>
__global__ void ticket(int* values, int* tickets, int* out) {
  Word(values[blockIdx.x]).store(blockIdx.x, kRelaxed);
  order<before>();
  if (Word(*tickets).fetch_add(1, kRelaxed) != kBlocks - 1) return;
  order<after>();
  int sum = 0;
  for (int b = 0; b < kBlocks; ++b) sum += Word(values[b]).load(kRelaxed);
  *out = sum;
}

// The last block waits for the flag of each other block.
template <Fence fence>
__global__ void flags(int* values, int* ready, int* out) {
  if (blockIdx.x != kBlocks - 1) {
    Word(values[blockIdx.x]).store(blockIdx.x, kRelaxed);
    order<of_device>();
    return Word(ready[blockIdx.x]).store(1, kRelaxed);
  }
  int sum = kBlocks - 1;
  for (int b = 0; b < kBlocks - 1; ++b) {
    while (Word(ready[b]).load(kRelaxed) == 0) {
    }
    order<fence>();
    sum += Word(values[b]).load(kRelaxed);
  }
  *out = sum;
}

__global__ void two_steps(int* out) {
  Word(*out).store(Word(*out).load(kRelaxed) + blockIdx.x, kRelaxed);
}

__global__ void one_step(int* out) { Word(*out).fetch_add(blockIdx.x, kRelaxed); }

// Each block adds its number to its predecessor's sum. Sum and flag are one word: no fence.
__global__ void chain(int* passed_on, int* out) {
  int sum = blockIdx.x, before = 0;
  if (blockIdx.x > 0) {
    while ((before = Word(passed_on[blockIdx.x - 1]).load(kRelaxed)) == 0) {
    }
    sum += before - 1;
  }
  Word(passed_on[blockIdx.x]).store(sum + 1, kRelaxed);
  if (blockIdx.x == kBlocks - 1) *out = sum;
}

int main(int, char** argv) {
  int* words;
  cudaMalloc(&words, (2 * kBlocks + 1) * sizeof(int));
  cudaMemset(words, 0, (2 * kBlocks + 1) * sizeof(int));
  int *values = words, *others = words + kBlocks, *out = words + 2 * kBlocks, sum = 0;
  const auto is = [&](const char* name) { return std::strcmp(argv[1], name) == 0; };
  if (is("ticket")) ticket<none><<<kBlocks, 1>>>(values, others, out);
  if (is("ticket_block")) ticket<of_block><<<kBlocks, 1>>>(values, others, out);
  if (is("ticket_fenced_before"))
    ticket<of_device, none><<<kBlocks, 1>>>(values, others, out);
  if (is("ticket_fenced")) ticket<of_device><<<kBlocks, 1>>>(values, others, out);
  if (is("flags")) flags<none><<<kBlocks, 1>>>(values, others, out);
  if (is("flags_fenced")) flags<of_device><<<kBlocks, 1>>>(values, others, out);
  if (is("two_steps")) two_steps<<<kBlocks, 1>>>(out);
  if (is("one_step")) one_step<<<kBlocks, 1>>>(out);
  if (is("chain")) chain<<<kBlocks, 1>>>(values, out);
  cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost);
  std::printf("%d\n", sum);
  return 0;
}
