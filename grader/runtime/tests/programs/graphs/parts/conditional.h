// Kernels and functions that graph_conditional.cu and graph_conditional_faults.cu share.
#pragma once

#include <cuda.h>

#include <cstdio>
#include <cstdlib>

using Handle = cudaGraphConditionalHandle;

__global__ void set(Handle h, const int* v, int more) { cudaGraphSetConditional(h, *v > more); }
__global__ void choose(Handle h, const int* v) { cudaGraphSetConditional(h, *v); }
__global__ void all_set(Handle h, int v) { cudaGraphSetConditional(h, v); }
__global__ void add(int* v, int n) { *v += n; }
__global__ void step(Handle h, int* v, int* steps) {
  *steps += 1;
  *v -= 1;
  cudaGraphSetConditional(h, *v > 0);
}
__global__ void odd(Handle h, const int* v) { cudaGraphSetConditional(h, *v & 1); }

void say(const char* what, cudaError_t e) { std::printf("%s: %s\n", what, cudaGetErrorName(e)); }

int *v, *w;  // one word each

void put(int* at, int value) { cudaMemcpy(at, &value, sizeof value, cudaMemcpyHostToDevice); }
int get(const int* at) {
  int value = 0;
  cudaMemcpy(&value, at, sizeof value, cudaMemcpyDeviceToHost);
  return value;
}

template <class... Args>
cudaGraphNode_t kernel(cudaGraph_t g, cudaGraphNode_t from, void* f, Args... args) {
  void* pointers[] = {&args...};
  cudaGraphNodeParams p{};
  p.type = cudaGraphNodeTypeKernel;
  p.kernel.func = f;
  p.kernel.gridDim = p.kernel.blockDim = dim3(1);
  p.kernel.kernelParams = pointers;
  cudaGraphNode_t node = nullptr;
  const cudaError_t e =
      cudaGraphAddNode(&node, g, from ? &from : nullptr, nullptr, from ? 1 : 0, &p);
  if (e) say("a kernel's node", e);
  return node;
}

cudaError_t conditional(cudaGraphNode_t* node, cudaGraph_t* bodies, cudaGraph_t g,
                        cudaGraphNode_t from, Handle h, cudaGraphConditionalNodeType type,
                        unsigned size) {
  cudaGraphNodeParams p{};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = h;
  p.conditional.type = type;
  p.conditional.size = size;
  const cudaError_t e =
      cudaGraphAddNode(node, g, from ? &from : nullptr, nullptr, from ? 1 : 0, &p);
  if (!e)
    for (unsigned i = 0; i < size; ++i) bodies[i] = p.conditional.phGraph_out[i];
  return e;
}

void run(const char* what, cudaGraphExec_t e, int value) {
  put(v, value), put(w, 0);
  const cudaError_t r = cudaGraphLaunch(e, nullptr);
  const cudaError_t s = cudaDeviceSynchronize();
  std::printf("%s %d: v %d, w %d%s%s\n", what, value, get(v), get(w), r ? cudaGetErrorName(r) : "",
              s ? cudaGetErrorName(s) : "");
}
