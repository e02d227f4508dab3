// Faults in the host's part of a program: calls that fail, copies of memory that nothing has
// written, memory that is never freed. `lab32 check` reports all of them, `profile` says which
// launches failed, and `run` names at the program's end a failed call that the program ignored.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/cudart/call_site.h"
#include "runtime/cudart/runtime.h"
#include "runtime/record/recording.h"

namespace lab32::cudart {

// The call that this thread is in.
struct CurrentCall {
  const char* name = "";
  bool waits = false;
  std::string reason;  // why it fails, in words; empty: the error's own text says enough
};
CurrentCall& current_call();

// Gives the current call's failure a reason, and returns the error.
cudaError_t fail(cudaError_t error, std::string reason);

// The current call has ended with this error.
void note_failure(Runtime& runtime, cudaError_t error);
// The program has looked at this error, or at the last one.
void note_question(cudaError_t error);

// Under `check`: bytes that nothing has written are copied from an allocation to the host.
// `first`: the offset of the first such byte.
void note_unwritten_copy(const sim::Allocation& from, uint64_t first, uint64_t bytes);

// Records a finding, once for each call, place and kind.
void record_finding(record::HostFinding finding, const CallSite& site);

// The program resets a device, or ends.
void note_leaks(Runtime& runtime, int device);
// The program has called exit() with this status. What it leaves is reported when none of its code
// runs any more.
void note_exit(int status);

}  // namespace lab32::cudart
