#include "runtime/profiler/library_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/text.h"

namespace lab32::profiler {
namespace {

constexpr int kProfileWidth = 100, kCheckWidth = 80, kName = 28;

std::string how_often(uint64_t n) { return n == 1 ? "once" : grouped(n) + " times"; }

std::string when(uint64_t first) {
  return first == 0 ? "before any launch" : fmt::format("first after launch {}", first - 1);
}

}  // namespace

std::string library_calls_text(const std::vector<record::LibraryCall>& calls) {
  if (calls.empty()) return "";
  std::vector<std::pair<const record::LibraryCall*, uint64_t>> kinds;
  for (const record::LibraryCall& call : calls) {
    const auto alike = [&](const auto& kind) {
      return kind.first->name == call.name && kind.first->arguments == call.arguments;
    };
    const auto at = std::find_if(kinds.begin(), kinds.end(), alike);
    if (at == kinds.end())
      kinds.emplace_back(&call, 1);
    else
      ++at->second;
  }
  std::string out =
      "library call, not simulated: worked out on the host, without counts and time\n" +
      std::string(kProfileWidth, '-') + "\n";
  for (const auto& [call, count] : kinds)
    out += fmt::format("  {}{}; {}, {}\n", pad_right(call->name, kName), call->arguments,
                       how_often(count), when(call->launches));
  return out + "\n";
}

void add_library_findings(const std::vector<record::LibraryCall>& calls, CheckReport* report) {
  using Kind = record::LibraryCall::Finding::Kind;
  std::map<std::tuple<std::string, Kind, std::string>, uint64_t> all;
  for (const record::LibraryCall& call : calls)
    for (const record::LibraryCall::Finding& f : call.findings)
      ++all[{call.name + " (" + call.arguments + ")", f.kind, f.text}];
  for (const auto& [what, count] : all) {
    const auto& [call, kind, text] = what;
    const bool memory = kind == Kind::memory;
    ++(memory ? report->memory : report->initialisation);
    report->text +=
        fmt::format("{}, {} {} in {}, a library call\n", memory ? "memory" : "initialisation",
                    grouped(count), count == 1 ? "time" : "times", call);
    for (const std::string& line : wrap(text, kCheckWidth - 2)) report->text += "  " + line + "\n";
    report->text += "\n";
  }
}

}  // namespace lab32::profiler
