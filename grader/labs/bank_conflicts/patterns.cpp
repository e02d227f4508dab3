#include "labs/bank_conflicts/patterns.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "grading/launch/patterns.h"
#include "simulator/observers/traffic/banks.h"

namespace lab32::checks::bank_conflicts {
namespace {

using counters::kBankBytes;
using counters::kBanks;

constexpr uint64_t kRowOfBanks = kBanks * kBankBytes;  // bytes between two words of one bank
constexpr uint32_t kWindow = 16384;                    // bytes of shared memory for patterns

SharedAccessPattern pattern_with_name(std::string name, SharedAccessPattern p) {
  p.name = std::move(name);
  return p;
}

// Lanes in groups of `size`: all lanes of a group access the element of the group's first lane.
SharedAccessPattern broadcast_in_groups_pattern(uint32_t bytes, uint32_t size, uint32_t stride) {
  SharedAccessPattern p = strided_shared_access_pattern(bytes, 0);
  for (uint32_t lane = 0; lane < 32; ++lane) p.address[lane] = lane / size * stride * bytes;
  return p;
}

std::vector<SharedAccessPattern> named_patterns(uint32_t bytes) {
  std::vector<SharedAccessPattern> found;
  for (uint32_t stride : {1, 2, 3, 4, 8, 16, 32, 33})
    found.push_back(pattern_with_name(fmt::format("stride {}", stride),
                                      strided_shared_access_pattern(bytes, stride)));
  found.push_back(
      pattern_with_name("row of [32][32] or [32][33]", strided_shared_access_pattern(bytes, 1)));
  found.push_back(
      pattern_with_name("column of [32][32]", strided_shared_access_pattern(bytes, 32)));
  found.push_back(
      pattern_with_name("column of [32][33]", strided_shared_access_pattern(bytes, 33)));
  found.push_back(
      pattern_with_name("all lanes one element", strided_shared_access_pattern(bytes, 0)));
  found.push_back(
      pattern_with_name("two lanes per element", broadcast_in_groups_pattern(bytes, 2, 1)));
  found.push_back(pattern_with_name("two lanes per element, of one bank each",
                                    broadcast_in_groups_pattern(bytes, 2, 32)));
  found.push_back(
      pattern_with_name("four lanes per element", broadcast_in_groups_pattern(bytes, 4, 1)));
  SharedAccessPattern two_apart =
      strided_shared_access_pattern(bytes, 1);  // lanes l and l ^ 2 share an element
  for (uint32_t lane = 0; lane < 32; ++lane) two_apart.address[lane] = (lane & ~2u) * bytes;
  found.push_back(pattern_with_name("lanes l and l ^ 2 an element", two_apart));
  // Lanes l and l ^ 4 access one element; neighbouring lanes access different elements.
  SharedAccessPattern four_apart = strided_shared_access_pattern(bytes, 1);
  for (uint32_t lane = 0; lane < 32; ++lane) four_apart.address[lane] = (lane & ~4u) * bytes;
  found.push_back(pattern_with_name("lanes l and l ^ 4 an element", four_apart));
  SharedAccessPattern reversed = strided_shared_access_pattern(bytes, 1);
  std::reverse(reversed.address.begin(), reversed.address.end());
  found.push_back(pattern_with_name("a row, from its end", reversed));
  for (uint32_t active :
       {0u, 1u, 0x80000000u, 0x0000ffffu, 0xffff0000u, 0x55555555u, 0x33333333u, 0x00ff0000u}) {
    SharedAccessPattern some = strided_shared_access_pattern(bytes, active == 0x00ff0000u ? 32 : 1);
    some.active = active;
    found.push_back(pattern_with_name("some lanes", some));
  }
  return found;
}

SharedAccessPattern random_pattern(Random& random, uint32_t bytes) {
  SharedAccessPattern p;
  p.bytes = bytes;
  const uint32_t elements = kWindow / bytes;
  const uint32_t mask = random.below(4);
  const uint32_t first = static_cast<uint32_t>(random.bits());
  const uint32_t second = static_cast<uint32_t>(random.bits());
  p.active = mask == 0   ? 0xffffffff
             : mask == 1 ? first
             : mask == 2 ? first & second & (second >> 7 | second << 25)
                         : first | second;
  const uint32_t start = random.below(elements / 4);
  // The random addresses lie in a window of so many elements. In the smallest window lanes often
  // share a word; in the largest one they rarely share a bank.
  const uint32_t windows[] = {8, 32, 128, elements * 3 / 4};
  const uint32_t window = windows[random.below(4)];
  const uint32_t stride = random.below(12);
  const uint32_t group = 1u << random.below(3);
  switch (random.below(4)) {
    case 0:  // scattered
      for (uint64_t& a : p.address) a = uint64_t{bytes} * (start + random.below(window));
      break;
    case 1:  // strided addresses, shuffled over the lanes
      for (uint32_t lane = 0; lane < 32; ++lane) p.address[lane] = bytes * (start + stride * lane);
      for (uint32_t lane = 31; lane > 0; --lane)
        std::swap(p.address[lane], p.address[random.below(lane + 1)]);
      break;
    case 2:  // lanes l and l ^ group access one element
      for (uint64_t& a : p.address) a = uint64_t{bytes} * (start + random.below(window));
      for (uint32_t lane = 0; lane < 32; ++lane) p.address[lane] = p.address[lane & ~group];
      break;
    case 3:  // few banks, many words
      for (uint64_t& a : p.address)
        a = uint64_t{bytes} * (start + random.below(3)) + 128 * random.below(24);
      break;
  }
  return p;
}

// How a student may understand the rule of banks. The default values are the right rule, and a
// misconception changes some of them.
struct BelievedBankRule {
  uint32_t active = 0;            // inactive lanes that are counted as active
  uint64_t granule = kBankBytes;  // bytes of a bank's word
  uint64_t banks = kBanks;
  bool broadcast = true;
  bool first_word_only = false;
  bool one_phase = false;
  bool one_bank = false;
};

uint32_t count_wavefronts(const SharedAccessPattern& p, const BelievedBankRule& rule) {
  const uint32_t width = p.bytes <= kBankBytes || rule.one_phase ? 32 : 128 / p.bytes;
  const uint32_t active = p.active | rule.active;
  uint32_t sum = 0;
  for (uint32_t first = 0; first < 32; first += width) {
    std::vector<std::set<uint64_t>> words(rule.banks);
    std::vector<uint32_t> lanes(rule.banks);
    for (uint32_t lane = first; lane < first + width; ++lane) {
      if (!(active >> lane & 1)) continue;
      const uint64_t from = p.address[lane] / rule.granule;
      const uint64_t to =
          rule.first_word_only ? from : (p.address[lane] + p.bytes - 1) / rule.granule;
      for (uint64_t word = from; word <= to; ++word) {
        const uint64_t bank = rule.one_bank ? 0 : word % rule.banks;
        words[bank].insert(word);
        ++lanes[bank];
      }
    }
    uint32_t fullest = 0;
    for (uint64_t bank = 0; bank < rule.banks; ++bank)
      fullest = std::max(fullest,
                         rule.broadcast ? static_cast<uint32_t>(words[bank].size()) : lanes[bank]);
    sum += fullest;
  }
  return sum;
}

uint32_t phase_count(const SharedAccessPattern& p) {
  const uint32_t width = p.bytes <= kBankBytes ? 32 : 128 / p.bytes;
  uint32_t sum = 0;
  for (uint32_t first = 0; first < 32; first += width)
    sum += (p.active >> first & (width == 32 ? 0xffffffffu : (1u << width) - 1)) != 0;
  return sum;
}

// The right rule with one field changed to `value`.
template <class T>
BelievedBankRule rule_with_change(T BelievedBankRule::*field, T value) {
  BelievedBankRule rule;
  rule.*field = value;
  return rule;
}

// The count of a student who takes each byte address for the number of a word.
uint32_t wavefronts_if_banks_were_one_byte(const SharedAccessPattern& p) {
  BelievedBankRule rule = rule_with_change(&BelievedBankRule::first_word_only, true);
  rule.granule = 1;
  return count_wavefronts(p, rule);
}

// The count of a student who believes that a bank serves one element at a time, even if two
// elements lie in one word.
uint32_t wavefronts_if_elements_were_serial(const SharedAccessPattern& p) {
  std::set<uint64_t> elements[kBanks];
  size_t fullest = 0;
  for (int lane = 0; lane < 32; ++lane)
    if (p.active >> lane & 1) {
      auto& bank = elements[p.address[lane] / kBankBytes % kBanks];
      bank.insert(p.address[lane]);
      fullest = std::max(fullest, bank.size());
    }
  return static_cast<uint32_t>(fullest);
}

struct Misconception {
  uint32_t (*answer)(const SharedAccessPattern&);
  const char* hint;
};

constexpr Misconception kMisconceptions[] = {
    {[](const SharedAccessPattern& p) { return std::max(1u, p.store_wavefronts()); },
     "An access without an active lane takes no wavefront."},
    {[](const SharedAccessPattern& p) { return p.store_wavefronts(); },
     "It seems to apply the rule for stores; a load may merge phases."},
    {[](const SharedAccessPattern& p) { return p.load_wavefronts(); },
     "It seems to apply the rule for loads; the phases of a store never merge."},
    {[](const SharedAccessPattern& p) { return p.store_wavefronts() - phase_count(p); },
     "It seems to count conflicts, the wavefronts beyond the first; the question "
     "asks for all wavefronts."},
    {[](const SharedAccessPattern& p) {
       return count_wavefronts(p, rule_with_change(&BelievedBankRule::broadcast, false));
     },
     "It seems to count lanes: lanes that access the same word of a bank get it "
     "together."},
    {[](const SharedAccessPattern& p) {
       return count_wavefronts(p, rule_with_change(&BelievedBankRule::active, 0xffffffffu));
     },
     "It seems to count inactive lanes, too: they have no address."},
    {wavefronts_if_banks_were_one_byte,
     "It seems to use the byte address as the number of the word: a bank is 4 "
     "bytes wide."},
    {[](const SharedAccessPattern& p) {
       return count_wavefronts(p, rule_with_change(&BelievedBankRule::banks, uint64_t{16}));
     },
     "It seems to assume 16 banks, as GPUs had before 2010."},
    {[](const SharedAccessPattern& p) {
       return count_wavefronts(p, rule_with_change(&BelievedBankRule::one_phase, true));
     },
     "It seems to serve all lanes in one phase: 32 lanes of more than 4 bytes "
     "access more than the 128 bytes that the banks deliver at once."},
    {wavefronts_if_elements_were_serial,
     "It seems to treat the bytes of a word as different words: all lanes that "
     "access a part of one word get it together."},
    {[](const SharedAccessPattern& p) {
       return count_wavefronts(p, rule_with_change(&BelievedBankRule::one_bank, true));
     },
     "It seems to count all words: words in different banks are served together."},
};

}  // namespace

uint32_t SharedAccessPattern::store_wavefronts() const {
  return counters::store_wavefronts(address.data(), bytes, active).actual;
}
uint32_t SharedAccessPattern::load_wavefronts() const {
  return counters::load_wavefronts(address.data(), bytes, active).actual;
}

std::string SharedAccessPattern::show() const {
  std::string text = name.empty() ? "" : name + ", ";
  text += fmt::format("{} byte{} per lane, active {:#010x}", bytes, bytes == 1 ? "" : "s", active);
  if (active == 0) return text + ": no lane is active.";
  const auto word = [&](int lane) { return address[lane] / kBankBytes; };
  const std::string what =
      bytes > kBankBytes ? fmt::format("its {} words begin", bytes / kBankBytes) : "it lies";
  if (lanes() <= 4) {
    text += fmt::format(". The bank and the word where {}:", what);
    const char* separator = " ";
    for (int lane = 0; lane < 32; ++lane) {
      if (!(active >> lane & 1)) continue;
      text += fmt::format("{}lane {} bank {}, word {}", separator, lane, word(lane) % kBanks,
                          word(lane));
      separator = "; ";
    }
    return text + ".";
  }
  text += fmt::format(". Bank/word where {}, for each lane:", what);
  for (int lane = 0; lane < 32; ++lane) {
    if (lane % 8 == 0) text += fmt::format("\n    lane {:>2}:", lane);
    const std::string cell =
        active >> lane & 1 ? fmt::format("{}/{}", word(lane) % kBanks, word(lane)) : "-";
    text += fmt::format(" {:>7}", cell);
  }
  return text;
}

SharedAccessPattern strided_shared_access_pattern(uint32_t bytes, uint32_t stride_in_elements) {
  SharedAccessPattern p;
  p.bytes = bytes;
  for (uint64_t lane = 0; lane < 32; ++lane) p.address[lane] = lane * stride_in_elements * bytes;
  return p;
}

std::vector<SharedAccessPattern> named_and_random_access_patterns(
    Random& random, const std::vector<uint32_t>& widths, int count) {
  std::vector<SharedAccessPattern> found;
  for (uint32_t bytes : widths) {
    for (const SharedAccessPattern& p : named_patterns(bytes)) {
      const bool some = p.active != 0 && p.active != 0xffffffff;
      for (uint32_t kind = 0; kind < (some ? kDecoys : 1); ++kind) {
        found.push_back(p);
        set_inactive_addresses(found.back(), kind, random, kWindow, kRowOfBanks);
      }
    }
    for (int i = 0; i < count; ++i) {
      found.push_back(random_pattern(random, bytes));
      set_inactive_addresses(found.back(), static_cast<uint32_t>(i) % kDecoys, random, kWindow,
                             kRowOfBanks);
    }
  }
  return found;
}

std::vector<SharedAccessPattern> lane_variants_of_bank_pattern(const SharedAccessPattern& p) {
  return grading::lane_permuted_patterns(p, kWindow, kRowOfBanks);
}

std::string bank_misconception_hint(const std::vector<SharedAccessPattern>& patterns,
                                    const std::vector<int>& wavefronts) {
  for (const Misconception& idea : kMisconceptions) {
    bool all = true;
    for (size_t i = 0; i < patterns.size() && all; ++i)
      all = static_cast<int>(idea.answer(patterns[i])) == wavefronts[i];
    if (all) return idea.hint;
  }
  return "";
}

}  // namespace lab32::checks::bank_conflicts
