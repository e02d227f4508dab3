// Which files a preprocessor has read, by its own account (gcc -H), and whether it might.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lab32::toolchain {

// gcc's flag, as nvcc hands it on.
extern const std::vector<std::string> kTellOpenedFiles;

struct OpenedFiles {
  std::vector<std::filesystem::path> files;  // as gcc called them
  std::string messages;                      // what is left of its output without that account
};
OpenedFiles split_opened_files(const std::string& output);

// Files that a compilation may read: all below these directories. They are told by device and
// number, not by name: a name may lead through links, or be another's in /proc.
class Readable {
 public:
  // `own`: small directories, of which every file counts; `roots`: the toolchain's, which are
  // public, less what of the checkout lies in them.
  Readable(const std::vector<std::filesystem::path>& own,
           const std::vector<std::filesystem::path>& roots);
  // False on any doubt. `from`: the directory that the compiler ran in.
  bool allows(const std::filesystem::path& file, const std::filesystem::path& from) const;

 private:
  std::vector<std::pair<uint64_t, uint64_t>> own_;
  std::vector<std::filesystem::path> roots_;
};

}  // namespace lab32::toolchain
