// The OpenBLAS that results are compared with: grader/setup/openblas.txt, which a test compares.
#pragma once

namespace lab32::cublas {

constexpr char kPinned[] = "scipy-openblas32==0.3.34.481.3";

}  // namespace lab32::cublas
