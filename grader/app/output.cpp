#include "app/output.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/error.h"
#include "base/text.h"

namespace lab32::commands {

void complain(const std::string& message) {
  // Not fmt's, which throws where nobody listens.
  std::fprintf(stderr, "lab32: %s\n", visible(message).c_str());
}

void print(const std::string& text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw MachineError(fmt::format("standard output cannot be written: {}; name a file with -o",
                                   std::strerror(errno)));
}

}  // namespace lab32::commands
