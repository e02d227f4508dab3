#include "toolchain/submission.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/pattern.h"
#include "toolchain/toolchain.h"

namespace lab32::toolchain {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLargestSubmission = 1 << 20;  // the longest reference solution has 10 KiB
constexpr size_t kMostFiles = 64;

enum class Links { follow, refuse };

// The text of a plain file, else nullopt with `why`. Opened without waiting: a pipe would block.
std::optional<std::string> read_plain(const fs::path& path, Links links, std::string& why) {
  int fd = open(path.c_str(),
                O_RDONLY | O_CLOEXEC | O_NONBLOCK | (links == Links::refuse ? O_NOFOLLOW : 0));
  if (fd < 0) {
    why = std::strerror(errno);
    return std::nullopt;
  }
  struct stat s {};
  std::string text;
  if (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode)) {
    why = "not a plain file";
  } else {
    char buffer[65536];
    ssize_t n;
    while ((n = read(fd, buffer, sizeof buffer)) > 0 && text.size() <= kLargestSubmission)
      text.append(buffer, static_cast<size_t>(n));
    if (text.size() > kLargestSubmission) why = "larger than 1 MiB";
  }
  close(fd);
  if (!why.empty()) return std::nullopt;
  return text;
}

// Every name in #include "..." and __has_include("..."), those in comments too: too many do no
// harm. By hand: no text of a student goes through a regular expression.
std::vector<std::string> included_names(const std::string& text) {
  constexpr std::string_view word = "include";
  const auto after_blanks = [&](size_t at) {
    return std::min(text.find_first_not_of(" \t", at), text.size());
  };
  std::vector<std::string> names;
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos;) {
    at += word.size();
    size_t begin = after_blanks(at);
    if (begin < text.size() && text[begin] == '(') begin = after_blanks(begin + 1);
    if (begin >= text.size() || text[begin] != '"') continue;
    const size_t end = text.find_first_of("\"\n", ++begin);
    if (end == std::string::npos || text[end] == '\n' || end == begin) continue;
    names.push_back(text.substr(begin, end - begin));
    at = end;
  }
  return names;
}

// Below the directory, by name and without links on the way: a link could lead to solutions/.
bool stays_below(const fs::path& directory, const fs::path& name) {
  if (name.empty() || name.is_absolute()) return false;
  fs::path place = directory;
  for (const auto& part : name) {
    if (part == "..") return false;
    place /= part;
    std::error_code error;
    if (fs::is_symlink(place, error)) return false;
  }
  return true;
}

void take_headers(const fs::path& directory, const fs::path& from, Submission& submission) {
  std::string text = submission.files.at(from.string());
  for (const auto& name : included_names(text)) {
    // The compiler looks beside the including file.
    fs::path path = (from.parent_path() / name).lexically_normal();
    if (submission.files.count(path.string()) || !stays_below(directory, path)) continue;
    if (submission.files.size() >= kMostFiles) return;
    std::string why;
    auto header = read_plain(directory / path, Links::refuse, why);
    if (!header) continue;
    submission.files[path.string()] = *header;
    take_headers(directory, path, submission);
  }
}

// A tar of a submission may hold a link to the solution; that is not the student's work.
void refuse_link_to_solution(const fs::path& source, const std::string& display_path) {
  std::error_code error;
  fs::path real = fs::canonical(source, error);
  if (error || !is_inside(real, checkout() / "solutions")) return;
  for (const auto& part : fs::absolute(source))
    if (part == "solutions") return;  // asked for by name: grade --dir solutions
  throw Error(display_path + " is a link into solutions/: hand in a file of your own");
}

}  // namespace

Submission read_submission(const fs::path& source, const std::string& display_path) {
  refuse_link_to_solution(source, display_path);
  std::string why;
  auto text = read_plain(source, Links::follow, why);
  if (!text) throw Error(display_path + " cannot be read: " + why);
  Submission submission;
  // nvcc hands file names to a shell: none but harmless ones reach it.
  static const Pattern harmless("[A-Za-z0-9_][A-Za-z0-9_.+-]*\\.cu");
  std::string name = source.filename().string();
  submission.name = harmless.match(name) ? name : "submission.cu";
  submission.files[submission.name] = *text;
  fs::path directory = fs::absolute(source).parent_path();
  take_headers(directory, submission.name, submission);
  return submission;
}

}  // namespace lab32::toolchain
