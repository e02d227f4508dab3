#include "base/demangle.h"

#include <cxxabi.h>

#include <atomic>
#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/forked.h"

namespace lab32 {
namespace {

// Each reference to an earlier part of the name may double the text: 200 characters can stand for
// gigabytes, and the C++ library has no limit. A name with more of them than this is read in a
// child process, for so long, and not at all once several were not worth it.
constexpr int kHarmlessReferences = 10;
constexpr size_t kHarmlessLength = 8192, kLongest = 1 << 20;
constexpr double kSeconds = 0.3;
constexpr int kMostFailures = 3;

// "S_", "S1Z_", "T0_".
int references_in(const std::string& name) {
  int count = 0;
  for (size_t at = 0; at < name.size(); ++at) {
    if (name[at] != 'S' && name[at] != 'T') continue;
    size_t end = at + 1;
    while (end < name.size() && (std::isdigit(static_cast<unsigned char>(name[end])) ||
                                 std::isupper(static_cast<unsigned char>(name[end]))))
      ++end;
    count += end < name.size() && name[end] == '_' ? 1 : 0;
  }
  return count;
}

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? std::string(text.get()) : name;
}

}  // namespace

std::string demangle(const std::string& name) {
  if (name.compare(0, 2, "_Z") != 0) return name;  // else `f` would become `float`
  if (name.size() > kLongest) return name;
  if (references_in(name) <= kHarmlessReferences && name.size() <= kHarmlessLength)
    return demangled(name);
  static std::atomic<int> failures{0};
  if (failures >= kMostFailures) return name;
  const Forked child = run_forked(
      [&] {
        const std::string text = demangled(name);
        const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
        return text.size() > kLongest ? std::vector<std::byte>()
                                      : std::vector<std::byte>(bytes, bytes + text.size());
      },
      kSeconds);
  if (child.end == Forked::End::done && !child.answer.empty())
    return {reinterpret_cast<const char*>(child.answer.data()), child.answer.size()};
  ++failures;
  return name;
}

}  // namespace lab32
