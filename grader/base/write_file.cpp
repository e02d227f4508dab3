#include "base/write_file.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/error.h"

namespace lab32 {

void write_file(const std::string& path, const std::string& text, const std::string& option) {
  std::string temporary = path + ".XXXXXX";
  const auto fail = [&](const char* what) {
    const std::string reason = std::strerror(errno);
    unlink(temporary.c_str());
    throw Error(fmt::format("{}: {}: {}; name another file with {}", path, what, reason, option));
  };
  const int fd = mkstemp(temporary.data());
  if (fd < 0) fail("cannot be written");
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      close(fd);
      fail("cannot be written");
    }
    done += static_cast<size_t>(n);
  }
  // mkstemp makes files private; a report is as public as any other file of its owner.
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(fd, 0666 & ~mask);
  if (close(fd) != 0) fail("cannot be written");
  if (rename(temporary.c_str(), path.c_str()) != 0) fail("cannot be replaced");
}

}  // namespace lab32
