#include <cstdio>

#include "base/error.h"
#include "tools/bench/bench_kit.h"

int main(int argc, char** argv) {
  using namespace lab32;
  bench::register_ladder();
  bench::register_launches();
  bench::register_compute();
  bench::register_reading();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return lab32::kNotGraded;
  try {
    benchmark::RunSpecifiedBenchmarks();
  } catch (const Error& e) {
    std::fprintf(stderr, "lab32_bench: %s\n", e.what());
    return lab32::kNotGraded;
  }
  return 0;
}
