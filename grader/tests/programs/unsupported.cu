// What the simulator does not have is named, and the status says so although the program goes on.
//! gpu: differs
//! stdout| done
//! stderr~ cudaGraphCreate
//! status: 2
#include <cstdio>

int main() {
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  std::printf("done\n");
  return 0;
}
