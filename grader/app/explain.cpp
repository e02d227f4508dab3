#include "app/explain.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "app/classroom.h"
#include "app/guest.h"
#include "app/output.h"
#include "base/error.h"
#include "base/write_file.h"
#include "grading/engine/explain.h"
#include "grading/engine/registry.h"
#include "grading/launch/given_values.h"
#include "pictures/mapping.h"
#include "pictures/shown.h"
#include "report/render.h"
#include "runtime/profiler/explain.h"

namespace lab32::commands {
namespace {

// By the formula; but not where a task asks to find two rows in it.
pictures::Shown look_at_swizzle(const std::string& text) {
  const auto shape = pictures::read_swizzle(text);
  if (shape.bits == 2 && (shape.shift == 3 || shape.shift == -3))
    throw Error(
        "a task of the lab swizzle asks for that table: let your own function draw it, lab32 "
        "explain swizzle --swizzle " +
        text);
  std::vector<uint32_t> to;
  for (const uint32_t offset : pictures::offsets_of(shape))
    to.push_back(pictures::swizzled(shape, offset));
  pictures::Shown shown;
  shown.launch.mappings = {pictures::mapping_of(shape, to)};
  return shown;
}

// By the student's own function, whatever the checks ask for.
pictures::Shown look_at_own_swizzle(const std::string& text, const grading::GradeOptions& options) {
  const auto shape = pictures::read_swizzle(text);
  const auto file = grading::files_of(options).at(0).file;
  const std::string kernel =
      fmt::format("swizzle_all<{}, {}, {}>", shape.bits, shape.base, shape.shift);
  pictures::Shown shown;
  shown.file = file.string();
  shown.launch.mappings = {pictures::mapping_of(
      shape,
      grading::given_values("swizzle", file, options.device, kernel, pictures::offsets_of(shape)))};
  return shown;
}

// Of a check's mappings the one that is asked for.
void choose_mapping(pictures::Shown& shown, const std::string& text) {
  const std::string name = pictures::read_swizzle(text).name();
  auto& all = shown.launch.mappings;
  all.erase(std::remove_if(all.begin(), all.end(),
                           [&](const pictures::Mapping& m) { return m.name != name; }),
            all.end());
  if (all.empty()) throw Error(shown.check + " does not ask for " + name);
}

// Of all pictures the one that is asked for.
pictures::Launch only(const pictures::Launch& all, const std::string& picture) {
  pictures::Launch one;
  one.kernel = all.kernel;
  one.setting = all.setting;
  one.shape = all.shape;
  std::vector<std::string> there;
  const auto take = [&](const char* name, const auto& from, auto& to, bool filled) {
    if (filled) there.push_back(name);
    if (picture == name) to = from;
  };
  take("access", all.accesses, one.accesses, !all.accesses.empty());
  take("steps", all.steps, one.steps, all.steps.has_value());
  take("shuffles", all.shuffles, one.shuffles, all.shuffles.has_value());
  take("mappings", all.mappings, one.mappings, !all.mappings.empty());
  take("traffic", all.traffic, one.traffic, all.traffic.has_value());
  take("race", all.race, one.race, all.race.has_value());
  take("fault", all.fault, one.fault, all.fault.has_value());
  if (picture == "traffic") one.reference = all.reference;
  if (std::find(there.begin(), there.end(), picture) == there.end())
    throw Error(
        fmt::format("no picture of {} here; there are: {}", picture, fmt::join(there, ", ")));
  return one;
}

// A lab's name, or a program.
pictures::Shown look(const ExplainCommand& command, const grading::GradeOptions& options) {
  const std::vector<std::string> labs = grading::known_labs();
  const bool is_program = command.what.find_first_of("./") != std::string::npos;
  if (!command.swizzle.empty() && !command.what.empty() && command.what != "swizzle")
    throw Error("--swizzle goes with the lab swizzle, or stands alone; not with " + command.what);
  if (std::find(labs.begin(), labs.end(), command.what) != labs.end()) {
    grading::GradeOptions one = options;
    one.labs = {command.what};
    one.close_up = command.choice;
    if (command.check.empty() && !command.swizzle.empty())
      return look_at_own_swizzle(command.swizzle, one);
    auto shown = grading::explain(one, command.check);
    if (!command.swizzle.empty()) choose_mapping(shown, command.swizzle);
    return shown;
  }
  if (command.what.empty() && !command.swizzle.empty()) return look_at_swizzle(command.swizzle);
  if (command.what.empty())
    throw Error("a lab, a program or --swizzle is needed; see `lab32 explain --help`");
  if (!is_program)
    throw Error(fmt::format("there is no lab `{}`; the labs are: {}; a program is a file, {}.cu",
                            command.what, fmt::join(labs, ", "), command.what));
  if (!linked_tools()) exec_guest();
  profiler::ExplainOptions program;
  program.gpus = command.gpus;
  program.program = command.what;
  program.device = options.device;
  program.arguments = command.arguments;
  if (!command.check.empty()) program.arguments.insert(program.arguments.begin(), command.check);
  program.choice = command.choice;
  return linked_tools()->explain(program);
}

}  // namespace

int explain(const ExplainCommand& command, const grading::GradeOptions& options) {
  if (!command.output.empty()) check_writable(command.output, "-o");
  const bool drawn = command.format != "text" && command.format != "json";
  if (command.format == "png" && command.output.empty())
    throw Error("a PNG is no text: name a file with -o");
  pictures::Shown shown = look(command, options);
  if (!command.picture.empty()) shown.launch = only(shown.launch, command.picture);
  if (drawn) {
    std::vector<std::string> words = {"--format", command.format};
    if (!command.output.empty()) {
      words.insert(words.end(), {"-o", command.output});
      print(pictures::heading(shown));  // a picture has no room for it
    }
    if (!command.picture.empty()) words.insert(words.end(), {"--picture", command.picture});
    grading::exec_python("lab32.pictures", words, pictures::json(shown));
  }
  const bool colour = command.output.empty() && report::wants_colour(STDOUT_FILENO);
  const std::string text =
      command.format == "json" ? pictures::json(shown) : pictures::text(shown, colour);
  if (command.output.empty())
    print(text);
  else
    write_file(command.output, text, "-o");
  return kFullMarks;
}

}  // namespace lab32::commands
