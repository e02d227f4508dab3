#include "runtime/cudart/errors.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/error.h"
#include "runtime/record/recording.h"

namespace lab32::cudart {

void print_message(const std::string& text) {
  std::fflush(stdout);  // keeps the order of output if stdout and stderr are the same file
  std::fprintf(stderr, "lab32: %s\n", with_allocations_named_by_variable(text).c_str());
}

namespace {

std::atomic<bool> refused{false};
std::atomic<void (*)()> at_end{nullptr};

struct ErrorNameAndText {
  const char *name, *text;
};

ErrorNameAndText find_error_text(cudaError_t error) {
  switch (static_cast<int>(error)) {
#define ERROR(value, name, text) \
  case value:                    \
    return {#name, text};
#include "runtime/cudart/errors.def"
#undef ERROR
    default:
      return {"unrecognized error code", "unrecognized error code"};
  }
}

// stdio's buffers may still hold output, so they are flushed before _exit().
void exit_if_call_was_refused() {
  if (!refused) return;
  std::fflush(nullptr);
  _exit(kNotSupported);
}

// Runs after the program's destructors and exit handlers and after those of libraries that it
// loaded later.
__attribute__((destructor)) void end_process() {
  if (const auto function = at_end.load()) function();
  exit_if_call_was_refused();
}

// After an unexpected error a program may throw, fail an assertion, or exit without exit handlers.
// Its exit status must then be 2 as well, unless it has a handler of its own.
void handle_abnormal_exits() {
  at_quick_exit([] { exit_if_call_was_refused(); });
  struct sigaction old {
  }, leave{};
  leave.sa_handler = [](int) { _exit(kNotSupported); };
  if (sigaction(SIGABRT, nullptr, &old) == 0 && old.sa_handler == SIG_DFL)
    sigaction(SIGABRT, &leave, nullptr);
}

}  // namespace

cudaError_t& last_error() {
  thread_local cudaError_t error = cudaSuccess;
  return error;
}

const char*& current_driver_function() {
  thread_local const char* name = nullptr;
  return name;
}

cudaError_t store_last_error(cudaError_t error) {
  // "Not ready" is an answer and no error.
  if (error != cudaSuccess && error != cudaErrorNotReady && !current_driver_function())
    last_error() = error;
  return error;
}

const char* error_name(cudaError_t error) { return find_error_text(error).name; }
const char* error_text(cudaError_t error) { return find_error_text(error).text; }

ErrorNames& error_name_function() {
  thread_local ErrorNames names = error_name;
  return names;
}

void run_at_end(void (*function)()) { at_end = function; }

void report_unsupported_and_continue(const std::string& message) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::string what = message.substr(0, message.find('\n'));  // without the quoted PTX
  const std::lock_guard<std::mutex> lock(mutex);
  const bool first = !refused.exchange(true);
  if (first) handle_abnormal_exits();
  if (!said.insert(what).second) return;
  // If the line of device code is known, `what` contains it, and the line of the call is left out.
  const std::string place = what.find("(source: ") == what.npos
                                ? file_and_line_prefix(source_place(HostCallSite::current()))
                                : "";
  print_message(place + what + (first ? "; the program's results are not valid from here on" : ""));
  if (const std::string path = environment_value(variables::kRecord); !path.empty())
    record::append_line(path, record::unsupported_record_line(what));
}

std::vector<std::string> refused_runtime_functions() {
  std::vector<std::string> names = {
#define WORKS(name)
#define REFUSES(name) #name,
#include "runtime/cudart/api.def"
#undef WORKS
#undef REFUSES
  };
  std::sort(names.begin(), names.end());
  return names;
}

std::string refusal_message(const std::string& name) {
  return fmt::format("{} is not supported by the simulated runtime", name);
}

}  // namespace lab32::cudart

namespace {

// The function ignores its arguments. With this platform's calling convention, in which the caller
// cleans up, a function without parameters may be called with any.
cudaError_t refuse_call(const char* name) {
  lab32::cudart::report_unsupported_and_continue(lab32::cudart::refusal_message(name));
  return lab32::cudart::store_last_error(cudaErrorNotSupported);
}

}  // namespace

// Other C++ names, because the toolkit's header declares the functions with their parameters.
#define WORKS(name)
#define REFUSES(name)                                                                       \
  extern "C" __attribute__((visibility("default"))) cudaError_t refuse_##name() asm(#name); \
  cudaError_t refuse_##name() { return refuse_call(#name); }
#include "runtime/cudart/api.def"
#undef WORKS
#undef REFUSES
