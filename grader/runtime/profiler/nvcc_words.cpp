#include "runtime/profiler/nvcc_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/text.h"

namespace lab32::profiler {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool is_architecture_option(std::string_view name) {
  return is_one_of(name,
                   {"arch", "gpu-architecture", "code", "gpu-code", "gencode", "generate-code"});
}

// Options with which nvcc prints text or writes a file for one architecture. The result is then no
// program.
bool produces_no_program(std::string_view name) {
  return is_one_of(
      name, {"version", "V", "help", "h", "E", "preprocess", "M", "generate-dependencies", "MM",
             "generate-nonsystem-dependencies", "ptx", "cubin", "optix-ir", "list-gpu-code",
             "code-ls", "list-gpu-arch", "arch-ls"});
}

// `sm_90a` is 90 and "a".
struct GpuArchitecture {
  unsigned number = 0;
  std::string suffix;
};

std::optional<GpuArchitecture> parse_architecture(const std::string& word) {
  static const RegularExpression form("^(sm|compute|lto)_([0-9]+)([af]?)$");
  const auto found = form.search(word);
  if (!found) return std::nullopt;
  return GpuArchitecture{static_cast<unsigned>(std::stoul((*found)[2])), (*found)[3]};
}

// Collects the architectures in an option such as `arch=compute_80,code=[sm_80,compute_80]`.
void collect_architectures(const std::string& value, const GpuArchitecture& device,
                           std::vector<GpuArchitecture>* all) {
  std::string word;
  for (const char c : value + ",") {
    if (c != ',' && c != '=' && c != '[' && c != ']' && c != '"' && c != '\'') {
      word += c;
      continue;
    }
    if (const auto architecture = parse_architecture(word)) all->push_back(*architecture);
    if (is_one_of(word, {"native", "all", "all-major"})) all->push_back(device);
    word.clear();
  }
}

// Escapes a word for the shell to which nvcc passes the linker's options. nvcc quotes nothing,
// except that it escapes quotes.
std::string escaped_for_shell(const std::string& word) {
  return RegularExpression("[^A-Za-z0-9/._'\"-]").replace(word, "\\$0");
}

}  // namespace

std::string_view option_name(std::string_view option) {
  option.remove_prefix(std::min(option.find_first_not_of('-'), option.size()));
  return option.substr(0, option.find('='));
}

bool takes_value_in_next_word(std::string_view option) {
  if (option.find('=') != std::string_view::npos) return false;
  return is_one_of(option_name(option), {"o",
                                         "output-file",
                                         "l",
                                         "library",
                                         "D",
                                         "define-macro",
                                         "U",
                                         "undefine-macro",
                                         "include",
                                         "pre-include",
                                         "L",
                                         "library-path",
                                         "I",
                                         "include-path",
                                         "isystem",
                                         "system-include",
                                         "cudart",
                                         "cudadevrt",
                                         "ldir",
                                         "libdevice-directory",
                                         "target-dir",
                                         "odir",
                                         "output-directory",
                                         "MF",
                                         "dependency-output",
                                         "MT",
                                         "dependency-target-name",
                                         "ccbin",
                                         "compiler-bindir",
                                         "abin",
                                         "archiver-binary",
                                         "std",
                                         "x",
                                         "Xcompiler",
                                         "compiler-options",
                                         "Xlinker",
                                         "linker-options",
                                         "Xarchive",
                                         "archive-options",
                                         "Xptxas",
                                         "ptxas-options",
                                         "Xnvlink",
                                         "nvlink-options",
                                         "gencode",
                                         "generate-code",
                                         "arch",
                                         "gpu-architecture",
                                         "code",
                                         "gpu-code",
                                         "maxrregcount",
                                         "O",
                                         "optimize",
                                         "Ofc",
                                         "ofast-compile",
                                         "opt-info",
                                         "t",
                                         "threads",
                                         "split-compile",
                                         "keep-dir",
                                         "compress-mode",
                                         "diag-error",
                                         "diag-suppress",
                                         "diag-warn",
                                         "Werror",
                                         "default-stream",
                                         "rdc",
                                         "relocatable-device-code",
                                         "optf",
                                         "options-file",
                                         "idp",
                                         "input-drive-prefix",
                                         "ddp",
                                         "dependency-drive-prefix",
                                         "dp",
                                         "drive-prefix",
                                         "fmad",
                                         "ftz",
                                         "prec-div",
                                         "prec-sqrt",
                                         "e",
                                         "entries",
                                         "machine",
                                         "m",
                                         "allow-unsupported-compiler-version",
                                         "jump-table-density",
                                         "ewp",
                                         "run-args",
                                         "rp"});
}

bool is_source_file(std::string_view word) {
  return is_one_of(fs::path(word).extension().string(), {".cu", ".cpp", ".cc", ".cxx", ".c"});
}

bool is_input_file(std::string_view word) {
  if (word.empty() || word[0] == '-') return false;
  const std::string name = fs::path(word).filename().string();
  return is_source_file(word) ||
         is_one_of(fs::path(word).extension().string(), {".o", ".a", ".so"}) ||
         name.find(".so.") != std::string::npos;
}

NvccWords split_words(const Words& words) {
  NvccWords split;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i].empty() || words[i][0] != '-') {
      split.inputs.push_back(words[i]);
      continue;
    }
    split.options.push_back({words[i]});
    if (takes_value_in_next_word(words[i]) && i + 1 < words.size())
      split.options.back().push_back(words[++i]);
  }
  return split;
}

Words nvcc_words_for_simulator(const Words& words, const std::string& device,
                               const fs::path& runtime) {
  const GpuArchitecture gpu = parse_architecture(device).value_or(GpuArchitecture{});
  std::vector<GpuArchitecture> named;
  Words kept;
  bool debug = false;
  std::string said;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.empty() || word[0] != '-') {
      kept.push_back(word);
      continue;
    }
    const std::string_view name = option_name(word);
    const bool apart = takes_value_in_next_word(word) && i + 1 < words.size();
    if (produces_no_program(name)) return words;
    debug |= is_one_of(name, {"G", "device-debug", "lineinfo", "generate-line-info"});
    if (is_architecture_option(name)) {
      const std::string value =
          apart ? words[i + 1] : word.substr(std::min(word.find('='), word.size()));
      collect_architectures(value, gpu, &named);
      said += (said.empty() ? "" : " ") + word + (apart ? " " + value : "");
    } else if (!is_one_of(name, {"cudart", "dlto", "dlink-time-opt", "lcudart_static"})) {
      kept.push_back(word);
      if (apart) kept.push_back(words[i + 1]);
    }
    if (apart) ++i;
  }

  GpuArchitecture chosen = gpu;
  if (!named.empty()) {
    chosen.number = 0;
    for (const GpuArchitecture& a : named) {
      if (a.number > gpu.number || a.number < chosen.number) continue;
      // Code for exactly one GPU (suffix "a") is preferred to code for all of its architecture.
      if (!a.suffix.empty() && a.number != gpu.number) continue;
      if (a.number > chosen.number) chosen.suffix.clear();
      chosen.number = a.number;
      if (!a.suffix.empty()) chosen.suffix = a.suffix;
    }
    if (chosen.number == 0)
      throw Error(
          fmt::format("{}: the simulated GPU is {} and cannot run code for newer ones: remove the "
                      "option, or use {}",
                      said, device, device));
  }
  const std::string own = std::to_string(chosen.number) + chosen.suffix;
  std::string codes = "compute_" + own + ",sm_" + std::to_string(gpu.number) + chosen.suffix;
  if (chosen.number != gpu.number) codes += ",sm_" + own;

  Words made = {"-gencode", "arch=compute_" + own + ",code=[" + codes + "]", "-cudart", "shared",
                "-L" + runtime.string(),
                // This folder is searched after the toolkit's own headers. It has the cublas_v2.h
                // for toolkits without cuBLAS.
                "-isystem", (runtime / "include").string()};
  // These options come before the paths in environment variables, which may contain a real runtime.
  for (const std::string& linker :
       {std::string("--disable-new-dtags"), "-rpath=" + escaped_for_shell(runtime.string())}) {
    made.push_back("-Xlinker");
    made.push_back(linker);
  }
  if (!debug) made.push_back("-lineinfo");
  made.insert(made.end(), kept.begin(), kept.end());
  return made;
}

CommandWords split_own_nvcc_and_program_words(
    const std::vector<std::string>& words,
    const std::function<std::optional<bool>(const std::string&)>& is_ours) {
  CommandWords split;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool option = word.size() > 1 && word[0] == '-';
    const auto has_value = option ? is_ours(word.substr(0, word.find('='))) : std::nullopt;
    auto& whose = has_value ? split.ours : option ? split.program.words : split.arguments;
    if (option) {
      whose.push_back(word);
      const bool apart = has_value ? *has_value && word.find('=') == std::string::npos
                                   : takes_value_in_next_word(word);
      if (apart && i + 1 < words.size()) whose.push_back(words[++i]);
    } else if (split.program.file.empty()) {
      split.program.file = word;
    } else if (is_source_file(split.program.file) && is_input_file(word)) {
      split.program.words.push_back(word);
    } else {
      split.arguments.push_back(word);
    }
  }
  return split;
}

// ---------------------------------------------------------------------------------------------

namespace {

// Members of cudaDeviceProp that CUDA 13 has removed, and the attributes that replace them.
constexpr struct {
  const char *member, *attribute;
} kMembers[] = {{"clockRate", "ClockRate"},
                {"memoryClockRate", "MemoryClockRate"},
                {"computeMode", "ComputeMode"},
                {"deviceOverlap", "GpuOverlap"},
                {"kernelExecTimeoutEnabled", "KernelExecTimeout"},
                {"singleToDoublePrecisionPerfRatio", "SingleToDoublePrecisionPerfRatio"}};

// Functions that take a cudaMemLocation instead of a device's number, and their last arguments.
constexpr struct {
  const char *name, *arguments;
} kFunctions[] = {{"cudaMemPrefetchAsync", "{cudaMemLocationTypeDevice, device}, 0, stream"},
                  {"cudaMemAdvise", "advice, {cudaMemLocationTypeDevice, device}"}};

}  // namespace

std::optional<std::string> hint_about_old_code(const std::string& messages) {
  static const RegularExpression member("\"cudaDeviceProp\" has no member \"(\\w+)\""),
      architecture("Unsupported gpu architecture '(\\w+)'");
  if (const auto found = member.search(messages))
    for (const auto& m : kMembers)
      if ((*found)[1] == m.member)
        return fmt::format(
            "CUDA 13 has no cudaDeviceProp::{}; cudaDeviceGetAttribute(&value, cudaDevAttr{}, "
            "device) gives the value",
            m.member, m.attribute);
  if (messages.find("cudaMemLocation") != std::string::npos)
    for (const auto& f : kFunctions)
      if (messages.find(f.name) != std::string::npos)
        return fmt::format(
            "since CUDA 13 {} takes a location instead of a device's number: {}(pointer, bytes, "
            "{}); the host is {{cudaMemLocationTypeHost, 0}}",
            f.name, f.name, f.arguments);
  if (const auto found = architecture.search(messages))
    return fmt::format(
        "CUDA 13 does not build for {}: leave out the option, or give sm_75 or a newer one",
        (*found)[1]);
  return std::nullopt;
}

}  // namespace lab32::profiler
