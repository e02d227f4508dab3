// What a card has been measured to take: data/measured/<card>-<lab>.csv.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>

namespace lab32::grading {

// The file of a card ("NVIDIA H200"), from the root, as grader/measure/gpu.sh names it.
std::string record_file(const std::string& card, const std::string& lab);

class ReferenceTimings {
 public:
  // Of a file that is not there, a record of nothing.
  explicit ReferenceTimings(const std::string& path);

  bool empty() const { return copies_.empty(); }
  // The median time of a form, as a multiple of what the copy of as many bytes took.
  std::optional<double> copies(const std::string& task, const std::string& form,
                               const std::string& n) const;

 private:
  std::map<std::tuple<std::string, std::string, std::string>, double> copies_;
};

}  // namespace lab32::grading
