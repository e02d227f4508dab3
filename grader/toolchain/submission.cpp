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

#include "base/child.h"
#include "base/pattern.h"

namespace lab32::toolchain {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLargestSubmission = 1 << 20;  // the longest reference solution has 10 KiB
constexpr size_t kMostFiles = 64;

// Opens one step of a way, and no link.
Descriptor step(int from, const std::string& name, int flags) {
  return Descriptor(openat(from, name.c_str(), O_CLOEXEC | O_NOFOLLOW | flags));
}

bool is_link(int from, const std::string& name) {
  struct stat s {};
  return fstatat(from, name.c_str(), &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(s.st_mode);
}

// The directory of a submission. Who grades names the directory that it lies in, through links if
// he likes; the last step, and all below, is the student's.
class Directory {
 public:
  explicit Directory(const fs::path& directory) {
    const std::string name = directory.filename().string();
    if (name.empty() || name == "." || name == "..") {
      at_.reset(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    } else {
      const Descriptor above(
          open(directory.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
      at_.reset(step(above.get(), name, O_RDONLY | O_DIRECTORY).release());
      why_ = at_.get() < 0 && is_link(above.get(), name) ? kLink : std::strerror(errno);
    }
    struct stat s {};
    if (at_.get() >= 0 && fstat(at_.get(), &s) == 0) device_ = s.st_dev;
  }

  // The text of a plain file, else nullopt with `why`.
  std::optional<std::string> read(const fs::path& name, std::string& why) const {
    if (at_.get() < 0) {
      why = why_;
      return std::nullopt;
    }
    Descriptor on_the_way;
    int from = at_.get();
    for (const fs::path& part : name.parent_path()) {
      on_the_way.reset(step(from, part.string(), O_PATH | O_DIRECTORY).release());
      from = on_the_way.get();
      if (from < 0) return std::nullopt;
    }
    const std::string last = name.filename().string();
    // Without waiting: a pipe would block.
    const Descriptor file = step(from, last, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (file.get() < 0) {
      const int reason = errno;
      why = is_link(from, last) ? kLink : std::strerror(reason);
      return std::nullopt;
    }
    return text_of(file.get(), why);
  }

 private:
  static constexpr const char* kLink = "it is a link: hand in the file itself";

  std::optional<std::string> text_of(int file, std::string& why) const {
    struct stat s {};
    if (fstat(file, &s) != 0 || !S_ISREG(s.st_mode)) {
      why = "not a plain file";
      return std::nullopt;
    }
    if (s.st_dev != device_) {
      why = "it is on another device than its directory";
      return std::nullopt;
    }
    std::string text;
    char buffer[65536];
    ssize_t n;
    while ((n = ::read(file, buffer, sizeof buffer)) > 0 && text.size() <= kLargestSubmission)
      text.append(buffer, static_cast<size_t>(n));
    if (n < 0) why = std::strerror(errno);
    if (text.size() > kLargestSubmission) why = "larger than 1 MiB";
    return why.empty() ? std::optional(std::move(text)) : std::nullopt;
  }

  Descriptor at_;
  std::string why_;
  dev_t device_ = 0;
};

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

// Below the directory, by name.
bool stays_below(const fs::path& name) {
  if (name.empty() || name.is_absolute()) return false;
  return std::none_of(name.begin(), name.end(), [](const fs::path& part) { return part == ".."; });
}

void take_headers(const Directory& directory, const fs::path& from, Submission& submission) {
  const std::string text = submission.files.at(from.string());
  for (const auto& name : included_names(text)) {
    // The compiler looks beside the including file.
    fs::path path = (from.parent_path() / name).lexically_normal();
    if (submission.files.count(path.string()) || !stays_below(path)) continue;
    if (submission.files.size() >= kMostFiles) return;
    std::string why;
    auto header = directory.read(path, why);
    if (!header) continue;
    submission.files[path.string()] = *header;
    take_headers(directory, path, submission);
  }
}

// Why it cannot be a program; empty where it may be one.
std::string no_program(const std::string& text) {
  if (const size_t zero = text.find('\0'); zero != std::string::npos)
    return "it is no text: line " +
           std::to_string(1 +
                          std::count(text.begin(), text.begin() + static_cast<long>(zero), '\n')) +
           " has a byte of 0";
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return "it is empty";
  return {};
}

}  // namespace

Submission read_submission(const fs::path& source, const std::string& display_path) {
  std::string why;
  const fs::path path = fs::absolute(source);
  const Directory directory(path.parent_path());
  auto text = directory.read(path.filename(), why);
  if (text) why = no_program(*text);
  if (!why.empty()) throw BadSubmission(display_path + " cannot be read: " + why);
  Submission submission;
  // nvcc hands file names to a shell: none but harmless ones reach it.
  static const Pattern harmless("[A-Za-z0-9_][A-Za-z0-9_.+-]*\\.cu");
  std::string name = source.filename().string();
  submission.name = harmless.match(name) ? name : "submission.cu";
  submission.files[submission.name] = *text;
  take_headers(directory, submission.name, submission);
  return submission;
}

}  // namespace lab32::toolchain
