// Functions that all makers of questions use.
#include "asking/launch_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "base/text.h"

namespace lab32::asking {

using sim::AccessKind;

bool LaunchQuestionInputs::are_shared_lines_exactly_recorded() const {
  return std::all_of(detail().lines.begin(), detail().lines.end(),
                     [&](const LineDetail& l) { return !l.shared || is_exactly_recorded(l); });
}

bool LaunchQuestionInputs::has_access_syntax_in_line(int line) const {
  static const RegularExpression access(
      "\\[|->|(^|return|[=(,;{+<>!&|?:-])\\s*\\*\\s*[A-Za-z_(]|"
      "(ld|st|load|store|copy|async)\\w*\\s*(<[^>]*>\\s*)?\\(");
  return access.search(names.source.text_of(line)).has_value();
}

std::string name_on_line(const std::string& source, const std::string& array, AccessKind kind) {
  if (RegularExpression("\\b" + array + "\\b").search(source)) return array;
  static const RegularExpression assignment("([^=!<>])=([^=])"), indexed("([A-Za-z_]\\w*)\\s*\\[");
  std::string side = source;
  if (const auto found = assignment.search(source)) {
    const size_t at = source.find((*found)[0]) + 1;
    side = kind == AccessKind::load ? source.substr(at) : source.substr(0, at);
  }
  std::set<std::string> names;
  for (const auto& found : indexed.all(side)) names.insert(found[1]);
  return names.size() == 1 ? *names.begin() : "";
}

size_t count_indexed_uses_on_line(const std::string& source, const std::string& name) {
  return RegularExpression("\\b" + name + "\\s*\\[").all(source).size();
}

// Whether each lane moves on by one distance from round to round, up to the round `last`, as the
// unrolled copies of a loop do.
static bool has_constant_address_step(const std::vector<const RequestDetail*>& rounds,
                                      size_t last) {
  const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(rounds[last]->mask));
  for (size_t i = 0; i <= last; ++i)
    if (!is_active(*rounds[i], lane) ||
        (i >= 2 && rounds[i]->address[lane] - rounds[i - 1]->address[lane] !=
                       rounds[1]->address[lane] - rounds[0]->address[lane]))
      return false;
  return true;
}

int64_t LaunchQuestionInputs::thread_with_exchanged_xy(int64_t thread) const {
  const int64_t w = block().x, h = block().y;
  const int64_t x = thread % w, y = thread / w;
  return y < w && x < h ? x * w + y : -1;
}

RequestInQuestion LaunchQuestionInputs::choose_request(const LineDetail& line) const {
  const RequestDetail& any =
      line.requests[random.below(static_cast<uint32_t>(line.requests.size()))];
  if (any.matrix || (any.kind != AccessKind::load && any.kind != AccessKind::store)) return {};
  RequestInQuestion chosen{
      &line, &any, false, "", "", pictures::single_request_picture(line, any, names).requests[0],
      {},    0};
  bool one_site = true;
  for (const RequestDetail& other : line.requests) {
    if (other.warp != any.warp || other.kind != any.kind) continue;
    if (&other == &any) chosen.round = chosen.rounds.size();
    chosen.rounds.push_back(&other);
    one_site &= other.site == any.site;
  }
  const std::string source = names.source.text_of(line.line);
  const std::string array = parse_element_name(chosen.named.name[__builtin_ctz(any.mask)]).array;
  const std::string name = array.empty() ? "" : name_on_line(source, array, any.kind);
  if (name.empty()) return chosen;
  chosen.array = "`" + array + "`";
  if (name != array) chosen.array += fmt::format(" (`{}` points into it)", name);
  chosen.told =
      chosen.round < 4 && (one_site || (count_indexed_uses_on_line(source, name) == 1 &&
                                        has_constant_address_step(chosen.rounds, chosen.round)));
  if (chosen.told && chosen.rounds.size() > 1)
    chosen.which =
        fmt::format(", the {} time that the warp executes this access", ordinal_word(chosen.round));
  return chosen;
}

uint32_t LaunchQuestionInputs::random_active_lane(const RequestDetail& request) const {
  uint32_t lane = random.below(kWarpSize);
  while (!is_active(request, lane)) lane = (lane + 1) % kWarpSize;
  return lane;
}

std::string LaunchQuestionInputs::warp_name(const RequestInQuestion& chosen) const {
  return fmt::format("warp {} of {}", chosen.request->warp, block_name(launch, chosen.line->block));
}

Question LaunchQuestionInputs::new_question(QuestionKind kind, const std::string& subject,
                                            const std::string& idea, int line) const {
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

void LaunchQuestionInputs::add_request_picture(Question& question, const LineDetail& line,
                                               const RequestDetail& request) const {
  question.picture.accesses.push_back(pictures::single_request_picture(line, request, names));
}

ElementName parse_element_name(const std::string& name) {
  static const RegularExpression whole("^([A-Za-z_][A-Za-z_0-9]*)((\\[[0-9]{1,9}\\])+)$"),
      one("[0-9]+");
  const auto found = whole.match(name);
  if (!found) return {};
  ElementName element{(*found)[1], {}};
  for (const auto& number : one.all((*found)[2])) element.index.push_back(std::stoll(number[0]));
  return element;
}

const char* verb_of(AccessKind kind) { return kind == AccessKind::load ? "load" : "store"; }

std::string ordinal_word(size_t number) {
  static const char* const kNames[] = {"first", "second", "third", "fourth"};
  return kNames[number];
}

std::string block_name(const grading::Launch& launch, uint64_t block) {
  const Dim3& grid = launch.shape.grid;
  if (grid.y == 1 && grid.z == 1) return fmt::format("block {}", block);
  const uint64_t x = block % grid.x, y = block / grid.x % grid.y, z = block / grid.x / grid.y;
  return grid.z == 1 ? fmt::format("block {} (x {}, y {})", block, x, y)
                     : fmt::format("block {} (x {}, y {}, z {})", block, x, y, z);
}

void add_wrong_answer(Question& question, int64_t answer, const std::string& misconception) {
  const bool known = std::any_of(question.wrong.begin(), question.wrong.end(),
                                 [&](const MisconceptionAnswer& w) { return w.answer == answer; });
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
T value_of(const device::KernelArgument& arg) {
  T value;
  std::memcpy(&value, arg.bytes().data(), sizeof value);
  return value;
}

std::string argument_text(grading::Check& check, const device::KernelArgument& arg,
                          const std::string& type) {
  if (arg.bytes().size() == sizeof(uint64_t))
    for (const grading::LaunchedArray& array : check.launched)
      if (array.address == value_of<uint64_t>(arg)) return array.name;
  if (type == "int") return std::to_string(value_of<int32_t>(arg));
  if (type == "unsigned int") return std::to_string(value_of<uint32_t>(arg));
  if (type == "float") return fmt::format("{:.9g}", value_of<float>(arg));
  if (type == "long" || type == "long long") return std::to_string(value_of<int64_t>(arg));
  if (type == "unsigned long") return std::to_string(value_of<uint64_t>(arg));
  return "...";
}

}  // namespace

std::string launch_text(grading::Check& check, const grading::Launch& launch,
                        const device::KernelInfo& kernel) {
  std::vector<std::string> arguments;
  for (size_t i = 0; i < launch.args.size(); ++i)
    arguments.push_back(argument_text(
        check, launch.args[i], i < kernel.parameter_types.size() ? kernel.parameter_types[i] : ""));
  const uint64_t blocks = launch.shape.grid.count();
  return fmt::format("{}({}), {} block{} of {} threads", launch.kernel, fmt::join(arguments, ", "),
                     dimensions(launch.shape.grid), blocks == 1 ? "" : "s",
                     dimensions(launch.shape.block));
}

}  // namespace lab32::asking
