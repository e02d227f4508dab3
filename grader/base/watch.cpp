#include "base/watch.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <set>

#include "base/error.h"
#include "base/text.h"

namespace lab32 {
namespace {

namespace fs = std::filesystem;

// An editor writes a file in several steps.
constexpr int kQuietMilliseconds = 150;

}  // namespace

// The folders are watched: a file that is replaced is another one.
Watch::Watch(const std::vector<fs::path>& files) : inotify_(inotify_init1(IN_CLOEXEC)) {
  for (const fs::path& file : files) {
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    const int watch =
        inotify_ < 0 ? -1
                     : inotify_add_watch(inotify_, folder.c_str(), IN_CLOSE_WRITE | IN_MOVED_TO);
    if (watch < 0) {
      const std::string why = std::strerror(errno);
      if (inotify_ >= 0) close(inotify_);
      throw MachineError(visible_name(folder.string()) + " cannot be watched: " + why);
    }
    places_.push_back({watch, file.filename()});
  }
}

Watch::~Watch() { close(inotify_); }

std::vector<size_t> Watch::wait() {
  std::set<size_t> saved;
  for (;;) {
    pollfd ready{inotify_, POLLIN, 0};
    const int n = poll(&ready, 1, saved.empty() ? -1 : kQuietMilliseconds);
    if (n < 0 && errno == EINTR) return {};
    if (n <= 0) break;
    alignas(inotify_event) std::array<char, 4096> events;
    const ssize_t bytes = read(inotify_, events.data(), events.size());
    for (ssize_t at = 0; at + static_cast<ssize_t>(sizeof(inotify_event)) <= bytes;) {
      const auto* event = reinterpret_cast<const inotify_event*>(events.data() + at);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      for (size_t i = 0; i < places_.size(); ++i)
        if (places_[i].folder == event->wd && event->len > 0 && places_[i].name == event->name)
          saved.insert(i);
    }
  }
  return {saved.begin(), saved.end()};
}

}  // namespace lab32
