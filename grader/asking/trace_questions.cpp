// Questions about one access of a launch: its element, its bank, its sectors and its wavefronts.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "asking/launch_record.h"
#include "base/text.h"
#include "grading/words/words.h"

namespace lab32::asking {
namespace {

using sim::AccessKind;

constexpr uint32_t kSectorBytes = 32, kLineBytes = 128, kBankBytes = 4, kBanks = 32;

class SingleAccessQuestionGenerator {
 public:
  explicit SingleAccessQuestionGenerator(const LaunchQuestionInputs& record) : r_(record) {}

  std::vector<Question> all_questions() {
    for (const LineDetail& line : r_.detail().lines) {
      if (!r_.is_usable_for_questions(line)) continue;
      for (int attempt = 0; attempt < 4; ++attempt) {
        const RequestInQuestion chosen = r_.choose_request(line);
        if (!chosen.request || !chosen.told) continue;
        if (line.shared) {
          add_bank_of_lane_question(chosen);
          add_wavefronts_question(chosen);
        } else {
          add_element_question(chosen);
          add_sectors_question(chosen);
        }
      }
    }
    return std::move(questions_);
  }

 private:
  void add_if_enough_wrong_answers(Question question, size_t least_wrong) {
    if (question.wrong.size() < least_wrong) return;
    questions_.push_back(std::move(question));
  }

  // The array in device memory with these bytes; null: there is none.
  const grading::LaunchedArray* array_at(uint64_t address) const {
    for (const grading::LaunchedArray& array : r_.check.launched)
      if (address >= array.address && address < array.address + array.bytes) return &array;
    return nullptr;
  }

  // About the index of an element; about bytes if the lane accesses several elements at once, since
  // the kernel may have another type for them than the host.
  void add_element_question(const RequestInQuestion& c) {
    const uint32_t lane = r_.random_active_lane(*c.request);
    const uint64_t address = c.request->address[lane];
    const grading::LaunchedArray* const array = array_at(address);
    const ElementName element = parse_element_name(c.named.name[lane]);
    if (!array || element.index.size() != 1 || element.index[0] == lane ||
        __builtin_popcount(c.request->mask) < static_cast<int>(kManyLanes))
      return;
    const bool one = array->element_bytes == c.request->bytes;
    const auto answer_of = [&](const RequestDetail& request, uint32_t of) {
      if (!is_active(request, of) || array_at(request.address[of]) != array) return int64_t{-1};
      return static_cast<int64_t>((request.address[of] - array->address) /
                                  (one ? array->element_bytes : 1));
    };
    Question q = r_.new_question(QuestionKind::trace, "element", "indices", c.line->line);
    q.answer = answer_of(*c.request, lane);
    if (q.answer > kLargestIndex) return;
    q.text =
        one ? fmt::format("Which element of {} does lane {} of {} {}{}? Answer with its index.",
                          c.array, lane, r_.warp_name(c), verb_of(c.request->kind), c.which)
            : fmt::format(
                  "Lane {} of {} {}s {} bytes of {} at once{}. How many bytes of `{}` come before "
                  "them?",
                  lane, r_.warp_name(c), verb_of(c.request->kind), c.request->bytes, c.array,
                  c.which, element.array);
    q.reason = "Put threadIdx and blockIdx of that thread into the index of the line.";
    const int64_t thread = thread_of(c.request->warp, lane);
    const int64_t in_grid = static_cast<int64_t>(c.line->block * r_.block().count()) + thread;
    if (const int64_t exchanged = r_.thread_with_exchanged_xy(thread);
        !r_.one_dimensional() && exchanged >= 0)
      for (const RequestDetail& other : c.line->requests)
        if (other.site == c.request->site && int64_t{other.warp} == exchanged / kWarpSize &&
            other.number == c.request->number)
          add_wrong_answer(
              q, answer_of(other, static_cast<uint32_t>(exchanged % kWarpSize)),
              "That is the element of the thread whose x and y are exchanged: the lanes of a "
              "warp are neighbours in threadIdx.x.");
    if (!one)
      add_wrong_answer(
          q, q.answer / c.request->bytes,
          fmt::format("That counts accesses. Each of them has {} bytes.", c.request->bytes));
    const char* const kRounds = "How far does the index move from round to round?";
    if (c.round > 0)
      add_wrong_answer(q, answer_of(*c.rounds[0], lane),
                       fmt::format("That is the first round of the loop. {}", kRounds));
    if (c.round > 1)
      add_wrong_answer(q, answer_of(*c.rounds[c.round - 1], lane),
                       fmt::format("That is the round before. {}", kRounds));
    if (c.round + 1 < c.rounds.size())
      add_wrong_answer(q, answer_of(*c.rounds[c.round + 1], lane),
                       fmt::format("That is the next round. {}", kRounds));
    add_wrong_answer(q, thread,
                     c.line->block > 0
                         ? "That is the thread's number in its block: blockIdx is missing."
                         : "That is the thread's number in its block; the line computes another "
                           "index from it.");
    add_wrong_answer(
        q, lane,
        "That is the number of the lane. threadIdx counts the threads of the whole block.");
    const bool usual = q.answer == in_grid;
    add_wrong_answer(q, in_grid,
                     "That is the thread's number in the grid; the line computes another "
                     "index from it.");
    q.weight = usual ? 1 : 3;
    r_.add_request_picture(q, *c.line, *c.request);
    add_if_enough_wrong_answers(std::move(q), usual && r_.one_dimensional() ? 2 : 1);
  }

  void add_sectors_question(const RequestInQuestion& c) {
    const RequestDetail& request = *c.request;
    std::set<uint64_t> lines;
    int64_t bytes = 0;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if (!is_active(request, lane)) continue;
      bytes += request.bytes;
      lines.insert(request.address[lane] / kLineBytes);
      lines.insert((request.address[lane] + request.bytes - 1) / kLineBytes);
    }
    const int64_t lanes = __builtin_popcount(request.mask);
    const ElementName element = parse_element_name(c.named.name[__builtin_ctz(request.mask)]);
    // A full and coalesced request is not asked about: its sectors follow from the bytes of a lane.
    if (element.array.empty() || element.index.back() > kLargestIndex || lanes < kManyLanes ||
        (lanes == kWarpSize && request.cost == request.ideal))
      return;
    Question q = r_.new_question(QuestionKind::trace, "sectors", "sectors", c.line->line);
    q.answer = request.cost;
    q.text = fmt::format(
        "How many sectors does the {} of {} by {} touch{}? Each lane accesses {} bytes, and the "
        "first byte of `{}` is the first of a sector.",
        verb_of(request.kind), c.array, r_.warp_name(c), c.which, request.bytes, element.array);
    q.reason = "Which bytes do the active lanes access? Count the different blocks of 32 bytes.";
    add_wrong_answer(q, 1,
                     "A request is one instruction of a warp. It moves every sector of 32 bytes "
                     "that one of its lanes touches.");
    add_wrong_answer(
        q, lanes,
        "That is one sector for each active lane. Lanes that touch the same 32 bytes share "
        "their sector.");
    add_wrong_answer(
        q, (bytes + kSectorBytes - 1) / kSectorBytes,
        "That many sectors would hold the bytes if they lay side by side and began at a "
        "sector. Look at where the first and the last lane begin.");
    add_wrong_answer(
        q, static_cast<int64_t>(lines.size()),
        "Those are lines of 128 bytes. A line has four sectors, and each moves alone.");
    add_wrong_answer(q, (int64_t{kWarpSize} * request.bytes + kSectorBytes - 1) / kSectorBytes,
                     "That is for 32 active lanes. Do all lanes reach this access?");
    const bool full = request.mask == 0xffffffffu;
    q.weight = request.cost > request.ideal ? 4 : full ? 1 : 3;
    r_.add_request_picture(q, *c.line, request);
    add_if_enough_wrong_answers(std::move(q), 3);
  }

  // Whether the array begins in bank 0: only then can the student work out the bank of an element.
  bool array_begins_in_bank_0(uint64_t address) const {
    for (const counters::AccessedArray& array : r_.detail().shared_arrays)
      if (address >= array.begin && (array.bytes == 0 || address < array.begin + array.bytes))
        return array.begin % kLineBytes == 0;
    return false;
  }

  void add_bank_of_lane_question(const RequestInQuestion& c) {
    const uint32_t lane = r_.random_active_lane(*c.request);
    const uint64_t address = c.request->address[lane];
    const ElementName element = parse_element_name(c.named.name[lane]);
    if (element.array.empty() || !array_begins_in_bank_0(address) ||
        __builtin_popcount(c.request->mask) < static_cast<int>(kManyLanes))
      return;
    Question q = r_.new_question(QuestionKind::trace, "bank", "banks", c.line->line);
    q.answer = static_cast<int64_t>(address / kBankBytes % kBanks);
    const bool wide = c.request->bytes > kBankBytes;
    q.text =
        fmt::format("{} bank does the {} of {} by lane {} of {} {}{}? {}`{}` begins in bank 0.",
                    wide ? "At which" : "Which", verb_of(c.request->kind), c.array, lane,
                    r_.warp_name(c), wide ? "begin" : "use", c.which,
                    wide ? fmt::format("Each lane accesses {} bytes, and ", c.request->bytes) : "",
                    element.array);
    q.reason =
        "Count the 4-byte words from the beginning of the array to the element; the bank is that "
        "number modulo 32.";
    if (q.answer == lane || q.answer == c.request->warp) return;
    const int64_t last = element.index.back();
    if (wide)
      add_wrong_answer(q, int64_t{lane} * c.request->bytes / kBankBytes % kBanks,
                       "That is the lane's place in the warp, in banks: the address decides.");
    add_wrong_answer(
        q, last % kBanks,
        element.index.size() > 1 && !wide
            ? "That counts only the last index. The rows before the element take words, too."
            : "That counts elements. A bank is 4 bytes (one word) wide.");
    add_wrong_answer(q, lane, "A lane has no bank of its own: the address decides.");
    add_wrong_answer(q, static_cast<int64_t>(address % kBanks),
                     "That counts bytes. A bank is 4 bytes (one word) wide.");
    add_wrong_answer(q, thread_of(c.request->warp, lane) % kBanks,
                     "That is the number of the thread. The address decides, not the thread.");
    q.weight = last % kBanks == q.answer ? 2 : 4;
    r_.add_request_picture(q, *c.line, *c.request);
    add_if_enough_wrong_answers(std::move(q), 1);
  }

  // What a request costs if no phases merge, and what it would cost without conflicts. Lanes with
  // more than 4 bytes are served in phases of 128 bytes.
  struct UnmergedPhaseCost {
    int64_t cost = 0, count = 0;
  };
  static uint32_t lanes_per_request_phase(const RequestDetail& request) {
    return std::min<uint32_t>(kWarpSize, kLineBytes / request.bytes);
  }
  static UnmergedPhaseCost unmerged_phase_cost(const RequestDetail& request) {
    UnmergedPhaseCost phases;
    std::map<uint64_t, std::set<uint64_t>> words;  // by bank
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      for (uint32_t byte = 0; is_active(request, lane) && byte < request.bytes; ++byte) {
        const uint64_t word = (request.address[lane] + byte) / kBankBytes;
        words[word % kBanks].insert(word);
      }
      if ((lane + 1) % lanes_per_request_phase(request) != 0 || words.empty()) continue;
      size_t most = 0;
      for (const auto& [bank, of_bank] : words) most = std::max(most, of_bank.size());
      phases.cost += static_cast<int64_t>(most);
      ++phases.count;
      words.clear();
    }
    return phases;
  }

  void add_wavefronts_question(const RequestInQuestion& c) {
    const RequestDetail& request = *c.request;
    const auto first = static_cast<uint32_t>(__builtin_ctz(request.mask));
    const ElementName element = parse_element_name(c.named.name[first]);
    const UnmergedPhaseCost phases = unmerged_phase_cost(request);
    const int64_t lanes = __builtin_popcount(request.mask);
    if (element.array.empty() || !array_begins_in_bank_0(request.address[first]) ||
        phases.cost != request.cost || lanes < kManyLanes)
      return;
    const bool wide = request.bytes > kBankBytes;
    // Without conflicts, the answer is the number of groups of lanes, whatever the line computes.
    if (wide && phases.cost == phases.count) return;
    std::map<uint64_t, int64_t> lanes_in_bank;
    bool lane_by_lane = true;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if (!is_active(request, lane)) continue;
      ++lanes_in_bank[request.address[lane] / kBankBytes % kBanks];
      lane_by_lane &=
          request.address[lane] == request.address[first] + uint64_t{lane - first} * request.bytes;
    }
    Question q = r_.new_question(QuestionKind::trace, "wavefronts", "banks", c.line->line);
    q.answer = request.cost;
    q.text = fmt::format(
        "How many wavefronts does the {} of {} by {} take{}? `{}` begins in bank 0, and each "
        "lane accesses {} bytes{}.",
        verb_of(request.kind), c.array, r_.warp_name(c), c.which, element.array, request.bytes,
        wide ? fmt::format(", so that {} lanes are served at a time",
                           lanes_per_request_phase(request))
             : "");
    q.reason =
        "For each bank count the different words that lanes access in it; the largest number is "
        "the number of wavefronts.";
    if (wide) q.reason += " Add these numbers over the groups of lanes that are served together.";
    if (wide)
      add_wrong_answer(
          q, phases.count,
          "That would be an access without conflicts. Do two lanes that are served together "
          "access different words of one bank?");
    add_wrong_answer(
        q, 1,
        wide ? "A wavefront moves at most 128 bytes."
             : "That would be an access without conflicts. Do two lanes access different "
               "words of one bank?");
    int64_t fullest = 0;
    for (const auto& [bank, in_bank] : lanes_in_bank) fullest = std::max(fullest, in_bank);
    add_wrong_answer(
        q, fullest,
        wide ? "Those are the lanes that begin in the fullest bank. Not all of them are "
               "served together."
             : "Those are the lanes in the fullest bank. Lanes that access the same "
               "word are served together: count words.");
    add_wrong_answer(q, lanes, "Lanes in different banks are served at the same time.");
    if (!wide)
      add_wrong_answer(
          q, static_cast<int64_t>(lanes_in_bank.size()),
          "That is the number of banks in use. Different banks work at the same time.");
    q.weight = request.cost > request.ideal ? 4 : lane_by_lane ? 1 : 4;
    r_.add_request_picture(q, *c.line, request);
    add_if_enough_wrong_answers(std::move(q), 2);
  }

  const LaunchQuestionInputs& r_;
  std::vector<Question> questions_;
};

}  // namespace

std::vector<Question> single_access_questions(const LaunchQuestionInputs& record) {
  return SingleAccessQuestionGenerator(record).all_questions();
}

}  // namespace lab32::asking
