#include "simulator/ptx/module.h"

#include <algorithm>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

namespace lab32::ptx {

namespace {

// Whether a file belongs to the toolkit or the host compiler rather than to the student: it is
// below an include directory of /usr/local/cuda-13.0, of its targets/x86_64-linux, of the Python
// wheels (nvidia/…/include), or of /usr.
bool is_system_include_file(std::string_view path) {
  for (size_t at = path.find("/include/"); at != std::string_view::npos;
       at = path.find("/include/", at + 1)) {
    const std::string_view before = path.substr(0, at);
    if (before == "/usr" || before == "/usr/local") return true;
    if (before.find("/nvidia/") != std::string_view::npos) return true;
    if (before.find("/targets/") != std::string_view::npos) return true;
    if (before.find("/lib/gcc") != std::string_view::npos) return true;
    const size_t slash = before.rfind('/');
    const std::string_view last =
        slash == std::string_view::npos ? before : before.substr(slash + 1);
    if (last.substr(0, 4) == "cuda" || last == "cccl") return true;
  }
  return false;
}

}  // namespace

const Function* Module::find_function(std::string_view name) const {
  const auto found = std::find_if(functions.begin(), functions.end(),
                                  [&](const Function& f) { return f.name == name; });
  return found == functions.end() ? nullptr : &*found;
}

const Variable* Module::find_variable(std::string_view name) const {
  const auto found = std::find_if(variables.begin(), variables.end(),
                                  [&](const Variable& v) { return v.name == name; });
  return found == variables.end() ? nullptr : &*found;
}

std::optional<Module::SourcePosition> Module::student_source_position(int loc) const {
  std::optional<SourcePosition> best;
  // inlined_at always refers to an earlier entry, so this loop ends.
  while (loc >= 0 && static_cast<size_t>(loc) < locs.size()) {
    const Loc& at = locs[static_cast<size_t>(loc)];
    if (at.file >= 0 && static_cast<size_t>(at.file) < files.size()) {
      const std::string& file = files[static_cast<size_t>(at.file)];
      const bool inner = best && !is_system_include_file(best->file);
      if (!inner)
        best = SourcePosition{file, at.line, 0};
      else if (file == best->file)
        best->call_line = at.line;
    }
    loc = at.inlined_at;
  }
  return best;
}

void add_line_information_if_absent(Module& module, const std::string& name,
                                    const std::map<int, std::pair<std::string, int>>& places) {
  if (!module.locs.empty()) return;
  std::map<std::string, int> files;
  const auto number_of = [&](const std::string& file) {
    const auto [at, is_new] = files.try_emplace(file, 0);
    if (is_new) {
      module.files.resize(std::max<size_t>(module.files.size(), 1));
      at->second = static_cast<int>(module.files.size());
      module.files.push_back(file);
    }
    return at->second;
  };
  for (Function& function : module.functions) {
    for (Instruction& instruction : function.body) {
      const auto after = places.upper_bound(instruction.ptx_line);
      const bool known = after != places.begin() && std::prev(after)->first >= function.ptx_line;
      instruction.loc = static_cast<int>(module.locs.size());
      if (known) {
        const auto& [file, line] = std::prev(after)->second;
        module.locs.push_back({number_of(file), line, 0, -1});
      } else {
        module.locs.push_back({number_of(name), instruction.ptx_line, 0, -1});
      }
    }
  }
}

const Function& require_kernel(const Module& module, std::string_view name) {
  const Function* function = module.find_function(name);
  if (function == nullptr || !function->is_entry) {
    std::string known;
    for (const Function& f : module.functions) {
      if (f.is_entry) known += (known.empty() ? "" : ", ") + demangle(f.name);
    }
    throw Error("there is no kernel `" + demangle(std::string(name)) + "`; " +
                (known.empty() ? "the file defines none" : "the file defines: " + known));
  }
  if (!function->refusal.empty()) throw Error(function->refusal);
  return *function;
}

std::vector<uint32_t> parameter_offsets(const std::vector<Variable>& params, uint32_t* total) {
  std::vector<uint32_t> offsets;
  uint64_t end = 0;
  for (const Variable& param : params) {
    const uint64_t begin = align_up(end, param.align);
    offsets.push_back(static_cast<uint32_t>(begin));
    end = begin + param.size;
  }
  if (total != nullptr) *total = static_cast<uint32_t>(end);
  return offsets;
}

Space memory_space(const Instruction& in, size_t use) {
  const Space of_row = in.op->traits.memory[use].space;
  if (of_row != Space::generic) return of_row;
  if (in.has(Modifier::shared) || in.has(Modifier::shared_cta)) return Space::shared;
  if (in.has(Modifier::global)) return Space::global;
  if (in.has(Modifier::local)) return Space::local;
  if (in.has(Modifier::constant)) return Space::constant;
  return Space::generic;
}

unsigned element_bytes(const Instruction& in) {
  if (in.op->traits.matrix) return 16;
  // A copy from memory to memory has no type. An operand gives the size of its elements.
  if (in.op->traits.memory_count == 2) return static_cast<unsigned>(in.operands[2].value);
  return bytes_of(in.type());
}

MemoryOrder memory_order(const Instruction& in) {
  const InstructionTraits& traits = in.op->traits;
  const bool fence = traits.sync == InstructionSync::fence;
  // Updates by the copy engine or through a surface are updates here, too.
  const bool update = traits.is_atomic() || in.has(Modifier::reduce) || in.op->id == OpId::sured;
  MemoryOrder order;
  // Volatile accesses and memory-mapped I/O are relaxed accesses with system scope.
  const bool everywhere = in.has(Modifier::op_volatile) || in.has(Modifier::mmio);
  order.is_volatile = in.has(Modifier::op_volatile);
  order.read_only = traits.read_only;
  order.acquire = in.has(Modifier::acquire) || in.has(Modifier::acq_rel);
  order.release = in.has(Modifier::release) || in.has(Modifier::acq_rel);
  order.strong =
      fence || update || everywhere || order.acquire || order.release || in.has(Modifier::relaxed);
  if (fence && !order.acquire && !order.release) order.acquire = order.release = true;
  order.sequential =
      in.op->id == OpId::membar || (in.op->id == OpId::fence && in.has(Modifier::sc));
  if (in.has(Modifier::cta))
    order.scope = Scope::block;
  else if (in.has(Modifier::cluster))
    order.scope = Scope::cluster;
  else if (everywhere || in.has(Modifier::sys))
    order.scope = Scope::system;
  return order;
}

}  // namespace lab32::ptx
