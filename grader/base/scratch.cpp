#include "base/scratch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "base/error.h"

namespace lab32 {
namespace {

namespace fs = std::filesystem;

struct Scratches {
  std::mutex mutex;
  std::map<fs::path, pid_t> owners;  // a fork has those of its parent, too
};
Scratches& scratches() {
  static Scratches all;
  return all;
}

fs::path temporary_directory() {
  const char* named = std::getenv("TMPDIR");
  return named && *named ? named : "/tmp";
}

[[noreturn]] void fail(const fs::path& directory, const char* reason) {
  throw MachineError("no scratch directory in " + directory.string() + ": " + reason +
                     "; name a directory with room in TMPDIR");
}

// Ours alone: in /tmp anybody may have made something of that name.
bool is_ours(const fs::path& directory) {
  struct stat s {};
  return lstat(directory.c_str(), &s) == 0 && S_ISDIR(s.st_mode) && s.st_uid == geteuid() &&
         (s.st_mode & 077) == 0;
}

bool lock(const Descriptor& directory, int how) {
  return directory.get() >= 0 && flock(directory.get(), how) == 0;
}

Descriptor opened(const fs::path& directory) {
  return Descriptor(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// What nobody holds any more. A file system without locks keeps what is there.
void sweep(const fs::path& root) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root, error)) {
    const Descriptor held = opened(entry.path());
    if (lock(held, LOCK_EX | LOCK_NB)) fs::remove_all(entry.path(), error);
  }
}

}  // namespace

Scratch::Scratch() {
  const std::lock_guard guard(scratches().mutex);
  const fs::path directory = temporary_directory();
  fs::path root = directory / ("lab32-" + std::to_string(geteuid()));
  mkdir(root.c_str(), 0700);
  // With a root that is not ours there are no leftovers of ours in it.
  std::string pattern =
      is_ours(root) ? (root / "XXXXXX").string() : (directory / "lab32-XXXXXX").string();
  const Descriptor root_lock = is_ours(root) ? opened(root) : Descriptor();
  static std::set<fs::path> swept;
  if (swept.insert(root).second && lock(root_lock, LOCK_EX | LOCK_NB)) sweep(root);
  // Nobody sweeps between the next two steps.
  lock(root_lock, LOCK_SH);
  if (!mkdtemp(pattern.data())) fail(directory, std::strerror(errno));
  path = fs::canonical(pattern);
  lock_.reset(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  lock(lock_, LOCK_EX | LOCK_NB);
  scratches().owners[path] = getpid();
}

Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(path, ignored);
  const std::lock_guard guard(scratches().mutex);
  scratches().owners.erase(path);
}

void Scratch::remove_all() {
  // Never unlocked: whoever misses its files must not get to tell what he makes of it.
  scratches().mutex.lock();
  std::error_code ignored;
  for (const auto& [path, owner] : scratches().owners)
    if (owner == getpid()) fs::remove_all(path, ignored);
}

}  // namespace lab32
