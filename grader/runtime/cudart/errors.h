// The runtime's error state of each host thread, the texts of errors, messages about functions that
// are not supported, and the source line of the program's call, which messages name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "runtime/cudart/api.h"

namespace lab32::cudart {

// A place in the program's machine code: the innermost consecutive frames that are in one file
// outside this library. Taking it is cheap; finding its source line is not.
struct HostCallSite {
  std::filesystem::path file;
  // addresses relative to the start of the file, the innermost frame first
  std::vector<uint64_t> addresses;

  // The site of the current call. It is empty if the call did not come from a file.
  static HostCallSite current();
  // The site of the call that led to this address of code, for a signal handler.
  static HostCallSite of_stack_frame_at(const void* code);

  bool operator<(const HostCallSite& b) const {
    return std::tie(file, addresses) < std::tie(b.file, b.addresses);
  }
};

// Line 0: not known, because no line is better than a wrong one.
struct SourcePlace {
  std::string file;  // as the compiler was given it
  int line = 0;
  std::string function;  // that contains the line
};

// Runs addr2line, which takes some hundredths of a second.
SourcePlace source_place(const HostCallSite& site);

// "a.cu:12: ", or "" if the line is not known.
std::string file_and_line_prefix(const SourcePlace& place);

// Names the allocation that the function `call` makes now: "cudaMalloc no. 2".
std::string record_and_number_allocation(const std::string& call);
// Replaces such names in a message by the program's variable and the line of the call: "`d_in`
// (allocated on line 42)" if the call passes `&d_in`, otherwise "the allocation of line 42". A name
// remains if the line is not known. Finding the line takes some hundredths of a second.
std::string with_allocations_named_by_variable(std::string text);

// ---------------------------------------------------------------------------------------------

// The error that cudaGetLastError() will return in this thread.
cudaError_t& last_error();

// The driver function that this thread is in; nullptr: none.
const char*& current_driver_function();

// Stores an error for cudaGetLastError() and returns it. Success and errors of driver functions
// leave the stored error unchanged.
cudaError_t store_last_error(cudaError_t error);

// The name "cudaErrorInvalidValue" and the text "invalid argument" of an error; both are
// "unrecognized error code" for an unknown number.
const char* error_name(cudaError_t error);
const char* error_text(cudaError_t error);

// The names of errors in the API that this thread is in: error_name(), or the driver's.
using ErrorNames = const char* (*)(cudaError_t);
ErrorNames& error_name_function();

// Reports a feature that is not supported. Prints the first line of the message on stderr once,
// with the place of the call if it is known. From then on the exit status is 2 if the program exits
// or aborts, because its results are incomplete; the first message warns of that.
void report_unsupported_and_continue(const std::string& message);

// Calls the function once none of the program's code runs any more, and before a refusal changes
// the exit status.
void run_at_end(void (*function)());

// Prints "lab32: TEXT" on stderr, with_allocations_named_by_variable().
void print_message(const std::string& text);

// The functions of the runtime that exist only to be refused.

// The names, sorted.
std::vector<std::string> refused_runtime_functions();

// The message that a call of the refused function prints.
std::string refusal_message(const std::string& name);

}  // namespace lab32::cudart
