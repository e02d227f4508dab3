// Waits until somebody saves one of some files (inotify).
#pragma once

#include <filesystem>
#include <vector>

namespace lab32 {

class Watch {
 public:
  // Throws MachineError where a file's folder cannot be watched.
  explicit Watch(const std::vector<std::filesystem::path>& files);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Those that were saved since the last call, by their place in `files`: written to, or put in
  // place as many editors do. Waits for the first, and then until it is quiet. Empty: a signal.
  std::vector<size_t> wait();

 private:
  struct Place {
    int folder;
    std::filesystem::path name;
  };
  int inotify_;
  std::vector<Place> places_;
};

}  // namespace lab32
