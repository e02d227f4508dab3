#include "toolchain/opened_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <sstream>

#include "toolchain/toolchain.h"

namespace lab32::toolchain {
namespace {

namespace fs = std::filesystem;

// The list that gcc adds after its last message.
constexpr char kGuards[] = "Multiple include guards may be useful for:";

// ". /usr/include/math.h", a dot for each file that it is included from.
bool is_entry(const std::string& line, size_t& name) {
  name = std::min(line.find_first_not_of('.'), line.size());
  if (name == line.size() || line[name] != ' ') return false;
  ++name;
  // gcc's and nvcc's messages have no such line; what begins with a blank quotes or continues.
  return name > 1 || (name < line.size() && line[name] == '/');
}

using Id = std::pair<uint64_t, uint64_t>;

bool id_of(const fs::path& file, Id& id) {
  struct stat s {};
  if (stat(file.c_str(), &s) != 0 || !S_ISREG(s.st_mode)) return false;
  id = {s.st_dev, s.st_ino};
  return true;
}

}  // namespace

const std::vector<std::string> kTellOpenedFiles = {"-Xcompiler", "-H"};

OpenedFiles split_opened_files(const std::string& output) {
  OpenedFiles result;
  std::istringstream lines(output);
  bool guards = false;
  for (std::string line; std::getline(lines, line);) {
    size_t name = 0;
    if (line == kGuards) {
      guards = true;
    } else if (is_entry(line, name)) {
      result.files.emplace_back(line.substr(name));
    } else if (guards && !line.empty() && line.find_first_of(":( ") == std::string::npos) {
      // Files that are named above, too.
    } else {
      guards = false;
      result.messages += line + "\n";
    }
  }
  return result;
}

Readable::Readable(const std::vector<fs::path>& own, const std::vector<fs::path>& roots)
    : roots_(roots) {
  std::error_code error;
  Id id;
  for (const fs::path& directory : own)
    for (const auto& entry : fs::recursive_directory_iterator(directory, error))
      if (!entry.is_symlink(error) && id_of(entry.path(), id)) own_.push_back(id);
  std::sort(own_.begin(), own_.end());
}

bool Readable::allows(const fs::path& file, const fs::path& from) const {
  const fs::path full = from / file;
  // Whatever they lead to: for the compiler it was something else.
  for (const char* shifting : {"/proc", "/dev", "/sys", "/run"})
    if (is_inside(full.lexically_normal(), shifting)) return false;
  Id id;
  if (!id_of(full, id)) return false;
  if (std::binary_search(own_.begin(), own_.end(), id)) return true;
  std::error_code error;
  const fs::path real = fs::canonical(full, error);
  if (error) return false;
  bool below_tool = false, tool_in_checkout = false;
  for (const fs::path& root : roots_) {
    below_tool |= is_inside(real, root);
    tool_in_checkout |= is_inside(root, checkout()) && is_inside(real, root);
  }
  return below_tool && (tool_in_checkout || !is_inside(real, checkout()));
}

}  // namespace lab32::toolchain
