// Misconceptions about coalescing and bank conflicts, as functions. Whatever the seed is, every
// check that is about a misconception detects it.

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "labs/bank_conflicts/patterns.h"
#include "labs/coalescing/patterns.h"
#include "tests/fixtures/slow.h"

namespace lab32::tests {
namespace {

using checks::bank_conflicts::SharedAccessPattern;
using WarpPattern = checks::coalescing::GlobalAccessPattern;

constexpr uint64_t kSeeds = 50;

bool takes_part(uint32_t active, uint32_t lane) { return active >> lane & 1; }

template <class P>
using Model = std::pair<std::string, std::function<uint32_t(const P&)>>;

template <class P>
std::set<uint64_t> granules(const P& p, uint32_t active, uint64_t size) {
  std::set<uint64_t> found;
  for (uint32_t lane = 0; lane < 32; ++lane)
    if (takes_part(active, lane)) found.insert(p.address[lane] / size);
  return found;
}

// Counts the lanes whose sector no lane before them (or after them, by `step`) accesses; `all`:
// inactive lanes count, too.
uint32_t first_touches(const WarpPattern& p, int step, bool all, int reach) {
  uint32_t count = 0;
  for (int lane = 0; lane < 32; ++lane) {
    if (!takes_part(p.active, static_cast<uint32_t>(lane))) continue;
    bool seen = false;
    for (int other = lane + step, i = 0; other >= 0 && other < 32 && i < reach; other += step, ++i)
      seen |= (all || takes_part(p.active, static_cast<uint32_t>(other))) &&
              p.address[other] / 32 == p.address[lane] / 32;
    count += !seen;
  }
  return count;
}

const std::vector<Model<WarpPattern>> kCoalescers = {
    {"inactive lanes count", [](auto& p) { return granules(p, ~0u, 32).size(); }},
    {"lines of 128 bytes", [](auto& p) { return granules(p, p.active, 128).size(); }},
    {"pieces of 64 bytes", [](auto& p) { return granules(p, p.active, 64).size(); }},
    {"a sector a lane", [](auto& p) { return static_cast<uint32_t>(p.lanes()); }},
    {"bytes", [](auto& p) { return (p.lanes() * p.bytes + 31) / 32; }},
    {"the lane before", [](auto& p) { return first_touches(p, -1, false, 1); }},
    {"the lane before, active or not", [](auto& p) { return first_touches(p, -1, true, 1); }},
    {"the lane behind, active or not", [](auto& p) { return first_touches(p, 1, true, 1); }},
    {"all before, active or not", [](auto& p) { return first_touches(p, -1, true, 32); }},
    {"all behind, active or not", [](auto& p) { return first_touches(p, 1, true, 32); }},
    {"from the lowest to the highest",
     [](auto& p) {
       const auto all = granules(p, p.active, 32);
       return all.empty() ? 0 : static_cast<uint32_t>(*all.rbegin() - *all.begin() + 1);
     }},
};

// Misconceptions about the bank rule.
struct Rule {
  uint32_t also_active = 0;
  uint64_t granule = 4, banks = 32;
  bool words_merge = true, phases = true, one_phase_a_half = false;
  bool all_lanes_merge = false;   // a lane whose word any lane before it has, active or not
  bool neighbours_merge = false;  // only with the active lane before it
  bool conflicts_only = false;
};

uint32_t stores(const SharedAccessPattern& p, const Rule& rule) {
  const uint32_t width = p.bytes <= 4 || !rule.phases ? 32
                         : rule.one_phase_a_half      ? 16
                                                      : 128 / p.bytes;
  const uint32_t active = p.active | rule.also_active;
  uint32_t sum = 0;
  for (uint32_t first = 0; first < 32; first += width) {
    std::vector<uint32_t> wanted(rule.banks);
    std::vector<std::set<uint64_t>> words(rule.banks);
    for (uint32_t lane = first; lane < first + width; ++lane) {
      if (!takes_part(active, lane)) continue;
      const uint64_t from = p.address[lane] / rule.granule,
                     to = (p.address[lane] + p.bytes - 1) / rule.granule;
      for (uint64_t word = from; word <= to; ++word) {
        const uint64_t bank = word % rule.banks;
        bool seen = rule.words_merge && words[bank].count(word);
        if (rule.neighbours_merge)
          seen = lane > first && takes_part(active, lane - 1) &&
                 p.address[lane - 1] == p.address[lane];
        for (uint32_t other = first; rule.all_lanes_merge && other < lane; ++other)
          seen |= p.address[other] / rule.granule <= word &&
                  word <= (p.address[other] + p.bytes - 1) / rule.granule;
        words[bank].insert(word);
        wanted[bank] += !seen;
      }
    }
    const uint32_t fullest = *std::max_element(wanted.begin(), wanted.end());
    sum += rule.conflicts_only && fullest > 0 ? fullest - 1 : fullest;
  }
  return sum;
}

template <class T>
Rule but(T Rule::*field, T value) {
  Rule rule;
  rule.*field = value;
  return rule;
}

struct WrongRule {
  std::string name;
  Rule rule;
  std::vector<uint32_t> widths;  // that it is wrong for
};

const std::vector<uint32_t> kAll = {1, 2, 4, 8, 16}, kParts = {1, 2}, kWide = {8, 16};
const std::vector<WrongRule> kRules = {
    {"inactive lanes count", but(&Rule::also_active, ~0u), kAll},
    {"no merge of equal words", but(&Rule::words_merge, false), kAll},
    {"merge with inactive lanes", but(&Rule::all_lanes_merge, true), {1, 2, 4, 8, 16}},
    {"merge with the lane before only", but(&Rule::neighbours_merge, true), kAll},
    {"16 banks", but(&Rule::banks, uint64_t{16}), kAll},
    {"conflicts only", but(&Rule::conflicts_only, true), kAll},
    {"banks of one byte", but(&Rule::granule, uint64_t{1}), {1, 2, 4, 8, 16}},
    {"no phases", but(&Rule::phases, false), kWide},
    {"halves for all widths", but(&Rule::one_phase_a_half, true), {16}},
};

template <class P, class Wrong, class Right>
bool found_out(const std::vector<P>& patterns, Wrong wrong, Right right) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const P& p) { return wrong(p) != right(p); });
}

std::vector<SharedAccessPattern> of_widths(const std::vector<uint32_t>& widths, uint64_t seed) {
  Random random(seed);
  return checks::bank_conflicts::named_and_random_access_patterns(random, widths, 20);
}

// The patterns of A3: variants of the given kernels' accesses.
std::vector<WarpPattern> applied(uint64_t seed) {
  std::vector<WarpPattern> found;
  for (uint64_t stride : {0, 1, 2, 3, 4, 8, 33}) {
    WarpPattern p;
    for (uint64_t lane = 0; lane < 32; ++lane)
      p.address[lane] = 0x7f5e00000000 + 4096 * seed + 4 * stride * lane;
    for (const WarpPattern& other : checks::coalescing::lane_variants_of_global_pattern(p))
      found.push_back(other);
  }
  return found;
}

std::vector<SharedAccessPattern> applied_strides(uint32_t bytes) {
  std::vector<SharedAccessPattern> found;
  for (uint32_t stride : {1, 2, 3, 4, 8, 16, 32, 33})
    for (const SharedAccessPattern& other : checks::bank_conflicts::lane_variants_of_bank_pattern(
             checks::bank_conflicts::strided_shared_access_pattern(bytes, stride)))
      found.push_back(other);
  return found;
}

}  // namespace

TEST_CASE("checks: A2 and A3 detect every wrong coalescer, whatever the seed is") {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const std::vector<WarpPattern> asked = checks::coalescing::random_and_edge_patterns(random, 20),
                                   again = applied(seed);
    const auto right = [](const WarpPattern& p) { return p.sectors(); };
    for (const auto& [name, model] : kCoalescers) {
      CAPTURE(name);
      CHECK(found_out(asked, model, right));
      CHECK(found_out(again, model, right));
    }
    const auto by_hand = [](const WarpPattern& p) {
      return static_cast<uint32_t>(granules(p, p.active, 32).size());
    };
    CHECK_FALSE(found_out(asked, by_hand, right));
    CHECK_FALSE(found_out(again, by_hand, right));
  }
}

TEST_CASE("checks: A5 and each affected width detect every wrong arbiter" * kSlow) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    for (uint32_t bytes : kAll) {
      CAPTURE(bytes);
      const std::vector<SharedAccessPattern> asked = of_widths({bytes}, seed),
                                             again = applied_strides(bytes);
      const auto right = [](const SharedAccessPattern& p) { return p.store_wavefronts(); };
      for (const WrongRule& wrong : kRules) {
        CAPTURE(wrong.name);
        if (!std::count(wrong.widths.begin(), wrong.widths.end(), bytes)) continue;
        const auto model = [&](const SharedAccessPattern& p) { return stores(p, wrong.rule); };
        CHECK(found_out(asked, model, right));
        CHECK(found_out(again, model, right));
      }
      const auto by_hand = [](const SharedAccessPattern& p) { return stores(p, Rule()); };
      CHECK_FALSE(found_out(asked, by_hand, right));
      CHECK_FALSE(found_out(again, by_hand, right));
      if (bytes < 8) continue;
      // The phases of a load may merge, and those of a store do not.
      const auto load = [](const SharedAccessPattern& p) { return p.load_wavefronts(); };
      CHECK(found_out(asked, by_hand, load));
      CHECK(found_out(again, by_hand, load));
    }
  }
}

TEST_CASE("checks: patterns have every width, empty masks and no misaligned address") {
  Random random(3);
  const std::vector<WarpPattern> tried = checks::coalescing::random_and_edge_patterns(random, 600);
  bool empty = false, beyond = false;
  std::map<uint32_t, int> widths;
  for (const WarpPattern& p : tried) {
    empty |= p.active == 0;
    ++widths[p.bytes];
    for (int lane = 0; lane < 32; ++lane)
      if (p.active >> lane & 1) {
        CHECK(p.address[lane] % p.bytes == 0);
        beyond |= p.address[lane] >> 32 != 0;
      }
    CHECK(p.sectors() <= 32);
    CHECK((p.sectors() == 0) == (p.requests() == 0));
  }
  CHECK(empty);
  CHECK(beyond);
  CHECK(widths.size() == 5);
  for (const auto& [bytes, count] : widths) CHECK(count >= 80);
}

TEST_CASE("checks: misconceptions are distinguished") {
  Random random(3);
  const std::vector<WarpPattern> tried = checks::coalescing::random_and_edge_patterns(random, 600);
  const auto hint = [&](auto answer) {
    std::vector<int> answers;
    for (const WarpPattern& p : tried) answers.push_back(answer(p));
    return checks::coalescing::misconception_hint(tried, answers);
  };
  CHECK(hint([](const WarpPattern& p) { return p.lanes(); }).find("lanes") != std::string::npos);
  CHECK(hint([](const WarpPattern& p) {
          return (p.lanes() * int(p.bytes) + 31) / 32;
        }).find("bytes") != std::string::npos);
  CHECK(hint([](const WarpPattern& p) { return static_cast<int>(p.sectors()); }) == "");
  CHECK(hint([](const WarpPattern& p) { return p.lanes() / 2; }) == "");
}

TEST_CASE("checks: a pattern is shown as offsets from a line of 128 bytes") {
  WarpPattern p;
  p.bytes = 4;
  p.active = 0x80000003;
  for (int lane = 0; lane < 32; ++lane) p.address[lane] = 0x1000 + 132 + 4 * lane;
  CHECK(p.show() ==
        "4 bytes per lane, active 0x80000003; bytes from 0x1080 on: lane 0 at 4, lane 1 at 8, lane "
        "31 "
        "at 128.");
  p.active = 0x8000030f;
  CHECK(p.show() ==
        "4 bytes per lane, active 0x8000030f; bytes from 0x1080 on:\n"
        "    lane  0:      4      8     12     16      -      -      -      -\n"
        "    lane  8:     36     40      -      -      -      -      -      -\n"
        "    lane 16:      -      -      -      -      -      -      -      -\n"
        "    lane 24:      -      -      -      -      -      -      -    128");
  p.active = 0;
  CHECK(p.show() == "4 bytes per lane, and no lane is active");
}

}  // namespace lab32::tests
