#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>

#include "base/error.h"
#include "base/files.h"
#include "base/process.h"
#include "simulator/ptx/parser.h"
#include "tests/fixtures/ptx_support.h"
#include "tests/fixtures/scratch.h"
#include "toolchain/cache.h"
#include "toolchain/toolchain.h"

namespace lab32::tests {

std::string kernel_text(const std::string& body, const std::string& module_scope) {
  return ".version 9.0\n.target sm_90\n.address_size 64\n" + module_scope +
         "\n"
         ".visible .entry k(.param .u64 p, .param .u32 n) {\n"
         ".reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<99>;\n"
         ".reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>;\n" +
         body + "\n}\n";
}

ptx::Module parse_kernel(const std::string& body, const std::string& module_scope) {
  ptx::Module module = ptx::parse(kernel_text(body, module_scope));
  ptx::require_kernel(module, "k");
  return module;
}

const ptx::Function& kernel(const ptx::Module& module) { return require_kernel(module, "k"); }

std::string refusal_of(const std::string& text) {
  try {
    const ptx::Module module = ptx::parse(text);
    const ptx::Function* function = module.find_function("k");
    return function == nullptr ? "" : function->refusal;
  } catch (const Error& error) {
    return error.what();
  }
}

namespace {

// Runs nvcc on a text and returns its output, through the cache, since each file of tests is a
// process of its own.
std::string run_nvcc(const std::string& text, const std::string& suffix,
                     const std::vector<std::string>& flags) {
  const toolchain::Toolchain& tools = toolchain::installed_toolchain();
  std::string all = "tests\n" + tools.identity + suffix + "\n";
  for (const std::string& flag : flags) all += flag + "\n";
  const std::string key = toolchain::cache_key(all + text);
  if (const auto cached = toolchain::load_cached_artifact(key)) return cached->ptx;
  const ScratchDirectory scratch;
  const std::filesystem::path in = scratch.write("in" + suffix, text), out = scratch.path / "out";
  ProcessCommand command;
  command.argv = {tools.nvcc.string(), "-w"};
  command.argv.insert(command.argv.end(), flags.begin(), flags.end());
  command.argv.insert(command.argv.end(), {in.string(), "-o", out.string()});
  command.environment = {"PATH=" + tools.path, "TMPDIR=" + scratch.path.string()};
  const ProcessOutcome outcome = run_process(command);
  if (!outcome.ok()) throw std::runtime_error(lab32::describe(outcome) + "\n" + outcome.err);
  toolchain::CompiledArtifact written;
  written.ptx = read_file(out).value_or("");
  toolchain::store_cached_artifact(key, written);
  return written.ptx;
}

}  // namespace

const std::vector<CompiledPtx>& compiled_ptx() {
  static const std::vector<CompiledPtx> all = [] {
    const std::filesystem::path folder =
        toolchain::checkout_directory() / "grader/tests/fixtures/ptx";
    std::vector<CompiledPtx> results;
    const auto add = [&](const char* file, const char* arch, const char* how) {
      results.push_back({std::string(file) + ", " + arch + " " + how, arch,
                         run_nvcc(read_file(folder / file).value(), ".cu",
                                  {"-ptx", "-std=c++17", "-arch", arch, how})});
    };
    add("language.cu", "sm_75", "-lineinfo");
    add("language.cu", "sm_90", "-lineinfo");
    add("language.cu", "sm_120", "-lineinfo");
    add("language.cu", "sm_90", "-G");
    add("library.cu", "sm_80", "-lineinfo");
    return results;
  }();
  return all;
}

void assemble(const std::string& ptx, const std::string& arch) {
  run_nvcc(ptx, ".ptx", {"-cubin", "-arch", arch});
}

namespace {

class Describer {
 public:
  explicit Describer(const ptx::Module& module) : module_(module) {}

  void variable(const char* what, const ptx::Variable& v) {
    out_ << what << ' ' << v.name << " space " << static_cast<int>(v.space) << " align " << v.align
         << " size " << v.size << " extern " << v.is_extern << " unsized " << v.is_unsized
         << " managed " << v.is_managed << " init";
    for (std::byte b : v.init) out_ << ' ' << static_cast<int>(b);
    for (const auto& r : v.relocations) {
      out_ << " @" << r.offset << '=' << r.symbol << '+' << r.addend << (r.generic ? "g" : "");
    }
    out_ << '\n';
  }

  void function(const ptx::Function& f) {
    out_ << "function " << f.name << " entry " << f.is_entry << " declaration " << f.is_declaration
         << " max " << f.max_threads << " min " << f.min_blocks << " required "
         << f.required_threads[0] << ' ' << f.required_threads[1] << ' ' << f.required_threads[2]
         << '\n';
    for (const auto& v : f.params) variable("param", v);
    for (const auto& v : f.returns) variable("returns", v);
    for (const auto& v : f.locals) variable("local", v);
    for (const auto& r : f.registers) out_ << "register " << r.name << ' ' << r.bits << '\n';
    for (const auto& table : f.branch_tables) {
      out_ << "table";
      for (int target : table) out_ << ' ' << target;
      out_ << '\n';
    }
    for (const ptx::Instruction& in : f.body) instruction(f, in);
  }

  std::string text() const { return out_.str(); }

 private:
  void instruction(const ptx::Function& f, const ptx::Instruction& in) {
    out_ << in.op->pattern << ' ' << in.mods;
    for (int t = 0; t < in.type_count; ++t) out_ << ' ' << to_string(in.type(t));
    out_ << " guard " << in.guard << in.guard_negated << " table " << in.branch_table;
    for (const auto& op : in.operands) operand(op);
    if (in.call >= 0) {
      const ptx::CallInfo& call = f.calls[static_cast<size_t>(in.call)];
      out_ << " call";
      operand(call.target);
      for (const auto& op : call.returns) operand(op);
      out_ << " <-";
      for (const auto& op : call.args) operand(op);
      out_ << ' ' << call.prototype;
      for (uint32_t bytes : call.proto_returns) out_ << ' ' << bytes;
      out_ << " <-";
      for (uint32_t bytes : call.proto_args) out_ << ' ' << bytes;
    }
    for (int loc = in.loc; loc >= 0; loc = module_.locs[static_cast<size_t>(loc)].inlined_at) {
      const ptx::Loc& at = module_.locs[static_cast<size_t>(loc)];
      out_ << " at " << at.file << ':' << at.line << ':' << at.column;
    }
    out_ << '\n';
  }

  void operand(const ptx::Operand& op) {
    out_ << " (" << static_cast<int>(op.kind) << (op.negated ? " not" : "")
         << (op.is_double ? " double" : "") << ' ' << to_string(op.special) << ' ' << op.reg << ' '
         << op.value << ' ' << op.name;
    for (const auto& element : op.elements) operand(element);
    out_ << ')';
  }

  const ptx::Module& module_;
  std::ostringstream out_;
};

}  // namespace

std::string describe(const ptx::Module& module, const ptx::Function& function) {
  Describer describer(module);
  describer.function(function);
  return describer.text();
}

std::string describe_rest(const ptx::Module& module) {
  Describer describer(module);
  for (const auto& v : module.variables) describer.variable("variable", v);
  std::string text = describer.text() + module.target + " " + std::to_string(module.version_major) +
                     "." + std::to_string(module.version_minor) + "\n";
  for (const std::string& file : module.files) text += "file " + file + "\n";
  std::set<std::string> functions;
  for (const auto& function : module.functions) functions.insert(function.name);
  for (const std::string& name : functions) text += name + "\n";
  return text;
}

}  // namespace lab32::tests
