#include "runtime/driver/cubin_lines.h"

#include <sstream>
#include <utility>

#include "base/pattern.h"

namespace lab32::driver {

toolchain::Places places_in(const std::string& listing) {
  static const Pattern note(
      "//## File \"([^\"]*)\", line ([0-9]+)( inlined at \"([^\"]*)\", line ([0-9]+))?");
  toolchain::Places places;
  std::pair<std::string, int> source;
  std::istringstream lines(listing);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("//## File") == std::string::npos) {
      if (line.rfind("\t.section\t.text.", 0) == 0) source = {};
      continue;
    }
    const auto found = note.search(line);
    if (!found) continue;
    const std::string& file = (*found)[1];
    if (file.rfind(".nv_debug_ptx_txt", 0) == 0) {
      if (source.second) places.emplace(std::stoi((*found)[2]), source);
    } else if (file.find("/include/") != std::string::npos && !(*found)[4].empty()) {
      source = {(*found)[4], std::stoi((*found)[5])};  // a header of the toolkit's
    } else {
      source = {file, std::stoi((*found)[2])};
    }
  }
  return places;
}

}  // namespace lab32::driver
