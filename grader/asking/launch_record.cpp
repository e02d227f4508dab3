// What the functions that make questions have in common.
#include "asking/launch_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace lab32::asking {

Question LaunchRecord::about(Kind kind, const std::string& subject, const std::string& idea,
                             int line) const {
  Question question;
  question.kind = kind;
  question.subject = subject;
  question.idea = idea;
  question.check = check.row.check;
  question.line = line;
  question.launch = words;
  question.source = names.source.text_of(line);
  return question;
}

void LaunchRecord::draw_request(Question& question, const LineDetail& line,
                                const RequestDetail& request) const {
  question.picture.accesses = {pictures::access_of(line, request, names)};
}

std::string block_name(const grading::Launch& launch, uint64_t block) {
  const Dim3& grid = launch.shape.grid;
  if (grid.y == 1 && grid.z == 1) return fmt::format("block {}", block);
  const uint64_t x = block % grid.x, y = block / grid.x % grid.y, z = block / grid.x / grid.y;
  return grid.z == 1 ? fmt::format("block ({}, {})", x, y)
                     : fmt::format("block ({}, {}, {})", x, y, z);
}

void add_wrong(Question& question, int64_t answer, const std::string& misconception) {
  const bool known = std::any_of(question.wrong.begin(), question.wrong.end(),
                                 [&](const WrongModel& w) { return w.answer == answer; });
  if (answer < 0 || answer == question.answer || known) return;
  question.wrong.push_back({answer, misconception});
}

namespace {

std::string dimensions(const Dim3& d) {
  std::string text = std::to_string(d.x);
  if (d.y > 1 || d.z > 1) text += fmt::format(" x {}", d.y);
  if (d.z > 1) text += fmt::format(" x {}", d.z);
  return text;
}

template <class T>
T value_of(const device::Arg& arg) {
  T value;
  std::memcpy(&value, arg.bytes().data(), sizeof value);
  return value;
}

std::string argument(grading::Check& check, const device::Arg& arg, const std::string& type) {
  if (arg.bytes().size() == sizeof(uint64_t))
    for (const grading::Region& array : check.launched)
      if (array.address == value_of<uint64_t>(arg)) return array.name;
  if (type == "int") return std::to_string(value_of<int32_t>(arg));
  if (type == "unsigned int") return std::to_string(value_of<uint32_t>(arg));
  if (type == "float") return fmt::format("{:.9g}", value_of<float>(arg));
  if (type == "long" || type == "long long") return std::to_string(value_of<int64_t>(arg));
  if (type == "unsigned long") return std::to_string(value_of<uint64_t>(arg));
  return "...";
}

}  // namespace

std::string words_of_launch(grading::Check& check, const grading::Launch& launch,
                            const device::KernelInfo& kernel) {
  std::vector<std::string> arguments;
  for (size_t i = 0; i < launch.args.size(); ++i)
    arguments.push_back(argument(
        check, launch.args[i], i < kernel.parameter_types.size() ? kernel.parameter_types[i] : ""));
  const uint64_t blocks = launch.shape.grid.count();
  return fmt::format("{}({}), {} block{} of {} threads", launch.kernel, fmt::join(arguments, ", "),
                     dimensions(launch.shape.grid), blocks == 1 ? "" : "s",
                     dimensions(launch.shape.block));
}

}  // namespace lab32::asking
