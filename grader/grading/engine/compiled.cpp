#include "grading/engine/compiled.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/error.h"
#include "base/files.h"
#include "base/source_file.h"
#include "base/text.h"
#include "base/work.h"
#include "device/device.h"
#include "device/run_text.h"
#include "grading/engine/check.h"
#include "grading/engine/registry.h"

namespace lab32::grading {

namespace fs = std::filesystem;

namespace {

const char kNamespace[] = "lab32_given::";

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// All identifiers and keywords of a text, without those in comments and strings.
std::set<std::string> identifiers_in(const std::string& text) {
  std::set<std::string> names;
  for (size_t at = 0; at < text.size();) {
    if (text.compare(at, 2, "//") == 0) {
      at = std::min(text.find('\n', at), text.size());
    } else if (text[at] == '"') {
      at = std::min(text.find('"', at + 1), text.size() - 1) + 1;
    } else if (is_name(text[at])) {
      size_t end = at;
      while (end < text.size() && is_name(text[end])) ++end;
      if (!std::isdigit(static_cast<unsigned char>(text[at])))
        names.insert(text.substr(at, end - at));
      at = end;
    } else {
      ++at;
    }
  }
  return names;
}

// Undefines the submission's macros, which would otherwise change the code that is compiled behind
// it. CUDA's own macros are defined again as in its headers (crt/).
std::string undef_lines_for_identifiers(const std::string& text) {
  std::string lines;
  for (const std::string& name : identifiers_in(text)) lines += "#undef " + name + "\n";
  for (const char* word : {"global", "device", "shared"})
    lines +=
        fmt::format("#undef {0}\n#undef __{0}__\n#define __{0}__ __attribute__(({0}))\n", word);
  return "#undef __attribute__\n" + lines;
}

// This text stands between the given kernels and the submission. It renames the grader's namespace,
// so that a macro of the submission that spells `lab32_given` cannot reach it. The text behind the
// submission undefines the macro; refuse_reserved_namespace() refuses a submission that writes the
// name itself.
const char kOwnName[] = "#define lab32_given lab32_given_is_the_graders\n";

// Whether a piece of given.cu uses what the submission defines: a name of the global namespace.
bool has_global_scope_qualifier(const std::string& piece) {
  static const RegularExpression global("(^|[^A-Za-z0-9_>:])::[A-Za-z_]");
  return global.search(piece).has_value();
}

// A "#line" that gives a piece of given.cu the line numbers of the kernel in the submission.
std::string line_directive_for(const std::string& piece, const SourceFile& source) {
  static const RegularExpression kernel(".*__global__ void ([A-Za-z0-9_]+)\\(.*");
  std::istringstream in(piece);
  int before = 0;
  for (std::string line; std::getline(in, line); ++before) {
    const auto name = kernel.match(line);
    if (!name) continue;
    const int there = source.line_of_name(name->at(1));
    if (there > before) return fmt::format("#line {} \"@SUBMISSION@\"\n", there - before);
    return fmt::format("#line 1 \"given-{}.cu\"\n",
                       name->at(1));  // rewrite_given_kernel_errors() translates this name
  }
  return "#line 1 \"given.cu\"\n";
}

}  // namespace

toolchain::CodeAroundSubmission code_around_submission(const std::string& lab,
                                                       const SourceFile& source) {
  const auto text = read_file(root_of_lab(lab) / "grader/labs" / lab / "given.cu");
  if (!text) return {};
  const std::string open = "namespace lab32_given {\n", close = "}  // namespace lab32_given\n";
  toolchain::CodeAroundSubmission around{open, open};
  size_t begin = text->find(open);
  const size_t last = text->rfind(close);
  if (begin == std::string::npos || last == std::string::npos)
    throw Error(
        fmt::format("{}/given.cu has its kernels between the lines `namespace lab32_given "
                    "{{` and `}}  // namespace lab32_given`",
                    lab));
  begin += open.size();
  while (begin < last) {
    const size_t end = std::min(text->find("\n\n", begin), last);
    const std::string piece = text->substr(begin, end - begin);
    (has_global_scope_qualifier(piece) ? around.behind : around.before) +=
        line_directive_for(piece, source) + piece + "\n";
    begin = std::min(text->find_first_not_of('\n', end), last);
  }
  around.before += close + kOwnName;
  // A submission that ends within a declaration gets the error at its last line.
  around.behind =
      undef_lines_for_identifiers(*text) +
      fmt::format("#line {} \"@SUBMISSION@\"\n", std::max(1, source.last_line_with_text())) +
      around.behind + close;
  return around;
}

void refuse_reserved_namespace(const toolchain::Submission& submission,
                               const std::string& display) {
  for (const auto& [file, text] : submission.files) {
    // The text as the preprocessor sees it, where a backslash at the end of a line joins the next
    // line to it.
    const std::string joined = RegularExpression("\\\\[ \t\r]*\n").replace(text, "");
    const size_t at = joined.find("lab32_given");
    if (at == std::string::npos) continue;
    const std::string name =
        file == submission.name ? display : (fs::path(display).parent_path() / file).string();
    const auto line = 1 + std::count(joined.begin(), joined.begin() + static_cast<long>(at), '\n');
    throw toolchain::CompileError(
        display, fmt::format("{}({}): error: the name lab32_given belongs to the grader's own "
                             "kernels; choose another one\n",
                             name, line));
  }
}

std::string rewrite_given_kernel_errors(const std::string& messages, const std::string& display) {
  static const RegularExpression lacking(
      "^given-([A-Za-z0-9_]+)\\.cu\\([0-9]+\\): error: the global scope has no (\"[^\"]+\")$"),
      place("^given-([A-Za-z0-9_]+)\\.cu\\([0-9]+\\):"), file("\"?given-([A-Za-z0-9_]+)\\.cu\"?"),
      instance("lab32_given::(.*) at line [0-9]+$"),  // its line is not the student's
      rest("^(Remark: |[0-9]+ errors? detected )");
  if (messages.find("given-") == std::string::npos) return messages;
  std::istringstream in(messages);
  std::vector<std::string> lines;
  bool lacks = false;
  for (std::string line; std::getline(in, line); lines.push_back(line))
    lacks = lacks || lacking.match(line);
  std::set<std::string> reported;
  std::string out;
  bool dropped = false;  // the current message is dropped
  for (std::string line : lines) {
    const bool begins = !line.empty() && line[0] != ' ';
    if (const auto found = lacking.match(line)) {
      dropped = !reported.insert(found->at(2)).second;
      line =
          fmt::format("{}: error: the file has no {}, which the grader's kernel {} needs:", display,
                      found->at(2), found->at(1));
    } else if (const auto used = place.search(line)) {
      dropped = lacks;  // drop its follow-up notes, too
      line.replace(0, used->at(0).size(),
                   fmt::format("{}, where the grader's kernel {} uses it:", display, used->at(1)));
    } else if (begins) {
      dropped = lacks && rest.search(line);
    }
    if (!dropped)
      out += instance.replace(file.replace(line, "the grader's kernel $1"), "$1") + "\n";
  }
  return out;
}

bool is_given_kernel(const std::string& kernel) { return kernel.rfind(kNamespace, 0) == 0; }

std::string kernel_name_with_namespace(const std::string& kernel, device::LoadedModule& module) {
  return module.find(kNamespace + kernel) ? kNamespace + kernel : kernel;
}

std::string kernel_name_with_namespace(const Check& check, const std::string& kernel) {
  return kernel_name_with_namespace(kernel, check.session.module);
}

toolchain::CompiledArtifact compile_with_given_kernels(const std::string& lab,
                                                       const toolchain::Submission& submission,
                                                       const std::string& arch,
                                                       const std::string& display,
                                                       const std::string& more) {
  refuse_reserved_namespace(submission, display);
  toolchain::SandboxedCompileSettings options;
  options.around = [&](const std::string& text) {
    toolchain::CodeAroundSubmission around =
        code_around_submission(lab, SourceFile::from_text(text, display));
    around.behind += more;
    return around;
  };
  try {
    return toolchain::compile(submission, arch, display, options);
  } catch (const toolchain::CompileError& e) {
    throw toolchain::CompileError(display, rewrite_given_kernel_errors(e.text, display));
  }
}

BackgroundCompilation::BackgroundCompilation(const std::string& lab,
                                             const std::filesystem::path& file,
                                             const std::string& arch, BackgroundWork::When when)
    : result_(std::make_shared<CompilationResult>()) {
  const auto compile = [lab, file, arch, result = result_] {
    const std::string display = visible_name(file.string());
    result->submission = toolchain::read_submission(file, display);
    const WorkTimer watch;
    result->artifact = compile_with_given_kernels(lab, result->submission, arch, display);
    result->seconds = watch.wall_seconds();
  };
  work_ = BackgroundWork(compile, when);
}

CompilationResult BackgroundCompilation::wait_for_result() {
  work_.wait_and_rethrow();
  return std::move(*result_);
}

PtxOrMessages compile_to_ptx(const std::string& lab, const std::filesystem::path& file,
                             const std::string& device) {
  labs_or_all({lab});
  const std::string arch = device::open_device(device)->arch(), display = lab + ".cu";
  try {
    return {true, compile_with_given_kernels(lab, toolchain::read_submission(file, display), arch,
                                             display)
                      .ptx};
  } catch (const toolchain::CompileError& e) {
    return {false, e.what()};
  } catch (const toolchain::BadSubmission& e) {
    return {false, e.what()};
  }
}

namespace {

toolchain::CompiledArtifact compile_with_kernel_instance(const std::string& lab,
                                                         const std::filesystem::path& file,
                                                         const std::string& arch,
                                                         const std::string& kernel) {
  const std::string display = visible_name(file.string());
  return compile_with_given_kernels(
      lab, toolchain::read_submission(file, display), arch, display,
      fmt::format("namespace lab32_given {{\n"
                  "template __global__ void {}(const unsigned*, unsigned*, int);\n}}\n",
                  kernel));
}

}  // namespace

std::vector<uint32_t> output_of_given_kernel(const std::string& lab,
                                             const std::filesystem::path& file,
                                             const std::string& device, const std::string& kernel,
                                             const std::vector<uint32_t>& in) {
  constexpr uint32_t kBlock = 256;
  const auto on = device::open_device(device);
  const std::string display = visible_name(file.string());
  auto module = on->load(compile_with_given_kernels(lab, toolchain::read_submission(file, display),
                                                    on->arch(), display));
  if (!module->find(kNamespace + kernel))
    module = on->load(compile_with_kernel_instance(lab, file, on->arch(), kernel));
  device::Kernel* found = module->find(kernel_name_with_namespace(kernel, *module));
  if (!found) throw Error(display + " has no " + kernel);
  const auto n = static_cast<uint32_t>(in.size());
  const device::DeviceAddressRange from = on->allocate(n * sizeof(uint32_t), "in"),
                                   to = on->allocate(n * sizeof(uint32_t), "out");
  on->upload(from, in.data(), from.bytes);
  const device::LaunchResult run =
      on->launch(*found, {{(n + kBlock - 1) / kBlock}, {kBlock}}, {from, to, static_cast<int>(n)});
  if (run.fault)
    throw Error(fmt::format("{} stops with an error: {}", kernel, device::describe(*run.fault)));
  std::vector<uint32_t> out(n);
  on->download(out.data(), to, to.bytes);
  return out;
}

std::optional<SwizzleLabHooks>& swizzle_lab() {
  static std::optional<SwizzleLabHooks> lab;
  return lab;
}

}  // namespace lab32::grading
