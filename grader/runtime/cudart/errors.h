// The runtime's error state: one a host thread.
#pragma once

#include <string>
#include <vector>

#include "runtime/cudart/api.h"

namespace lab32::cudart {

// What this thread's cudaGetLastError() will report.
cudaError_t& last_error();

// The driver's function that this thread is in; nullptr: none.
const char*& called_as();

// Remembers an error (success leaves what is there; so do the driver's functions) and hands it
// through.
cudaError_t remember(cudaError_t error);

// "cudaErrorInvalidValue" and "invalid argument"; "unrecognized error code" for others.
const char* error_name(cudaError_t error);
const char* error_text(cudaError_t error);

// What the simulator does not do: its first line is said once on stderr, with the place of the call
// where it is known. From here on the program's exit status is 2 when it ends by itself or aborts,
// so that no result stands that was computed without it; the first message says so.
void refuse(const std::string& message);

// Where messages of the runtime's own go: "lab32: TEXT" on stderr.

void say(const std::string& text);

// The functions of the runtime that are only there to say that they are not.

// By name, sorted.
std::vector<std::string> refused_names();

// What is said when it is called.
std::string refusal_of(const std::string& name);

}  // namespace lab32::cudart
