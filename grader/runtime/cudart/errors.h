// The runtime's error state of each host thread, the texts of errors, and messages about functions
// that are not supported.
#pragma once

#include <string>
#include <vector>

#include "runtime/cudart/api.h"

namespace lab32::cudart {

// The error that this thread's cudaGetLastError() will return.
cudaError_t& last_error();

// The driver function that this thread is in; nullptr: none.
const char*& driver_function();

// Stores an error for cudaGetLastError() and returns it. Success and errors of driver functions
// leave the stored error unchanged.
cudaError_t store_error(cudaError_t error);

// "cudaErrorInvalidValue" and "invalid argument"; "unrecognized error code" for others.
const char* error_name(cudaError_t error);
const char* error_text(cudaError_t error);

// Reports a feature that is not supported. Prints the first line of the message on stderr once,
// with the place of the call if it is known. From then on the exit status is 2 if the program exits
// or aborts, because its results are incomplete; the first message warns of that.
void refuse(const std::string& message);

// Prints "lab32: TEXT" on stderr.

void print_message(const std::string& text);

// Functions of the runtime that exist only to refuse.

// The names, sorted.
std::vector<std::string> refused_names();

// The message that a call of the refused function prints.
std::string refusal_of(const std::string& name);

}  // namespace lab32::cudart
