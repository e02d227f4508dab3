#include "simulator/ptx/opcodes.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace lab32::ptx {

namespace {

struct PtxTypeInfo {
  std::string_view text;
  unsigned bits;
};

// The rows are in the order of enum DataType.
constexpr std::array<PtxTypeInfo, 31> kTypes = {{
    {"none", 0},  {"u8", 8},      {"u16", 16},    {"u32", 32},   {"u64", 64},  {"s8", 8},
    {"s16", 16},  {"s32", 32},    {"s64", 64},    {"b8", 8},     {"b16", 16},  {"b32", 32},
    {"b64", 64},  {"b128", 128},  {"u16x2", 32},  {"s16x2", 32}, {"f16", 16},  {"f16x2", 32},
    {"bf16", 16}, {"bf16x2", 32}, {"f32", 32},    {"f64", 64},   {"tf32", 32}, {"e4m3", 8},
    {"e5m2", 8},  {"e4m3x2", 16}, {"e5m2x2", 16}, {"b1", 1},     {"u4", 4},    {"s4", 4},
    {"pred", 1},
}};
static_assert(static_cast<size_t>(DataType::pred) + 1 == kTypes.size());

constexpr std::string_view kMods[] = {
#define MOD(id, text) text,
#include "simulator/ptx/modifiers.def"
#undef MOD
};

// The rows are in the order of enum SpecialReg.
// clang-format off
constexpr std::string_view kSpecials[] = {
    "%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ntid.y", "%ntid.z",
    "%ctaid.x", "%ctaid.y", "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z",
    "%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%gridid",
    "%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt",
    "%clock", "%clock_hi", "%clock64", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi",
    "%total_smem_size", "%dynamic_smem_size", "%envreg1", "%envreg2", "WARP_SZ",
    "%clusterid.x", "%clusterid.y", "%clusterid.z",
    "%nclusterid.x", "%nclusterid.y", "%nclusterid.z",
    "%cluster_ctaid.x", "%cluster_ctaid.y", "%cluster_ctaid.z",
    "%cluster_nctaid.x", "%cluster_nctaid.y", "%cluster_nctaid.z",
    "%cluster_ctarank", "%cluster_nctarank", "%is_explicit_cluster",
    "%reserved_smem_offset_begin", "%reserved_smem_offset_end", "%reserved_smem_offset_cap",
    "%reserved_smem_offset_0", "%reserved_smem_offset_1",
};
// clang-format on
static_assert(static_cast<size_t>(SpecialReg::count_) == std::size(kSpecials));

// Splits "add{.[rn rz]}{.ftz}.[f32 f64]" into the base word and the positions, which are required
// or optional.
void split_pattern_into_modifiers(OpInfo& op) {
  std::string_view rest = op.pattern;
  const size_t base_end = rest.find_first_of(".{");
  op.base = rest.substr(0, base_end);
  rest = base_end == std::string_view::npos ? std::string_view{} : rest.substr(base_end);
  while (!rest.empty()) {
    OpInfo::Part part;
    part.optional = rest.front() == '{';
    if (part.optional) rest.remove_prefix(1);
    rest.remove_prefix(1);  // '.'
    if (rest.front() == '[') {
      rest.remove_prefix(1);
      const size_t close = rest.find(']');
      std::string_view list = rest.substr(0, close);
      rest.remove_prefix(close + 1);
      while (!list.empty()) {
        const size_t end = list.find(' ');
        part.choices.push_back(list.substr(0, end));
        list = end == std::string_view::npos ? std::string_view{} : list.substr(end + 1);
      }
    } else {
      const size_t end = rest.find_first_of(".{}");
      part.choices.push_back(rest.substr(0, end));
      rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end);
    }
    if (part.optional) rest.remove_prefix(1);  // '}'
    op.parts.push_back(std::move(part));
  }
}

void parse_operand_specs(OpInfo& op) {
  std::string_view rest = op.operand_text;
  while (!rest.empty()) {
    const size_t end = rest.find(' ');
    std::string_view word = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    OperandSpec spec;
    if (word.front() == '=') {
      spec.is_dest = true;
      word.remove_prefix(1);
    }
    if (word.back() == '?') {
      spec.optional = true;
      word.remove_suffix(1);
    }
    if (word.back() == '_') {
      spec.may_be_dropped = true;
      word.remove_suffix(1);
    }
    spec.name = std::string(word);
    op.operands.push_back(std::move(spec));
  }
}

// The rows form a constant table, because the compiler would take seconds for one statement per
// row.
struct OpcodeRow {
  OpId id;
  std::string_view pattern, operands;
  InstructionTraits traits;
};
namespace rows {
using namespace traits;
constexpr OpcodeRow kAll[] = {
#define OP(id, pattern, operands, traits) {OpId::id, pattern, operands, traits},
#include "simulator/ptx/opcodes.def"
#undef OP
};
}  // namespace rows

std::vector<OpInfo> build_opcode_table() {
  std::vector<OpInfo> table;
  for (const OpcodeRow& row : rows::kAll) {
    OpInfo& op = table.emplace_back();
    op.id = row.id;
    op.pattern = row.pattern;
    op.operand_text = row.operands;
    op.traits = row.traits;
    split_pattern_into_modifiers(op);
    parse_operand_specs(op);
  }
  return table;
}

bool contains_word(const std::vector<std::string_view>& choices, std::string_view word) {
  for (std::string_view choice : choices) {
    if (choice == word) return true;
  }
  return false;
}

// Whether words[word..] match parts[part..]. An optional part is tried as present first, then as
// absent.
bool words_match_parts(const OpInfo& op, size_t part, const std::vector<std::string_view>& words,
                       size_t word) {
  if (part == op.parts.size()) return word == words.size();
  const OpInfo::Part& p = op.parts[part];
  if (word < words.size() && contains_word(p.choices, words[word]) &&
      words_match_parts(op, part + 1, words, word + 1)) {
    return true;
  }
  return p.optional && words_match_parts(op, part + 1, words, word);
}

}  // namespace

DataType type_from_word_or_none(std::string_view word) {
  for (size_t i = 1; i < kTypes.size(); ++i) {
    if (kTypes[i].text == word) return static_cast<DataType>(i);
  }
  return DataType::none;
}

std::string_view to_string(DataType type) { return kTypes[static_cast<size_t>(type)].text; }

unsigned bits_of(DataType type) { return kTypes[static_cast<size_t>(type)].bits; }

std::string_view to_string(Modifier mod) { return kMods[static_cast<size_t>(mod)]; }

bool parse_special_register(std::string_view spelling, SpecialReg* out) {
  for (size_t i = 0; i < std::size(kSpecials); ++i) {
    if (kSpecials[i] == spelling) {
      *out = static_cast<SpecialReg>(i);
      return true;
    }
  }
  return false;
}

std::string_view to_string(SpecialReg reg) { return kSpecials[static_cast<size_t>(reg)]; }

const std::vector<OpInfo>& opcode_table() {
  static const std::vector<OpInfo> table = build_opcode_table();
  return table;
}

// Joins "row.col" to one word: the layouts of A and of B, whose order matters.
static void join_matrix_layouts(std::vector<std::string_view>& words) {
  const auto is_layout = [](std::string_view w) { return w == "row" || w == "col"; };
  for (size_t i = 1; i + 1 < words.size(); ++i) {
    const char* const end = words[i].data() + words[i].size();
    if (!is_layout(words[i]) || !is_layout(words[i + 1]) || words[i + 1].data() != end + 1)
      continue;
    words[i] = {words[i].data(), words[i].size() + 1 + words[i + 1].size()};
    words.erase(words.begin() + static_cast<long>(i) + 1);
  }
}

static bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Whether the instruction's modifiers may be written in any order.
static bool has_free_modifier_order(const std::vector<std::string_view>& words) {
  if (words[0] == "fence") return words[1] != "proxy" && words[1] != "mbarrier_init";
  return is_one_of(words[0], {"atom", "ldmatrix", "stmatrix"}) ||
         (is_one_of(words[0], {"ld", "st", "red"}) && words[1] != "async");
}

// The place of a modifier in the order in which the ISA writes modifiers.
static size_t modifier_rank(std::string_view word) {
  using Words = std::vector<std::string_view>;
  static const std::vector<Words> kOrder = {
      {"weak", "relaxed", "acquire", "release", "acq_rel", "sc", "volatile", "mmio", "sync"},
      {"cta", "cluster", "gpu", "sys", "aligned"},
      {"m8n8"},
      {"x1", "x2", "x4"},
      {"trans"},
      {"global", "shared", "shared::cta", "shared::cluster", "local", "const", "param",
       "param::entry", "param::func"},
      {"ca", "cg", "cs", "cv", "lu", "wb", "wt", "add", "min", "max", "inc", "dec", "and", "or",
       "xor", "exch", "cas"},
      {"nc", "noftz"},
      {"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last",
       "L1::no_allocate"},
      {"L2::evict_last", "L2::evict_normal", "L2::evict_first"},
      {"L2::64B", "L2::128B", "L2::256B"},
      {"v2", "v4"},
  };
  const auto at = std::find_if(kOrder.begin(), kOrder.end(), [&](const Words& words) {
    return std::find(words.begin(), words.end(), word) != words.end();
  });
  return static_cast<size_t>(at - kOrder.begin());
}

// Puts modifiers into the order of the ISA. The toolkit's headers and programs do not always keep
// it: they have "atom.global.cta.add", "atom.add.release.gpu", "ld.global.acquire.gpu.b32",
// "max.s32.relu", "ldmatrix.sync.aligned.trans.m8n8.x4" and "vote.ballot.sync", which ptxas
// accepts.
static void sort_modifiers(std::vector<std::string_view>& words) {
  if (words.size() < 3) return;
  if (words[0] == "mma" || words[0] == "wmma") return join_matrix_layouts(words);
  if (has_free_modifier_order(words)) {
    std::stable_sort(words.begin() + 1, words.end(), [](std::string_view a, std::string_view b) {
      return modifier_rank(a) < modifier_rank(b);
    });
  } else if ((words[0] == "min" || words[0] == "max") && words.back() == "relu") {
    std::swap(words.back(), words[words.size() - 2]);
  } else if (words[0] == "vote" && words[2] == "sync") {
    std::swap(words[1], words[2]);
  }
}

const OpInfo* match_opcode(const std::vector<std::string_view>& written, Mods* mods,
                           std::vector<DataType>* types) {
  using Index = std::unordered_map<std::string_view, std::vector<const OpInfo*>>;
  static const Index rows_of_base = [] {
    Index index;
    for (const OpInfo& op : opcode_table()) index[op.base].push_back(&op);
    return index;
  }();
  static const std::unordered_map<std::string_view, Modifier> mod_of_word = [] {
    std::unordered_map<std::string_view, Modifier> index;
    for (size_t i = 0; i < std::size(kMods); ++i) index[kMods[i]] = static_cast<Modifier>(i);
    return index;
  }();

  mods->reset();
  types->clear();
  std::vector<std::string_view> words = written;
  // A cache policy may have a second priority. The simulator ignores it, like the first.
  const auto is_priority = [](std::string_view w) { return w.substr(0, 9) == "L2::evict"; };
  if (words[0] == "createpolicy" && words.size() > 4 && is_priority(words[words.size() - 2]) &&
      is_priority(words[words.size() - 3]))
    words.erase(words.end() - 2);
  // An L2 cache policy is a hint, so the rows of most instructions do not mention it.
  const auto hint = std::find(words.begin(), words.end(), "L2::cache_hint");
  if (hint != words.end() && is_one_of(words[0], {"ld", "st", "atom", "red", "cp"}) &&
      std::find(words.begin(), words.end(), "bulk") == words.end()) {
    words.erase(hint);
    mods->set(static_cast<size_t>(Modifier::cache_hint));
  }
  sort_modifiers(words);
  if (words.empty()) return nullptr;
  const auto rows = rows_of_base.find(words[0]);
  if (rows == rows_of_base.end()) return nullptr;
  for (const OpInfo* op : rows->second) {
    if (!words_match_parts(*op, 0, words, 1)) continue;
    for (size_t i = 1; i < words.size(); ++i) {
      const DataType type = type_from_word_or_none(words[i]);
      if (type != DataType::none) {
        types->push_back(type);
      } else {
        // Every word of a pattern that is no type is in modifiers.def; a test checks this.
        mods->set(static_cast<size_t>(mod_of_word.at(words[i])));
      }
    }
    return op;
  }
  return nullptr;
}

namespace {

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_opcode_char(char c) {
  return is_letter(c) || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
         c == ':';
}

bool is_known_ptx_opcode(std::string_view opcode) {
  std::vector<std::string_view> words;
  for (size_t begin = 0; begin <= opcode.size();) {
    const size_t end = std::min(opcode.find('.', begin), opcode.size());
    words.push_back(opcode.substr(begin, end - begin));
    begin = end + 1;
  }
  Mods mods;
  std::vector<DataType> types;
  return match_opcode(words, &mods, &types) != nullptr;
}

}  // namespace

bool may_have_unknown_ptx_opcodes(std::string_view text) {
  std::unordered_set<std::string_view> known;
  bool begins = true;  // at the beginning of a statement
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n' || c == ';' || c == '{' || c == '}' || c == ':') {
      begins = true;
    } else if (begins && c == '@') {  // @!%p1
      while (at + 1 < text.size() && text[at + 1] != ' ' && text[at + 1] != '\t') ++at;
    } else if (begins && is_letter(c)) {
      const size_t first = at;
      while (at + 1 < text.size() && is_opcode_char(text[at + 1])) ++at;
      const std::string_view word = text.substr(first, at + 1 - first);
      // Opcodes without a dot (ret, exit) are all known, and register names in braces contain no
      // dot.
      if (word.find('.') != word.npos && known.insert(word).second && !is_known_ptx_opcode(word))
        return true;
      begins = false;
    } else if (c != ' ' && c != '\t') {
      begins = false;
    }
  }
  return false;
}

}  // namespace lab32::ptx
