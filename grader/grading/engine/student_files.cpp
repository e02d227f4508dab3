#include "grading/engine/student_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/environment.h"
#include "base/error.h"
#include "base/text.h"

namespace lab32::grading {
namespace {

namespace fs = std::filesystem;

// Left behind by Jupyter, Python and editors in a checkout's labs/.
bool is_hidden(const fs::path& path) {
  const std::string name = path.filename().string();
  return name[0] == '.' || name[0] == '_';
}

std::vector<fs::path> files_below(const fs::path& top) {
  std::vector<fs::path> files;
  for (auto at = fs::recursive_directory_iterator(top); at != fs::recursive_directory_iterator();
       ++at) {
    if (is_hidden(at->path()))
      at.disable_recursion_pending();
    else if (at->is_regular_file())
      files.push_back(at->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

StudentFiles write_student_files(const fs::path& directory) {
  const fs::path own = root();
  StudentFiles files;
  try {
    fs::create_directories(directory);
    if (fs::equivalent(directory, own))
      throw Error(
          fmt::format("{}: this is where lab32 itself lies, and its labs/ with it; name "
                      "another directory",
                      visible_name(directory.string())));
    for (const char* top : {"labs", "handouts"})
      for (const fs::path& from : files_below(own / top)) {
        const fs::path name = from.lexically_relative(own), to = directory / name;
        fs::create_directories(to.parent_path());
        const bool fresh = fs::copy_file(from, to, fs::copy_options::skip_existing);
        // Whoever installed it may have made its own read-only.
        if (fresh) fs::permissions(to, fs::perms::owner_write, fs::perm_options::add);
        (fresh ? files.written : files.kept).push_back(name.string());
      }
  } catch (const fs::filesystem_error& error) {
    throw MachineError(
        fmt::format("{}: {}", visible_name(error.path1().string()), error.code().message()));
  }
  return files;
}

std::string describe(const StudentFiles& files, const fs::path& directory) {
  const std::string where = visible_name(directory.string());
  const size_t kept = files.kept.size();
  std::string text =
      fmt::format("{}: {} files written, in labs/ and handouts/", where, files.written.size());
  if (kept > 0) text += fmt::format("; {} left as {}", kept, kept == 1 ? "it was" : "they were");
  text += "\n";
  return text +
         "Read labs/README.md, edit labs/coalescing/coalescing.cu, then `lab32 grade "
         "coalescing`.\n";
}

}  // namespace lab32::grading
