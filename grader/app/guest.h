// Whole CUDA programs are built and linked apart from the grader: build/runtime/lab32 is this
// program with the simulated CUDA runtime's tools in it. Commands that need them are passed on to
// it.
#pragma once

namespace lab32::commands {

// This process becomes build/runtime/lab32, with the words that it was started with. In a checkout
// where that program has not been built, `make runtime` builds it first. Returns only to throw
// MachineError, when it is not there or cannot be built.
[[noreturn]] void exec_guest();

}  // namespace lab32::commands
