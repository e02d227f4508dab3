#include "base/write_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/child.h"
#include "base/error.h"
#include "base/text.h"

namespace lab32 {
namespace {

namespace fs = std::filesystem;

// Who is told what, when something fails.
struct Target {
  const std::string& path;
  const std::string& option;
  [[noreturn]] void fail(const char* what, int reason) const {
    throw MachineError(fmt::format("{}: {}: {}; name another file with {}", visible_name(path),
                                   what, std::strerror(reason), option));
  }
};

enum class Kind { absent, regular, stream };

Kind kind_of(const Target& target) {
  struct stat s {};
  if (stat(target.path.c_str(), &s) != 0) {
    if (errno != ENOENT) target.fail("cannot be written", errno);
    return Kind::absent;
  }
  if (S_ISDIR(s.st_mode)) target.fail("cannot be written", EISDIR);
  if (S_ISBLK(s.st_mode) || S_ISSOCK(s.st_mode)) target.fail("cannot be written", EINVAL);
  return S_ISREG(s.st_mode) ? Kind::regular : Kind::stream;
}

// Where a link, or a chain of them, leads to; what it names need not be there.
std::string place_of(const Target& target) {
  fs::path place = target.path;
  std::error_code error;
  for (int i = 0; fs::is_symlink(place, error); ++i) {
    if (i == 40) target.fail("cannot be written", ELOOP);
    place = place.parent_path() / fs::read_symlink(place, error);
  }
  return place.string();
}

bool write_all(int fd, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) return false;
    if (n > 0) done += static_cast<size_t>(n);
  }
  return true;
}

void write_stream(const Target& target, const std::string& text) {
  const Descriptor fd(open(target.path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (fd.get() < 0 || !write_all(fd.get(), text)) target.fail("cannot be written", errno);
}

// The directory's own entry, without which a power cut could bring the old file back.
void bring_to_disk(const fs::path& directory) {
  const Descriptor fd(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0) fsync(fd.get());
}

std::string directory_of(const std::string& place) {
  const fs::path parent = fs::path(place).parent_path();
  return parent.empty() ? "." : parent.string();
}

void replace(const Target& target, const std::string& place, const std::string& text) {
  std::string temporary = directory_of(place) + "/.lab32-XXXXXX";
  Descriptor fd(mkostemp(temporary.data(), O_CLOEXEC));
  if (fd.get() < 0) target.fail("cannot be written", errno);
  // mkstemp makes files private; a report is as public as any other file of its owner.
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(fd.get(), 0666 & ~mask);
  // Some file systems have no fsync.
  const bool written = write_all(fd.get(), text) && (fsync(fd.get()) == 0 || errno == EINVAL);
  const bool renamed = written && rename(temporary.c_str(), place.c_str()) == 0;
  if (!renamed) {
    const int reason = errno;
    unlink(temporary.c_str());
    target.fail(written ? "cannot be replaced" : "cannot be written", reason);
  }
  bring_to_disk(directory_of(place));
}

}  // namespace

void write_file(const std::string& path, const std::string& text, const std::string& option) {
  const Target target{path, option};
  if (kind_of(target) == Kind::stream)
    write_stream(target, text);
  else
    replace(target, place_of(target), text);
}

void check_writable(const std::string& path, const std::string& option) {
  const Target target{path, option};
  if (kind_of(target) == Kind::stream) {
    if (access(path.c_str(), W_OK) != 0) target.fail("cannot be written", errno);
    return;
  }
  const std::string place = place_of(target), directory = directory_of(place);
  if (place.empty() || fs::path(place).filename().empty()) target.fail("cannot be written", ENOENT);
  // Rights alone do not say it: there are read-only disks, and directories that are none.
  std::string probe = directory + "/.lab32-XXXXXX";
  const Descriptor fd(mkostemp(probe.data(), O_CLOEXEC));
  if (fd.get() < 0) target.fail("cannot be written", errno);
  unlink(probe.c_str());
}

}  // namespace lab32
