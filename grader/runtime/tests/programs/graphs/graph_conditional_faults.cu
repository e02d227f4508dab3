// Conditional nodes of graphs: what is refused, and conditions that are set from elsewhere.
//! nvcc: -rdc=true -lcuda
//! case
//! stdout| cudaGraphConditionalHandleCreate(nullptr, g, 0, 0): cudaErrorInvalidValue
//! stdout| cudaGraphConditionalHandleCreate(&h, nullptr, 0, 0): cudaErrorInvalidValue
//! stdout| cudaGraphConditionalHandleCreate(&h, g, 0, 2): cudaErrorInvalidValue
//! stdout| cudaGraphConditionalHandleCreate(&h, g, 5, 0): cudaSuccess
//! stdout| cudaGraphConditionalHandleCreate(&h, g, 0, 0): cudaSuccess
//! stdout| conditional(&node, body, g, nullptr, h, cudaGraphCondTypeIf, 0): cudaErrorInvalidValue
//! stdout| conditional(&node, body, g, nullptr, h, cudaGraphCondTypeIf, 3): cudaErrorInvalidValue
//! stdout| conditional(&node, body, g, nullptr, h, cudaGraphCondTypeWhile, 2): cudaErrorInvalidValue
//! stdout| conditional(&node, body, g, nullptr, h, cudaGraphCondTypeSwitch, 0): cudaErrorInvalidValue
//! stdout| conditional(&node, body, g, nullptr, h, cudaGraphConditionalNodeType(7), 1): cudaErrorInvalidValue
//! stdout| conditional(&node, body, other, nullptr, h, cudaGraphCondTypeIf, 1): cudaErrorInvalidValue
//! stdout| conditional(&node, body, g, nullptr, h + 77777, cudaGraphCondTypeIf, 1): cudaErrorInvalidValue
//! stdout| conditional(&node, body, g, nullptr, h, cudaGraphCondTypeIf, 1): cudaSuccess
//! stdout| conditional(&node, body, g, nullptr, h, cudaGraphCondTypeIf, 1): cudaErrorInvalidValue
//! stdout| cudaGraphInstantiate(&e, g, 0): cudaErrorInvalidValue
//! stdout| conditional(&node, body, g, nullptr, h, cudaGraphCondTypeIf, 1): cudaSuccess
//! stdout| cudaGraphInstantiate(&e, g, 0): cudaErrorInvalidValue
//! stdout| cudaGraphInstantiateWithParams(&e, g, &p): cudaErrorInvalidValue
//! stdout| result 5
//! stdout| cudaGraphAddNode(&node, g, nullptr, nullptr, 0, &n): cudaErrorInvalidValue
//! stdout| cudaGraphAddNode(&node, g, nullptr, nullptr, 0, nullptr): cudaErrorInvalidValue
//! stdout| cudaGraphAddNode(&node, g, nullptr, nullptr, 0, &n): cudaErrorInvalidValue
//! stdout| cudaGraphDestroy(g): cudaSuccess
//! check: memory 8
//! case 2
//! stdout| cudaGraphInstantiate(&e, g, 0): cudaSuccess
//! stdout| launch: cudaSuccess
//! stdout| cudaDeviceSynchronize(): cudaErrorIllegalAddress
//! stdout| if 0: v 0, w 0cudaErrorIllegalAddresscudaErrorIllegalAddress
//! stderr~ which is not a handle of a running graph
//! status: 1
//! case 4
//! stdout| cudaGraphInstantiate(&e, g, 0): cudaSuccess
//! stdout| cudaGraphInstantiate(&o, other, 0): cudaSuccess
//! stdout| other 0: v 0, w 0cudaErrorIllegalAddress
//! stdout| if 0: v 0, w 0cudaErrorIllegalAddresscudaErrorIllegalAddress
//! stderr~ which is not a handle of a running graph
//! status: 1
#include "parts/conditional.h"

#define SAY(call) say(#call, call)

void wrong() {
  cudaGraph_t g, other, body[4];
  Handle h, unused;
  cudaGraphNode_t node;
  cudaGraphCreate(&g, 0);
  cudaGraphCreate(&other, 0);
  SAY(cudaGraphConditionalHandleCreate(nullptr, g, 0, 0));
  SAY(cudaGraphConditionalHandleCreate(&h, nullptr, 0, 0));
  SAY(cudaGraphConditionalHandleCreate(&h, g, 0, 2));
  SAY(cudaGraphConditionalHandleCreate(&h, g, 5, 0));
  SAY(cudaGraphConditionalHandleCreate(&h, g, 0, 0));
  SAY(conditional(&node, body, g, nullptr, h, cudaGraphCondTypeIf, 0));
  SAY(conditional(&node, body, g, nullptr, h, cudaGraphCondTypeIf, 3));
  SAY(conditional(&node, body, g, nullptr, h, cudaGraphCondTypeWhile, 2));
  SAY(conditional(&node, body, g, nullptr, h, cudaGraphCondTypeSwitch, 0));
  SAY(conditional(&node, body, g, nullptr, h, cudaGraphConditionalNodeType(7), 1));
  SAY(conditional(&node, body, other, nullptr, h, cudaGraphCondTypeIf, 1));
  SAY(conditional(&node, body, g, nullptr, h + 77777, cudaGraphCondTypeIf, 1));
  SAY(conditional(&node, body, g, nullptr, h, cudaGraphCondTypeIf, 1));
  SAY(conditional(&node, body, g, nullptr, h, cudaGraphCondTypeIf, 1));
  cudaGraphExec_t e;
  SAY(cudaGraphInstantiate(&e, g, 0));
  cudaGetLastError();
  cudaGraphDestroy(g);
  cudaGraphCreate(&g, 0);
  cudaGraphConditionalHandleCreate(&h, g, 0, 0);
  cudaGraphConditionalHandleCreate(&unused, g, 0, 0);
  SAY(conditional(&node, body, g, nullptr, h, cudaGraphCondTypeIf, 1));
  SAY(cudaGraphInstantiate(&e, g, 0));
  cudaGraphInstantiateParams p{};
  SAY(cudaGraphInstantiateWithParams(&e, g, &p));
  std::printf("result %d\n", p.result_out);
  cudaGetLastError();
  cudaGraphNodeParams n{};
  n.type = cudaGraphNodeTypeCount;
  SAY(cudaGraphAddNode(&node, g, nullptr, nullptr, 0, &n));
  SAY(cudaGraphAddNode(&node, g, nullptr, nullptr, 0, nullptr));
  n.type = cudaGraphNodeTypeKernel;
  n.reserved2 = 5;
  SAY(cudaGraphAddNode(&node, g, nullptr, nullptr, 0, &n));
  cudaGetLastError();
  SAY(cudaGraphDestroy(g));
}

// A handle outside of its graph.
void misused(int which) {
  cudaGraph_t g, other, body[1];
  Handle h;
  cudaGraphNode_t node;
  cudaGraphExec_t e;
  cudaGraphCreate(&g, 0);
  cudaGraphCreate(&other, 0);
  cudaGraphConditionalHandleCreate(&h, g, 0, cudaGraphCondAssignDefault);
  conditional(&node, body, g, nullptr, h, cudaGraphCondTypeIf, 1);
  kernel(body[0], nullptr, (void*)add, w, 10);
  if (which == 1) {  // launched by hand, before there is an executable graph
    all_set<<<1, 1>>>(h, 1);
    say("launch", cudaGetLastError());
    SAY(cudaDeviceSynchronize());
  }
  SAY(cudaGraphInstantiate(&e, g, 0));
  if (which == 2) {
    all_set<<<1, 1>>>(h, 1);
    say("launch", cudaGetLastError());
    SAY(cudaDeviceSynchronize());
  }
  if (which == 3) {
    all_set<<<1, 1>>>(123456789, 1);
    SAY(cudaDeviceSynchronize());
  }
  if (which == 4) {  // in another graph
    kernel(other, nullptr, (void*)all_set, h, 1);
    cudaGraphExec_t o;
    SAY(cudaGraphInstantiate(&o, other, 0));
    run("other", o, 0);
  }
  if (which == 5) {  // two executable graphs of one
    cudaGraphExec_t again;
    SAY(cudaGraphInstantiate(&again, g, 0));
    run("again", again, 0);
  }
  run("if", e, 0);
}

int main(int argc, char** argv) {
  cudaMalloc(&v, 4);
  cudaMalloc(&w, 4);
  if (argc > 1) {
    misused(std::atoi(argv[1]));
    return cudaGetLastError() != cudaSuccess;
  }
  wrong();
  return 0;
}
