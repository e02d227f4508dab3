// Reads a listing of nvdisasm line by line: a section begins a kernel, a label names a position, a
// comment "//## File" gives the source of the next instructions, and "/*0080*/ @P0 LDG.E R2, [R4]
// ;" is an instruction.
#include "simulator/sass/listing.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"

namespace lab32::sass {
namespace {

std::string_view trim_spaces(std::string_view s) {
  const size_t from = s.find_first_not_of(" \t\r");
  if (from == std::string_view::npos) return {};
  return s.substr(from, s.find_last_not_of(" \t\r") - from + 1);
}

bool starts_with(std::string_view s, std::string_view with) {
  return s.substr(0, with.size()) == with;
}

int to_int(std::string_view digits) {
  int value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

class DisassemblyReader {
 public:
  explicit DisassemblyReader(const std::string& text) : text_(text) {}

  Disassembly read_disassembly() {
    std::string_view rest = text_;
    while (!rest.empty()) {
      const size_t end = rest.find('\n');
      read_line(trim_spaces(rest.substr(0, end)));
      rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    }
    end_source_comment();
    return std::move(listing_);
  }

 private:
  static constexpr std::string_view kPtx = ".nv_debug_ptx_txt";

  void read_line(std::string_view s) {
    if (starts_with(s, "//## File \"")) return read_source_comment(s);
    if (starts_with(s, "//") || s.empty()) return;
    if (starts_with(s, ".section\t") || starts_with(s, ".section ")) {
      const size_t name = s.find(".text.");
      kernel_.clear();
      if (name == std::string_view::npos) return;
      kernel_ = s.substr(name + 6, s.find(',', name) - name - 6);
      open_function(kernel_);
      return;
    }
    if (kernel_.empty()) return;
    if (starts_with(s, "/*")) return read_instruction(s);
    if (s.back() == ':') return read_label(s.substr(0, s.size() - 1));
  }

  void open_function(std::string_view name) {
    listing_.functions.emplace_back();
    listing_.functions.back().name = name;
    listing_.functions.back().kernel = kernel_;
    ptx_line_ = 0;
    source_ = -1;
    frames_.clear();
    in_note_ = false;
  }

  // Reads a comment with the source of the next instructions. For inlined code it has several
  // lines, one for each frame, and with -gp one more for the PTX.
  void read_source_comment(std::string_view s) {
    s.remove_prefix(11);
    const size_t quote = s.find('"');
    const size_t number = s.find("line ", quote);
    if (quote == std::string_view::npos || number == std::string_view::npos) return;
    const std::string_view file = s.substr(0, quote);
    const int at = to_int(s.substr(number + 5));
    if (file == kPtx) {
      ptx_line_ = at;
      return;
    }
    if (!in_note_) frames_.clear();
    in_note_ = true;
    frames_.push_back({std::string(file), at});
  }

  void end_source_comment() {
    if (!in_note_) return;
    in_note_ = false;
    listing_.sources.push_back(frames_);
    source_ = static_cast<int>(listing_.sources.size()) - 1;
  }

  void read_label(std::string_view name) {
    if (starts_with(name, ".text.")) return;
    SassFunction* f = &listing_.functions.back();
    if (name == f->name) return;
    // A label that does not begin with .L_ is a function that ptxas did not inline. It follows its
    // caller in the same section.
    if (!starts_with(name, ".L_")) {
      open_function(name);
      f = &listing_.functions.back();
    }
    f->labels.emplace(name, static_cast<int>(f->code.size()));
  }

  void read_instruction(std::string_view s) {
    const size_t close = s.find("*/");
    if (close == std::string_view::npos) return;
    SassInstruction in;
    const std::string_view address = s.substr(2, close - 2);
    std::from_chars(address.data(), address.data() + address.size(), in.address, 16);
    s = trim_spaces(s.substr(close + 2));
    const size_t semicolon = s.find(';');
    if (semicolon == std::string_view::npos) return read_encoding(address);
    s = trim_spaces(s.substr(0, semicolon));
    if (!s.empty() && s[0] == '@') {
      const size_t end = std::min(s.find_first_of(" \t"), s.size());
      in.guard = s.substr(1, end - 1);
      s = trim_spaces(s.substr(end));
    }
    const size_t end = s.find_first_of(" \t");
    in.opcode = s.substr(0, end);
    if (end != std::string_view::npos) in.operands = trim_spaces(s.substr(end));
    end_source_comment();
    in.ptx_line = ptx_line_;
    in.source = source_;
    listing_.functions.back().code.push_back(std::move(in));
  }

  // Reads the upper half of an instruction's encoding, which is on a line of its own behind the
  // instruction.
  void read_encoding(std::string_view hex) {
    std::vector<SassInstruction>& code = listing_.functions.back().code;
    hex = trim_spaces(hex);
    if (code.empty() || code.back().control.known || !starts_with(hex, "0x")) return;
    uint64_t word = 0;
    const auto [end, error] = std::from_chars(hex.data() + 2, hex.data() + hex.size(), word, 16);
    if (error != std::errc() || end != hex.data() + hex.size()) return;
    const auto field = [&](int from, int bits) { return word >> from & ((1u << bits) - 1); };
    const auto barrier = [&](uint64_t b) { return static_cast<int8_t>(b < 6 ? b : -1); };
    SassControlCode& control = code.back().control;
    control.known = true;
    control.stall = static_cast<uint8_t>(field(41, 4));
    control.write = barrier(field(46, 3));
    control.read = barrier(field(49, 3));
    control.waits_for = static_cast<uint8_t>(field(52, 6));
  }

  const std::string& text_;
  Disassembly listing_;
  std::string kernel_;
  std::vector<SassSourceLine> frames_;
  bool in_note_ = false;
  int ptx_line_ = 0;
  int source_ = -1;
};

}  // namespace

bool SassInstruction::has(std::string_view modifier) const {
  std::string_view rest = opcode;
  for (size_t dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
    rest.remove_prefix(dot + 1);
    if (rest.substr(0, rest.find('.')) == modifier) return true;
  }
  return false;
}

const SassFunction* Disassembly::find(std::string_view name) const {
  for (const SassFunction& f : functions) {
    if (f.name == name) return &f;
  }
  return nullptr;
}

Disassembly parse_disassembly(const std::string& text) {
  Disassembly listing = DisassemblyReader(text).read_disassembly();
  if (listing.functions.empty() && text.find(".text.") != std::string::npos)
    throw Error(
        "the machine code has sections but no instructions: nvdisasm wrote something that "
        "is not understood; is its version one of grader/setup/nvdisasm.txt?");
  return listing;
}

}  // namespace lab32::sass
