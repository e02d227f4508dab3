
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <vector>

#include "app/command.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/process.h"
#include "base/text.h"
#include "grading/engine/registry.h"

namespace lab32::commands {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

fs::path lab_file_in(const fs::path& folder, const std::string& lab) {
  return folder / lab / (lab + ".cu");
}

bool has_lab_source_file(const fs::path& folder) {
  const std::vector<std::string> labs = grading::known_labs();
  return std::any_of(labs.begin(), labs.end(),
                     [&](const std::string& lab) { return is_file(lab_file_in(folder, lab)); });
}

// The letters of a name in lower case, with a blank in place of every other character.
std::string lower_case_letters_and_blanks(const std::string& name) {
  std::string words = name;
  for (char& c : words) {
    const auto byte = static_cast<unsigned char>(c);
    c = std::isalpha(byte) ? static_cast<char>(std::tolower(byte)) : ' ';
  }
  return " " + words + " ";
}

// The lab that a file's name contains, as in `my_coalescing (1).cu`; empty: none, or several.
std::string lab_in_file_name(const std::string& name) {
  std::string found;
  for (const std::string& lab : grading::known_labs()) {
    if (lower_case_letters_and_blanks(name).find(lower_case_letters_and_blanks(lab)) ==
        std::string::npos)
      continue;
    if (!found.empty()) return {};
    found = lab;
  }
  return found;
}

bool is_known_lab(const std::string& lab) {
  const std::vector<std::string> labs = grading::known_labs();
  return std::find(labs.begin(), labs.end(), lab) != labs.end();
}

// Whether the word names a file rather than a lab.
bool names_a_path(const std::string& word) {
  return !is_known_lab(word) && (word.find('/') != std::string::npos ||
                                 fs::path(word).extension() == ".cu" || is_file(word));
}

struct FileOfLab {
  std::string lab;
  fs::path file;
};

FileOfLab read_file_argument(const std::string& word) {
  fs::path file = fs::path(word).lexically_normal();
  if (!file.has_filename()) file = file.parent_path();
  std::error_code error;
  if (const std::string name = fs::absolute(file).filename().string();
      fs::is_directory(file, error) && is_known_lab(name))
    file /= name + ".cu";
  if (!is_file(file)) throw Error(visible_name(file.string()) + ": no such file");
  std::string lab = lab_in_file_name(file.stem().string());
  if (lab.empty()) lab = lab_in_file_name(fs::absolute(file).parent_path().filename().string());
  if (lab.empty())
    throw Error(fmt::format("{}: the name tells no lab; name the file after one of: {}",
                            visible_name(file.string()), fmt::join(grading::known_labs(), ", ")));
  return {lab, file};
}

// The folder X of a file X/LAB/LAB.cu; empty for a file that lies elsewhere.
fs::path labs_folder_of_file(const FileOfLab& named) {
  const fs::path whole = fs::absolute(named.file).lexically_normal();
  if (whole != lab_file_in(whole.parent_path().parent_path(), named.lab)) return {};
  fs::path folder = (named.file.parent_path() / "..").lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  return folder.empty() ? "." : folder;
}

// A line that lab32.handed_in prints: the lab, the file that it has chosen, and the files that it
// has passed over.
struct ChosenSubmission {
  std::string lab, file, passed_over;
};

std::vector<ChosenSubmission> choose_submission_files(const fs::path& dir,
                                                      const std::vector<std::string>& labs) {
  const fs::path python = python_interpreter();
  if (!is_file(python)) return {};
  lab32::ProcessCommand command;
  command.argv = {python.string(), "-P", "-m", "lab32.handed_in", dir.string()};
  command.argv.insert(command.argv.end(), labs.begin(), labs.end());
  command.environment = environment();
  const ProcessOutcome outcome = run_process(command);
  std::vector<ChosenSubmission> found;
  if (!outcome.ok()) return found;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream cells(line);
    ChosenSubmission choice;
    std::getline(cells, choice.lab, '\t');
    std::getline(cells, choice.file, '\t');
    std::getline(cells, choice.passed_over, '\t');
    if (!choice.file.empty()) found.push_back(choice);
  }
  return found;
}

}  // namespace

std::string require_labs_folder(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(fs::path(folder) / "data/limits", error))
    throw Error(
        fmt::format("--labs {}: it has no data/limits; `lab32 new-lab NAME --labs {}` "
                    "makes a lab there",
                    visible_name(folder), visible_name(folder)));
  for (const auto& entry : fs::directory_iterator(fs::path(folder) / "data/limits"))
    if (fs::exists(lab32_root() / "data/limits" / entry.path().filename()))
      throw Error(fmt::format("{}: lab32 has a lab of this name, too; rename yours",
                              visible_name(entry.path().string())));
  return fs::absolute(folder).lexically_normal().string();
}

void use_course_rubrics(const std::string& course, const fs::path& into,
                        grading::GradeOptions& options) {
  const fs::path python = python_interpreter();
  if (!is_file(python))
    throw MachineError(
        fmt::format("{}: --course needs this Python, which does not exist; `make "
                    "class` installs it",
                    python.string()));
  lab32::ProcessCommand command;
  command.argv = {python.string(), "-P", "-m", "lab32.course", "rubrics", course, into.string()};
  if (!options.rubric.empty())
    command.argv.insert(command.argv.end(), {"--rubric", options.rubric.string()});
  const fs::path self = fs::read_symlink("/proc/self/exe");
  command.argv.insert(command.argv.end(), {"--binary", self.string()});
  command.environment = environment();
  const ProcessOutcome outcome = run_process(command);
  if (!outcome.ok()) {
    const size_t last = outcome.err.find_last_not_of('\n');
    const std::string said = outcome.err.substr(0, last == std::string::npos ? 0 : last + 1);
    throw Error(said.compare(0, 7, "lab32: ") == 0 ? said.substr(7) : said);
  }
  std::istringstream lines(outcome.out);
  for (std::string lab; std::getline(lines, lab);) options.all.push_back(lab);
  for (const std::string& lab : options.labs)
    if (std::find(options.all.begin(), options.all.end(), lab) == options.all.end())
      throw Error(fmt::format("{}: the course has no lab `{}`; its labs are: {}",
                              visible_name(course), lab, fmt::join(options.all, ", ")));
  options.rubric = into;
}

std::string nearest_labs_folder() {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (error || fs::is_directory("labs", error)) return "labs";
  for (fs::path above = here; above.has_relative_path(); above = above.parent_path())
    if (has_lab_source_file(above / "labs"))
      return (above / "labs").lexically_relative(here).string();
  return "labs";
}

void resolve_file_arguments(grading::GradeOptions& options) {
  std::vector<FileOfLab> named;
  for (std::string& word : options.labs) {
    if (!names_a_path(word)) continue;
    named.push_back(read_file_argument(word));
    word = named.back().lab;
  }
  if (named.empty()) return;
  const fs::path folder = labs_folder_of_file(named.front());
  const bool in_one_folder = std::all_of(named.begin(), named.end(), [&](const FileOfLab& each) {
    return labs_folder_of_file(each) == folder;
  });
  if (in_one_folder && !folder.empty() && named.size() == options.labs.size()) {
    options.dir = folder;
    return;
  }
  for (const FileOfLab& each : named)
    if (!options.files.emplace(each.lab, each.file).second)
      throw Error(fmt::format("two files of {}: {} and {}; name one", each.lab,
                              visible_name(options.files.at(each.lab).string()),
                              visible_name(each.file.string())));
}

void find_misplaced_files(grading::GradeOptions& options) {
  const std::vector<std::string> labs =
      grading::labs_or_all(options.labs.empty() ? options.all : options.labs);
  std::vector<std::string> absent;
  for (const std::string& lab : labs) {
    if (options.files.count(lab)) continue;
    const fs::path nested = lab_file_in(options.dir / "labs", lab);
    if (is_file(nested))
      options.files[lab] = nested;
    else if (!is_file(lab_file_in(options.dir, lab)))
      absent.push_back(lab);
  }
  std::error_code error;
  const bool asks = !absent.empty() && fs::is_directory(options.dir, error) &&
                    (!options.labs.empty() || absent.size() == labs.size());
  if (!asks) return;
  for (const ChosenSubmission& choice : choose_submission_files(options.dir, absent)) {
    options.files[choice.lab] = options.dir / choice.file;
    print_error(
        fmt::format("{}: graded is {}{}", choice.lab, choice.file,
                    choice.passed_over.empty() ? "" : "; passed over: " + choice.passed_over));
  }
}

}  // namespace lab32::commands
