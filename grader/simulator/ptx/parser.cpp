#include "simulator/ptx/parser.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "simulator/ptx/lexer.h"
#include "simulator/ptx/module_parser.h"

namespace lab32::ptx {

ModuleParser::ModuleParser(Module& module) : module_(module), cursor_(module.text) {}

void ModuleParser::parse() {
  while (!cursor_.at_end()) parse_directive();
  check_relocations();
  if (module_.version_major == 0) {
    throw Error("this is not a PTX module: it has no .version directive");
  }
  propagate_refusals();
}

const ModuleParser::ParsedOpcode& ModuleParser::find_opcode(std::string_view text) {
  const auto [place, is_new] = opcodes_.try_emplace(text);
  ParsedOpcode& opcode = place->second;
  if (!is_new) return opcode;
  std::vector<std::string_view> words;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('.', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  std::vector<DataType> types;
  opcode.row = match_opcode(words, &opcode.mods, &types);
  if (opcode.row != nullptr) {
    opcode.type_count = static_cast<uint8_t>(types.size());
    std::copy(types.begin(), types.end(), opcode.types.begin());
  }
  return opcode;
}

void ModuleParser::parse_directive() {
  const Token& token = cursor_.next();
  if (token.is(';')) return;
  if (token.is(".version")) return parse_version();
  if (token.is(".file")) return parse_file_directive();
  if (token.is(".loc")) return static_cast<void>(parse_loc_directive());
  if (token.is(".section")) return skip_section();
  if (token.is(".target")) {
    module_.target = cursor_.expect_name();
    while (cursor_.accept(',')) cursor_.expect_name();  // "debug"
    return;
  }
  if (token.is(".address_size")) {
    if (cursor_.expect_integer() == 64) return;
    throw PtxParseError{cursor_.offset_of(token), "only 64-bit addresses are supported"};
  }
  if (token.is(".pragma")) {
    if (cursor_.next().kind != Token::Kind::string) cursor_.fail_expected("a string");
    return cursor_.expect(';');
  }
  // The parser ignores the linkage of names: only link_ptx() needs it, and here the module is
  // complete.
  bool is_extern = false;
  const Token* word = &token;
  while (word->is(".extern") || word->is(".visible") || word->is(".weak") || word->is(".common")) {
    is_extern = is_extern || word->is(".extern");
    word = &cursor_.next();
  }
  if (word->is(".entry") || word->is(".func")) return parse_function(word->is(".entry"));
  const Space space =
      word->kind == Token::Kind::word ? space_of_directive(word->text) : Space::generic;
  if (space != Space::global && space != Space::constant && space != Space::shared) {
    throw PtxParseError{cursor_.offset_of(*word),
                        "`" + std::string(word->text) + "` is not supported by the simulator here"};
  }
  parse_variable_directive(space, is_extern);
}

void ModuleParser::parse_version() {
  const size_t offset = cursor_.offset();
  const std::string_view text = cursor_.next().text;  // 9.0
  const size_t dot = std::min(text.find('.'), text.size());
  const auto major = parse_integer_literal(text.substr(0, dot));
  const auto minor = parse_integer_literal(text.substr(std::min(dot + 1, text.size())));
  if (!major || !minor || *major == 0 || *major > 99 || *minor > 99) {
    throw PtxParseError{offset, "a version such as 9.0 is expected here"};
  }
  module_.version_major = static_cast<int>(*major);
  module_.version_minor = static_cast<int>(*minor);
}

void ModuleParser::set_module_symbol(const std::string& name, Scopes::ModuleSymbol meaning) {
  names_[kept_names_.emplace_back(name)] = meaning;
}

const Function& ModuleParser::find_function(std::string_view name, size_t offset) const {
  const auto found = names_.find(name);
  if (found == names_.end() || !found->second.is_function) {
    throw PtxParseError{offset, "`" + std::string(name) + "` is not a function"};
  }
  return module_.functions[found->second.index];
}

void ModuleParser::parse_variable_directive(Space space, bool is_extern) {
  const size_t offset = cursor_.offset();
  for (Variable& variable : parse_variables(cursor_, space, is_extern)) {
    const auto known = names_.find(variable.name);
    if (known == names_.end()) {
      set_module_symbol(variable.name, {false, module_.variables.size()});
      module_.variables.push_back(std::move(variable));
      continue;
    }
    // An extern declaration may be repeated, and a definition may follow it.
    Variable* earlier =
        known->second.is_function ? nullptr : &module_.variables[known->second.index];
    if (earlier == nullptr || !(earlier->is_extern || is_extern)) {
      throw PtxParseError{offset, "`" + variable.name + "` is defined twice"};
    }
    if (earlier->is_extern) *earlier = std::move(variable);
  }
  cursor_.expect(';');
}

// Parses `.func (.param .b32 result) name (.param .b32 a) .noreturn { … }`.
void ModuleParser::parse_function(bool is_entry) {
  Function function;
  std::vector<Refusal> refusals;
  function.is_entry = is_entry;
  if (!is_entry && cursor_.peek().is('(')) function.returns = parse_parameters(cursor_);
  function.ptx_line = cursor_.peek().line;
  const size_t offset = cursor_.offset();
  function.name = cursor_.expect_name();
  if (cursor_.peek().is('(')) function.params = parse_parameters(cursor_);
  parse_performance_directives(function, refusals);
  function.is_declaration = !cursor_.peek().is('{');

  const auto known = names_.find(function.name);
  if (known != names_.end()) {
    if (!known->second.is_function)
      throw PtxParseError{offset, "this name is a variable's already"};
    if (function.is_declaration) return cursor_.expect(';');
    if (!module_.functions[known->second.index].is_declaration) {
      throw PtxParseError{offset, "`" + function.name + "` is defined twice"};
    }
  } else {
    set_module_symbol(function.name, {true, module_.functions.size()});
    module_.functions.emplace_back();
    refusals_.emplace_back();
  }
  // The function is declared before its body is read, since it may call itself.
  const size_t index = names_.find(function.name)->second.index;
  module_.functions[index] = function;
  if (function.is_declaration) {
    cursor_.expect(';');
  } else {
    cursor_.expect('{');
    FunctionParser(*this, function).parse(refusals);
    module_.functions[index] = std::move(function);
  }
  refusals_[index] = std::move(refusals);
}

// Parses the directives between a kernel's parameters and its body: `.maxntid 256, 1, 1
// .minnctapersm 2   …`.
void ModuleParser::parse_performance_directives(Function& function,
                                                std::vector<Refusal>& refusals) {
  const auto integers = [&](std::array<int, 3> values) {
    size_t count = 0;
    do {
      const size_t offset = cursor_.offset();
      const uint64_t value = cursor_.expect_integer();
      if (count == values.size() || value > 0x7fffffff) {
        throw PtxParseError{offset, "up to three numbers of 31 bits are expected here"};
      }
      values[count++] = static_cast<int>(value);
    } while (cursor_.accept(','));
    return values;
  };
  while (cursor_.peek().kind == Token::Kind::word && cursor_.peek().text[0] == '.') {
    const Token& word = cursor_.next();
    if (word.is(".maxntid")) {
      const std::array<int, 3> threads = integers({1, 1, 1});
      const int64_t product = int64_t{threads[0]} * threads[1];
      if (product > 0x7fffffff || product * threads[2] > 0x7fffffff) {
        throw PtxParseError{cursor_.offset_of(word), "too many threads"};
      }
      function.max_threads = static_cast<int>(product * threads[2]);
    } else if (word.is(".reqntid")) {
      function.required_threads = integers({1, 1, 1});
    } else if (word.is(".minnctapersm")) {
      function.min_blocks = integers({0, 0, 0})[0];
    } else if (word.is(".maxnctapersm") || word.is(".maxnreg")) {
      integers({0, 0, 0});  // .maxnreg limits the registers that ptxas may use
    } else if (word.is(".maxclusterrank")) {
      function.max_cluster = integers({0, 0, 0})[0];
    } else if (word.is(".noreturn")) {
      continue;
    } else if (word.is(".pragma")) {
      if (cursor_.next().kind != Token::Kind::string) cursor_.fail_expected("a string");
      cursor_.expect(';');
    } else if (word.is(".explicitcluster")) {
      continue;  // together with .reqnctapercluster: a launch need not repeat the cluster size
    } else if (word.is(".blocksareclusters")) {
      refusals.push_back({{cursor_.offset_of(word),
                           "grids that are counted in clusters (`.blocksareclusters`) are not "
                           "supported by the simulator"},
                          -1});
    } else if (word.is(".reqnctapercluster")) {
      function.cluster = integers({1, 1, 1});
    } else {
      throw PtxParseError{cursor_.offset_of(word),
                          "`" + std::string(word.text) + "` is not supported by the simulator"};
    }
  }
}

void ModuleParser::check_relocations() const {
  for (const Variable& variable : module_.variables) {
    for (const Variable::Relocation& relocation : variable.relocations) {
      if (names_.count(relocation.symbol) != 0) continue;
      throw Error("PTX line " + std::to_string(variable.line) + ": the initialiser of `" +
                  variable.name + "` refers to `" + relocation.symbol + "`, which is not declared");
    }
  }
}

// Refuses all callers of a function that cannot run.
void ModuleParser::propagate_refusals() {
  std::vector<std::vector<size_t>> callers(module_.functions.size());
  std::vector<size_t> work;
  for (size_t i = 0; i < module_.functions.size(); ++i) {
    Function& function = module_.functions[i];
    for (const CallInfo& call : function.calls) {
      if (call.target.kind != Operand::Kind::symbol) continue;
      callers[names_.at(call.target.name).index].push_back(i);
    }
    if (refusals_[i].empty()) continue;
    function.refusal = diagnostic_text(module_, refusals_[i][0].diagnostic, refusals_[i][0].loc);
    work.push_back(i);
  }
  for (size_t done = 0; done < work.size(); ++done) {
    const Function& callee = module_.functions[work[done]];
    for (size_t caller : callers[work[done]]) {
      Function& function = module_.functions[caller];
      if (!function.refusal.empty()) continue;
      function.refusal = callee.refusal + "\n  in `" + demangle(callee.name) + "`, called by `" +
                         demangle(function.name) + "`";
      work.push_back(caller);
    }
  }
  for (size_t i : work) {
    Function& function = module_.functions[i];
    function.registers.clear();
    function.locals.clear();
    function.body.clear();
    function.calls.clear();
    function.branch_tables.clear();
  }
}

Module parse(std::string ptx_text) {
  Module module;
  module.text = std::move(ptx_text);
  try {
    ModuleParser(module).parse();
  } catch (const PtxParseError& diagnostic) {
    throw Error(diagnostic_text(module, diagnostic, -1));
  }
  return module;
}

namespace {

// A malformed file number must not make the file table huge.
constexpr uint64_t kMostFiles = 1 << 16;

}  // namespace

// .file 1 "/home/ada/reduction.cu"[, time, size]
void ModuleParser::parse_file_directive() {
  const size_t offset = cursor_.offset();
  const uint64_t index = cursor_.expect_integer();
  if (index > kMostFiles) throw PtxParseError{offset, "this file number is too large"};
  if (cursor_.peek().kind != Token::Kind::string) cursor_.fail_expected("a file name");
  if (module_.files.size() <= index) module_.files.resize(index + 1);
  module_.files[index] = cursor_.next().text;
  while (cursor_.accept(',')) cursor_.expect_integer();
}

// Parses `.loc 2 509 9[, function_name $L__info_string0[+3], inlined_at 1 6 30]`. Returns the index
// in Module::locs.
int ModuleParser::parse_loc_directive() {
  const auto number = [&] {
    const size_t offset = cursor_.offset();
    const uint64_t value = cursor_.expect_integer();
    if (value > 0x7fffffff) throw PtxParseError{offset, "this number is too large"};
    return static_cast<int>(value);
  };
  const auto position = [&] {
    Loc loc;
    loc.file = number();
    loc.line = number();
    loc.column = number();
    return loc;
  };
  const auto key = [](const Loc& at) { return std::make_tuple(at.file, at.line, at.column); };
  Loc loc = position();
  while (cursor_.accept(',')) {
    if (cursor_.accept("function_name")) {
      cursor_.expect_name();
      if (cursor_.accept('+')) cursor_.expect_integer();
    } else if (cursor_.accept("inlined_at")) {
      // PTX gives the call site only by its position, which itself was a .loc shortly before. The
      // latest entry with this position is therefore the call site, and it has its own inlined_at.
      const Loc site = position();
      const auto known = latest_loc_.find(key(site));
      if (known != latest_loc_.end()) {
        loc.inlined_at = known->second;
      } else {
        loc.inlined_at = static_cast<int>(module_.locs.size());
        latest_loc_[key(site)] = loc.inlined_at;
        module_.locs.push_back(site);
      }
    } else {
      cursor_.fail_expected("`function_name` or `inlined_at`");
    }
  }
  const int index = static_cast<int>(module_.locs.size());
  latest_loc_[key(loc)] = index;
  module_.locs.push_back(loc);
  return index;
}

// Skips `.section .debug_str { … }`, which only debuggers need.
void ModuleParser::skip_section() {
  const size_t offset = cursor_.offset();
  if (cursor_.next().kind != Token::Kind::word) throw PtxParseError{offset, "a section has a name"};
  cursor_.expect('{');
  while (!cursor_.accept('}')) {
    if (cursor_.at_end()) throw PtxParseError{offset, "this section has no end"};
    cursor_.next();
  }
}

}  // namespace lab32::ptx
