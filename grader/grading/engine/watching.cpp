#include "grading/engine/watching.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "report/changes.h"

namespace lab32::grading {
namespace {

void take(report::Result& all, const report::Result& some) {
  for (const report::Lab& lab : some.labs) {
    const auto at = std::find_if(all.labs.begin(), all.labs.end(),
                                 [&](const report::Lab& old) { return old.name == lab.name; });
    if (at == all.labs.end())
      all.labs.push_back(lab);
    else
      *at = lab;
  }
}

}  // namespace

void watch(GradeOptions options,
           const std::function<void(const report::Result&, const std::string& changes)>& show,
           const std::function<void(const std::string&)>& complain) {
  const std::vector<LabFile> files = files_of(options);
  std::vector<std::filesystem::path> paths;
  for (const LabFile& file : files) paths.push_back(file.file);
  Watch saves(paths);  // before the first grading, so that no save is missed
  report::Result last = grade(options);
  options.seed = last.seed;
  show(last, "");
  for (;;) {
    options.labs.clear();
    for (const size_t file : saves.wait()) options.labs.push_back(files[file].lab);
    if (options.labs.empty()) continue;
    try {
      const report::Result next = grade(options);
      const std::string changes = report::changes(last, next);
      show(next, changes.empty() ? "No check has changed.\n" : changes);
      take(last, next);
    } catch (const Error& e) {
      complain(e.what());
    }
  }
}

}  // namespace lab32::grading
