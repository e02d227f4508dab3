#include "grading/timing/reference_module.h"

#include <fmt/core.h>

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <sstream>

#include "base/environment.h"
#include "base/error.h"
#include "base/files.h"
#include "base/random.h"
#include "grading/engine/compiled.h"
#include "toolchain/machine_code.h"
#include "toolchain/nvcc.h"

namespace lab32::grading {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "the reference solution";

// PTX runs on every later card, so the oldest architecture for which the solution compiles is used.
constexpr const char* kOldest[] = {"sm_75", "sm_80", "sm_90"};

constexpr char kMagic[] = "lab32 reference 1\n";
constexpr uint64_t kKey = 0x6c61623332207265u;

fs::path solution_file(const std::string& lab) {
  return root_of_lab(lab) / "solutions" / lab / (lab + ".cu");
}
fs::path sealed_file(const std::string& lab) { return lab32_root() / "build/references" / lab; }

std::string compile_reference_solution_to_ptx(const std::string& lab, const fs::path& solution) {
  const toolchain::Submission submission = toolchain::read_submission(solution, solution.string());
  for (const char* const arch : kOldest) {
    try {
      return ptx_without_debug_info(compile_with_given_kernels(lab, submission, arch, kName).ptx);
    } catch (const toolchain::CompileError& e) {
      if (arch == std::end(kOldest)[-1])
        throw MachineError(e.what());  // not the submission's fault
    }
  }
  return "";
}

int generation(const std::string& arch) { return std::atoi(arch.c_str() + std::strlen("sm_")); }

int target_architecture_of(const std::string& ptx) {
  const std::string directive = ".target sm_";
  const size_t at = ptx.find(directive);
  return at == std::string::npos ? 0 : std::atoi(ptx.c_str() + at + directive.size());
}

bool begins_with(const std::string& line, const char* literal_prefix) {
  return line.compare(0, std::strlen(literal_prefix), literal_prefix) == 0;
}

// Replaces the names of local variables, since they contain the names in the source, such as
// `words` in _ZZ7softmaxPKfPfiE5words.
std::string with_numbered_local_variables(const std::string& text) {
  std::map<std::string, std::string> names;
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const bool inside = at > 0 && (std::isalnum(static_cast<unsigned char>(text[at - 1])) ||
                                   text[at - 1] == '_' || text[at - 1] == '$');
    if (inside || text.compare(at, 3, "_ZZ") != 0) {
      out += text[at++];
      continue;
    }
    size_t end = at;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) ||
                                 text[end] == '_' || text[end] == '$'))
      ++end;
    const auto named = names.emplace(text.substr(at, end - at), "");
    if (named.second) named.first->second = fmt::format("local{}", names.size());
    out += named.first->second;
    at = end;
  }
  return out;
}

// XORs with a stream that depends on the text's hash, so that all modules differ. It is its own
// inverse.
std::string xor_with_stream(std::string bytes, uint64_t hash) {
  Random stream(kKey ^ hash);
  for (size_t i = 0; i < bytes.size(); i += 8) {
    const uint64_t word = stream.bits();
    for (size_t k = i; k < std::min(i + 8, bytes.size()); ++k)
      bytes[k] = static_cast<char>(bytes[k] ^ static_cast<char>(word >> 8 * (k - i)));
  }
  return bytes;
}

}  // namespace

std::string ptx_without_debug_info(const std::string& ptx) {
  std::istringstream lines(ptx);
  std::string out;
  bool in_section = false;  // inside the braces of a section of debug information
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos) continue;
    line.erase(0, first);
    if (begins_with(line, ".section")) in_section = true;
    const bool dropped = in_section || begins_with(line, "//") || begins_with(line, ".loc") ||
                         begins_with(line, ".file") ||
                         line.find("lab32_answer_") != std::string::npos;
    if (in_section && line.front() == '}') in_section = false;
    if (dropped) continue;
    out += line.substr(0, line.find("//")) + "\n";
  }
  return with_numbered_local_variables(out);
}

std::string obfuscate_text(const std::string& text) {
  const uint64_t hash = hash_of(text);
  return kMagic + fmt::format("{:016x}\n", hash) + xor_with_stream(text, hash);
}

std::optional<std::string> deobfuscate_text(const std::string& bytes) {
  const size_t head = std::strlen(kMagic) + 17;
  if (bytes.size() < head || !begins_with(bytes, kMagic)) return std::nullopt;
  const uint64_t hash = std::strtoull(bytes.c_str() + std::strlen(kMagic), nullptr, 16);
  std::string text = xor_with_stream(bytes.substr(head), hash);
  if (hash_of(text) != hash) return std::nullopt;
  return text;
}

std::string sealed_reference_ptx(const std::string& lab) {
  const fs::path solution = solution_file(lab);
  if (!fs::exists(solution)) throw Error("there is no " + solution.string() + " to seal");
  return obfuscate_text(compile_reference_solution_to_ptx(lab, solution));
}

std::optional<toolchain::CompiledArtifact> reference_artifact(const std::string& lab,
                                                              const std::string& arch) {
  std::string ptx;
  if (const fs::path solution = solution_file(lab); fs::exists(solution)) {
    ptx = compile_reference_solution_to_ptx(lab, solution);
  } else if (const std::optional<std::string> bytes = read_file(sealed_file(lab))) {
    const std::optional<std::string> text = deobfuscate_text(*bytes);
    if (!text) throw MachineError(sealed_file(lab).string() + " is damaged: install lab32 again");
    ptx = *text;
  } else {
    return std::nullopt;
  }
  if (target_architecture_of(ptx) > generation(arch)) return std::nullopt;
  return toolchain::assemble_own_ptx(ptx, arch, kName);
}

}  // namespace lab32::grading
