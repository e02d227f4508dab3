#include "runtime/cudart/errors.h"

#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>

#include "runtime/cudart/call_site.h"
#include "runtime/cudart/say.h"
#include "runtime/record/recording.h"

namespace lab32::cudart {
namespace {

std::atomic<bool> refused{false};

struct Text {
  const char *name, *text;
};

Text find(cudaError_t error) {
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

// The program's destructors and exit handlers have run, those of its libraries that it loaded
// after this one, too: what it has to say is said, but for what stdio still holds.
__attribute__((destructor)) void leave_with_2() {
  if (!refused) return;
  std::fflush(nullptr);
  _exit(2);
}

// A program that does not expect an error may throw or assert (one with a handler of its own is
// left alone), or leave without running its exit handlers.
void leave_at_other_ends() {
  at_quick_exit([] { leave_with_2(); });
  struct sigaction old {
  }, leave{};
  leave.sa_handler = [](int) { _exit(2); };
  if (sigaction(SIGABRT, nullptr, &old) == 0 && old.sa_handler == SIG_DFL)
    sigaction(SIGABRT, &leave, nullptr);
}

}  // namespace

cudaError_t& last_error() {
  thread_local cudaError_t error = cudaSuccess;
  return error;
}

const char*& called_as() {
  thread_local const char* name = nullptr;
  return name;
}

cudaError_t remember(cudaError_t error) {
  // "Not ready" is an answer, not an error.
  if (error != cudaSuccess && error != cudaErrorNotReady && !called_as()) last_error() = error;
  return error;
}

const char* error_name(cudaError_t error) { return find(error).name; }
const char* error_text(cudaError_t error) { return find(error).text; }

void refuse(const std::string& message) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::string what = message.substr(0, message.find('\n'));  // without the PTX quoted
  const std::lock_guard<std::mutex> lock(mutex);
  const bool first = !refused.exchange(true);
  if (first) leave_at_other_ends();
  if (!said.insert(what).second) return;
  // The line of device code is the better one.
  const std::string place = what.find("(source: ") == what.npos ? call_site() : "";
  say(place + what + (first ? "; what the program prints from here on is no result" : ""));
  if (const char* path = std::getenv("LAB32_RECORD"); path && *path)
    record::append_line(path, record::to_line_unsupported(what));
}

}  // namespace lab32::cudart
