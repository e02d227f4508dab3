#include "simulator/ptx/print.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <set>

namespace lab32::ptx {
namespace {

std::string hex(uint64_t value, int digits) {
  char text[24];
  std::snprintf(text, sizeof text, "%0*" PRIX64, digits, value);
  return text;
}

std::string label(int64_t index) { return "$L_" + std::to_string(index); }
std::string table_label(int index) { return "$T_" + std::to_string(index); }

// The text of an addend behind a name; "" for 0.
std::string plus(int64_t value) { return value == 0 ? "" : "+" + std::to_string(value); }

std::string print_operand(const Function& function, const Operand& op) {
  const auto list = [&](const char* separator) {
    std::string text;
    for (const Operand& element : op.elements) {
      if (!text.empty()) text += separator;
      text += print_operand(function, element);
    }
    return text;
  };
  const auto reg = [&] { return function.registers[static_cast<size_t>(op.reg)].name; };
  switch (op.kind) {
    case Operand::Kind::none:
      return "";
    case Operand::Kind::reg:
      return (op.negated ? "!" : "") + reg();
    case Operand::Kind::special:
      return std::string(to_string(op.special));
    case Operand::Kind::integer:
      return std::to_string(op.value);
    case Operand::Kind::real:
      return op.is_double ? "0d" + hex(static_cast<uint64_t>(op.value), 16)
                          : "0f" + hex(static_cast<uint64_t>(op.value), 8);
    case Operand::Kind::symbol:
      return op.name + plus(op.value);
    case Operand::Kind::address:
      if (!op.elements.empty()) return "[" + reg() + ", {" + list(", ") + "}]";
      if (op.reg >= 0) return "[" + reg() + plus(op.value) + "]";
      if (!op.name.empty()) return "[" + op.name + plus(op.value) + "]";
      return "[" + std::to_string(op.value) + "]";
    case Operand::Kind::vector:
      return "{" + list(", ") + "}";
    case Operand::Kind::pair:
      return list("|");
    case Operand::Kind::label:
      return label(op.value);
    case Operand::Kind::wildcard:
      return "_";
  }
  return "";
}

std::string print_call(const Function& function, const Instruction& in) {
  const CallInfo& call = function.calls[static_cast<size_t>(in.call)];
  const auto list = [&](const std::vector<Operand>& operands) {
    std::string text = "(";
    for (size_t i = 0; i < operands.size(); ++i) {
      text += (i == 0 ? "" : ", ") + print_operand(function, operands[i]);
    }
    return text + ")";
  };
  std::string text;
  if (!call.returns.empty()) text += list(call.returns) + ", ";
  text += print_operand(function, call.target);
  if (!call.args.empty()) text += ", " + list(call.args);
  if (!call.prototype.empty()) text += ", " + call.prototype;
  return text;
}

std::string register_type(uint16_t bits) {
  return bits == 1 ? ".pred" : ".b" + std::to_string(bits);
}

std::string_view space_directive(Space space) {
  switch (space) {
    case Space::global:
      return ".global";
    case Space::constant:
      return ".const";
    case Space::shared:
      return ".shared";
    case Space::local:
      return ".local";
    default:
      return ".param";
  }
}

// Prints `.global .align 4 .u8 name[8] = {1, 0xFF(generic(x)), …}`.
std::string print_variable(const Variable& variable) {
  std::string text(space_directive(variable.space));
  if (variable.is_managed) text += " .attribute(.managed)";
  text += " .align " + std::to_string(variable.align) + " .u8 " + variable.name + "[" +
          (variable.is_unsized ? "" : std::to_string(variable.size)) + "]";
  if (variable.init.empty()) return text;
  text += " = {";
  size_t next = 0;  // index of the next relocation
  for (size_t i = 0; i < variable.init.size(); ++i) {
    if (i != 0) text += ", ";
    if (next < variable.relocations.size() && i == variable.relocations[next].offset) {
      // An address is written as eight bytes with a mask each, a form that is valid for any
      // alignment.
      const Variable::Relocation& r = variable.relocations[next++];
      const std::string address =
          (r.generic ? "generic(" + r.symbol + ")" : r.symbol) + plus(r.addend);
      for (int byte = 0; byte < 8; ++byte) {
        text += (byte == 0 ? "0x" : ", 0x") + hex(uint64_t{0xFF} << (8 * byte), 2) + "(" + address +
                ")";
      }
      i += 7;
    } else {
      text += std::to_string(static_cast<int>(variable.init[i]));
    }
  }
  return text + "}";
}

std::string print_parameters(const std::vector<Variable>& params) {
  std::string text = "(";
  for (size_t i = 0; i < params.size(); ++i) {
    text += (i == 0 ? "" : ", ") + print_variable(params[i]);
  }
  return text + ")";
}

std::string print_prototype(const Function& function, const CallInfo& call) {
  const auto list = [&](const std::vector<Operand>& operands) {
    std::string text = "(";
    for (size_t i = 0; i < operands.size(); ++i) {
      const auto local =
          std::find_if(function.locals.begin(), function.locals.end(),
                       [&](const Variable& v) { return v.name == operands[i].name; });
      Variable formal = local != function.locals.end() ? *local : Variable{};
      formal.space = Space::param;
      formal.name = "_";
      text += (i == 0 ? "" : ", ") + print_variable(formal);
    }
    return text + ")";
  };
  std::string text = call.prototype + " : .callprototype ";
  if (!call.returns.empty()) text += list(call.returns) + " ";
  return text + "_ " + list(call.args) + ";";
}

class ModulePrinter {
 public:
  explicit ModulePrinter(const Module& module) : module_(module) {}

  std::string print() {
    line(".version " + std::to_string(module_.version_major) + "." +
         std::to_string(module_.version_minor));
    line(".target " + module_.target);
    line(".address_size 64");
    for (size_t i = 0; i < module_.files.size(); ++i) {
      if (!module_.files[i].empty()) {
        line(".file " + std::to_string(i) + " \"" + module_.files[i] + "\"");
      }
    }
    // Functions are declared first, since initialisers and other functions may refer to them.
    for (const Function& function : module_.functions) {
      if (function.is_entry && !function.is_declaration) continue;
      line((function.is_declaration ? ".extern " : "") + print_header(function) + ";");
    }
    for (const Variable& variable : module_.variables) {
      line((variable.is_extern ? ".extern " : "") + print_variable(variable) + ";");
    }
    // Function bodies are printed in the order of the original text, because Module::locs has that
    // order.
    std::vector<const Function*> bodies;
    for (const Function& function : module_.functions) {
      if (!function.is_declaration) bodies.push_back(&function);
    }
    std::stable_sort(bodies.begin(), bodies.end(), [](const Function* a, const Function* b) {
      return a->ptx_line < b->ptx_line;
    });
    for (const Function* function : bodies) print_function(*function);
    print_locs_until(static_cast<int>(module_.locs.size()) - 1);
    // The names of inlined functions are not kept, but ptxas requires one.
    line(".section .debug_str {\n$L__info_string:\n.b8 0\n}");
    return std::move(text_);
  }

 private:
  void line(const std::string& text) { text_ += text + "\n"; }

  std::string print_header(const Function& function) const {
    std::string text = function.is_entry ? ".entry " : ".func ";
    if (!function.returns.empty()) text += print_parameters(function.returns) + " ";
    return text + function.name + print_parameters(function.params);
  }

  void print_function(const Function& function) {
    if (!function.refusal.empty()) {
      std::string comment = function.refusal;
      for (size_t at = 0; (at = comment.find('\n', at)) != std::string::npos; at += 4) {
        comment.replace(at, 1, "\n// ");
      }
      line("// " + comment);
      if (function.is_entry) line(print_header(function) + ";");
      return;
    }
    line(print_header(function));
    if (function.max_threads != 0) line(".maxntid " + std::to_string(function.max_threads));
    if (function.min_blocks != 0) line(".minnctapersm " + std::to_string(function.min_blocks));
    const auto& threads = function.required_threads;
    if (threads[0] != 0) {
      line(".reqntid " + std::to_string(threads[0]) + ", " + std::to_string(threads[1]) + ", " +
           std::to_string(threads[2]));
    }
    const auto& cluster = function.cluster;
    if (cluster[0] != 0) {
      line(".explicitcluster");
      line(".reqnctapercluster " + std::to_string(cluster[0]) + ", " + std::to_string(cluster[1]) +
           ", " + std::to_string(cluster[2]));
    }
    if (function.max_cluster != 0) {
      line(".maxclusterrank " + std::to_string(function.max_cluster));
    }
    line("{");
    for (const Register& reg : function.registers) {
      line("  .reg " + register_type(reg.bits) + " " + reg.name + ";");
    }
    for (const Variable& variable : function.locals) line("  " + print_variable(variable) + ";");
    print_body(function);
    line("}");
  }

  void print_body(const Function& function) {
    std::set<int64_t> labelled;
    for (const Instruction& in : function.body) {
      if (in.op->traits.transfer == ControlTransfer::branch) labelled.insert(in.operands[0].value);
    }
    for (size_t t = 0; t < function.branch_tables.size(); ++t) {
      std::string targets;
      for (int target : function.branch_tables[t]) {
        labelled.insert(target);
        targets += (targets.empty() ? " " : ", ") + label(target);
      }
      line("  " + table_label(static_cast<int>(t)) + ": .branchtargets" + targets + ";");
    }
    for (size_t i = 0; i <= function.body.size(); ++i) {
      if (labelled.count(static_cast<int64_t>(i)) != 0) line(label(static_cast<int64_t>(i)) + ":");
      if (i == function.body.size()) break;
      const Instruction& in = function.body[i];
      print_locs_until(in.loc);
      if (in.call >= 0) {
        const CallInfo& call = function.calls[static_cast<size_t>(in.call)];
        if (!call.prototype.empty()) line("  " + print_prototype(function, call));
      }
      line("  " + ptx::print(function, in));
    }
  }

  // Prints the .loc directives up to entry `last` of Module::locs. Each entry comes from one .loc,
  // in this order; a call site comes before the code that is inlined at it.
  void print_locs_until(int last) {
    for (; next_loc_ <= last; ++next_loc_) {
      const Loc& loc = module_.locs[static_cast<size_t>(next_loc_)];
      std::string text = "  .loc " + print_position(loc);
      if (loc.inlined_at >= 0) {
        text += ", function_name $L__info_string, inlined_at " +
                print_position(module_.locs[static_cast<size_t>(loc.inlined_at)]);
      }
      line(text);
    }
  }

  static std::string print_position(const Loc& loc) {
    return std::to_string(loc.file) + " " + std::to_string(loc.line) + " " +
           std::to_string(loc.column);
  }

  const Module& module_;
  std::string text_;
  int next_loc_ = 0;
};

}  // namespace

std::string print_opcode(const Instruction& in) {
  std::string text(in.op->base);
  // The next type, or a modifier that is set, fills each position of the pattern. Each word of a
  // pattern occurs at one position only, except types and a few modifiers that are also a fixed
  // word elsewhere in it; positions are taken from left to right.
  Mods left = in.mods;
  size_t type = 0;
  for (const OpInfo::Part& part : in.op->parts) {
    std::string_view written;
    for (std::string_view word : part.choices) {
      const DataType as_type = type_from_word_or_none(word);
      if (as_type != DataType::none) {
        if (type < in.type_count && in.types[type] == as_type) written = word;
      } else {
        for (size_t m = 0; m < left.size(); ++m) {
          if (left.test(m) && to_string(static_cast<Modifier>(m)) == word) {
            written = word;
            left.reset(m);
            break;
          }
        }
      }
      if (!written.empty()) break;
    }
    if (written.empty()) continue;
    if (type_from_word_or_none(written) != DataType::none) ++type;
    text += "." + std::string(written);
  }
  return text;
}

std::string print(const Function& function, const Instruction& in) {
  std::string text;
  if (in.guard >= 0) {
    text += in.guard_negated ? "@!" : "@";
    text += function.registers[static_cast<size_t>(in.guard)].name + " ";
  }
  text += print_opcode(in);
  if (in.op->traits.transfer == ControlTransfer::call)
    return text + " " + print_call(function, in) + ";";
  const char* separator = " ";
  for (const Operand& op : in.operands) {
    if (op.kind == Operand::Kind::none) continue;
    text += separator;
    text +=
        in.op->traits.transfer == ControlTransfer::table_branch && op.kind == Operand::Kind::label
            ? table_label(in.branch_table)
            : print_operand(function, op);
    separator = ", ";
  }
  return text + ";";
}

std::string print(const Module& module) { return ModulePrinter(module).print(); }

}  // namespace lab32::ptx
