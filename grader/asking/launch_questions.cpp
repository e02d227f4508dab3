// Questions for which several accesses of a launch matter: the thread that stores an element, the
// writer of a shared word, the source lane of a shuffle, and the line that wastes most.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "asking/launch_record.h"
#include "base/text.h"
#include "grading/words/words.h"

namespace lab32::asking {
namespace {

using counters::ShuffleDetail;
using sim::AccessKind;

class WriterAndShuffleQuestions {
 public:
  explicit WriterAndShuffleQuestions(const LaunchQuestionInputs& record) : r_(record) {}

  std::vector<Question> all_questions() {
    for (const LineDetail& line : r_.detail().lines)
      for (int attempt = 0; attempt < 4 && r_.is_usable_for_questions(line); ++attempt) {
        const RequestInQuestion chosen = r_.choose_request(line);
        if (chosen.array.empty()) continue;
        if (chosen.request->kind == AccessKind::store)
          ask_storing_thread(chosen);
        else if (line.shared)
          add_writer_question(chosen);
      }
    add_shuffle_questions();
    add_worst_line_question();
    return std::move(questions_);
  }

 private:
  void add_if_enough_wrong_answers(Question question, size_t least_wrong) {
    if (question.wrong.size() < least_wrong) return;
    questions_.push_back(std::move(question));
  }

  struct LastWriter {
    const LineDetail* line = nullptr;
    const RequestDetail* request = nullptr;
    int64_t thread = -1;  // -1: unknown, or several threads
  };

  // The thread that was the last to write the bytes before the access with the number `sequence`.
  LastWriter last_writer_of(uint64_t address, uint32_t bytes, uint64_t sequence) const {
    LastWriter writer;
    for (const LineDetail& line : r_.detail().lines) {
      if (!line.shared) continue;
      for (const RequestDetail& store : line.requests) {
        if (store.kind == AccessKind::load || store.sequence >= sequence ||
            (writer.request && store.sequence < writer.request->sequence))
          continue;
        int64_t thread = -1;
        size_t lanes = 0;
        bool whole = !store.matrix && store.kind == AccessKind::store;
        for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
          const uint64_t at = store.address[lane];
          if (!is_active(store, lane) || at >= address + bytes || at + store.bytes <= address)
            continue;
          ++lanes;
          whole &= at <= address && at + store.bytes >= address + bytes;
          thread = thread_of(store.warp, lane);
        }
        if (lanes > 0) writer = {&line, &store, whole && lanes == 1 ? thread : -1};
      }
    }
    return writer;
  }

  std::string linear_thread_index_expression() const {
    return r_.one_dimensional() ? "threadIdx.x"
                                : fmt::format("threadIdx.x + {} * threadIdx.y", r_.block().x);
  }

  // The note on the array of RequestInQuestion, "" or " (`from` points into it)".
  static std::string pointer_into_array_suffix(const RequestInQuestion& c) {
    const size_t at = c.array.find(" (");
    return at == std::string::npos ? "" : c.array.substr(at);
  }

  void ask_storing_thread(const RequestInQuestion& c) {
    const uint32_t lane = r_.random_active_lane(*c.request);
    const std::string& name = c.named.name[lane];
    const ElementName element = parse_element_name(name);
    const int64_t thread = thread_of(c.request->warp, lane);
    if (element.array.empty() || element.index.back() == thread ||
        element.index.back() > kLargestIndex ||
        __builtin_popcount(c.request->mask) < static_cast<int>(kManyLanes))
      return;
    for (const RequestDetail& other : c.line->requests)
      for (uint32_t l = 0; l < kWarpSize; ++l)
        if (is_active(other, l) && other.address[l] == c.request->address[lane] &&
            thread_of(other.warp, l) != thread)
          return;
    Question q = r_.new_question(QuestionKind::who, "storing thread", "indices", c.line->line);
    q.answer = thread;
    q.text =
        fmt::format("Which thread of {} stores `{}`{} on this line? Answer with its number, {}.",
                    block_name(r_.launch, c.line->block), name, pointer_into_array_suffix(c),
                    linear_thread_index_expression());
    q.reason = "For which thread does the index of the line give this element?";
    if (!r_.one_dimensional())
      add_wrong_answer(q, r_.thread_with_exchanged_xy(thread), "That exchanges x and y.");
    add_wrong_answer(
        q, element.index.back(),
        "That is the index of the element. The thread that stores it need not have the "
        "same number.");
    add_wrong_answer(q, lane,
                     "That is the number of a lane. The answer counts the threads of the block.");
    add_wrong_answer(q, c.request->warp,
                     "That is the number of the warp. The thread is one of its 32.");
    q.weight = 1;
    r_.add_request_picture(q, *c.line, *c.request);
    add_if_enough_wrong_answers(std::move(q), 2);
  }

  // Whether the thread stores to the address before the access with the number `sequence`.
  bool stores_before(int64_t thread, uint64_t address, uint64_t sequence) const {
    const auto lane = static_cast<uint32_t>(thread % kWarpSize);
    for (const LineDetail& line : r_.detail().lines)
      for (const RequestDetail& store : line.requests)
        if (line.shared && store.kind == AccessKind::store && store.sequence < sequence &&
            store.warp == thread / kWarpSize && is_active(store, lane) &&
            store.address[lane] == address)
          return true;
    return false;
  }

  void add_writer_question(const RequestInQuestion& c) {
    if (!r_.are_shared_lines_exactly_recorded()) return;
    const uint32_t lane = r_.random_active_lane(*c.request);
    const std::string& name = c.named.name[lane];
    const ElementName element = parse_element_name(name);
    if (element.array.empty()) return;
    const LastWriter writer =
        last_writer_of(c.request->address[lane], c.request->bytes, c.request->sequence);
    const int64_t reader = thread_of(c.request->warp, lane);
    // A question whose answer is the reading thread or a number in its text is not asked, because
    // it could be guessed.
    if (writer.thread < 0 || writer.thread == reader || writer.thread == lane ||
        writer.thread == c.request->warp || writer.thread == element.index.back())
      return;
    // The lane may read the element several times. The question is about all of these reads, so
    // they must have one answer.
    for (const RequestDetail& other : c.line->requests)
      if (other.kind == AccessKind::load && other.warp == c.request->warp &&
          is_active(other, lane) && other.address[lane] == c.request->address[lane] &&
          last_writer_of(other.address[lane], other.bytes, other.sequence).thread != writer.thread)
        return;
    Question q = r_.new_question(QuestionKind::who, "writer", "barriers", c.line->line);
    q.answer = writer.thread;
    q.text = fmt::format(
        "Lane {} of {} reads `{}`{}. Which thread of the block was the last to store there before "
        "this read? Answer with its number, {}.",
        lane, r_.warp_name(c), name, pointer_into_array_suffix(c),
        linear_thread_index_expression());
    q.reason = fmt::format(
        "Line {} stored it: for which thread does the index of that line give this element?",
        writer.line->line);
    add_wrong_answer(q, writer.thread / kWarpSize,
                     "That is the number of the warp. The thread is one of its 32.");
    add_wrong_answer(q, reader,
                     stores_before(reader, c.request->address[lane], c.request->sequence)
                         ? "That thread reads the element. It also stored an earlier value there: "
                           "which thread overwrote it?"
                         : "That is the thread that reads. Shared memory passes values between "
                           "threads: which thread stored this element?");
    if (!r_.one_dimensional())
      add_wrong_answer(q, r_.thread_with_exchanged_xy(writer.thread), "That exchanges x and y.");
    add_wrong_answer(q, lane,
                     "That is the number of a lane. The answer counts the threads of the block.");
    if (element.index.size() == 1)
      add_wrong_answer(q, element.index[0],
                       "That is the index of the element. The thread that stored it "
                       "need not have the same number.");
    q.weight = writer.thread / kWarpSize == reader / kWarpSize ? 2 : 4;
    r_.add_request_picture(q, *writer.line, *writer.request);
    r_.add_request_picture(q, *c.line, *c.request);
    add_if_enough_wrong_answers(std::move(q), 1);
  }

  // How the source lane follows from the lane, if all lanes follow one rule: a distance, or a mask
  // of an exclusive or.
  struct ShuffleRule {
    int64_t distance = 0, flipped = 0;
    bool shifts = false, flips = false;
  };
  static ShuffleRule rule_of(const ShuffleDetail& shuffle) {
    ShuffleRule rule;
    bool known = false;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if (!(shuffle.mask >> lane & 1) || !(shuffle.in_range >> lane & 1)) continue;
      const int64_t d = int64_t{shuffle.from[lane]} - lane, f = shuffle.from[lane] ^ lane;
      rule.shifts = !known || (rule.shifts && d == rule.distance);
      rule.flips = !known || (rule.flips && f == rule.flipped);
      rule.distance = d;
      rule.flipped = f;
      known = true;
    }
    return rule;
  }

  void add_shuffle_questions() {
    if (!r_.same_shuffles) return;
    std::map<int, std::vector<const ShuffleDetail*>> lines;
    for (const ShuffleDetail& shuffle : r_.detail().shuffles)
      if (shuffle.file == r_.names.file && shuffle.mask != 0)
        lines[shuffle.line].push_back(&shuffle);
    for (const auto& [line, rounds] : lines) {
      // A question counts the times that a warp executes the shuffle, so the line must have only
      // one. The two halves of a double are two instructions with the same sources.
      static const RegularExpression shuffles("shfl");
      bool one = shuffles.all(r_.names.source.text_of(line)).size() <= 1;
      for (size_t i = 1; i < rounds.size(); ++i)
        one &= rounds[i]->site == rounds[i - 1]->site || rounds[i]->from != rounds[i - 1]->from;
      for (size_t i = 0; one && i < std::min<size_t>(rounds.size(), 4); ++i)
        add_shuffle_question(rounds, i);
    }
  }

  void add_shuffle_question(const std::vector<const ShuffleDetail*>& rounds, size_t number) {
    const ShuffleDetail& shuffle = *rounds[number];
    uint32_t lane = r_.random.below(kWarpSize);
    while (!(shuffle.mask >> lane & 1)) lane = (lane + 1) % kWarpSize;
    const int64_t from = shuffle.from[lane];
    if (shuffle.absent >> from & 1) return;
    const ShuffleRule rule = rule_of(shuffle);
    Question q = r_.new_question(QuestionKind::who, "shuffle", "shuffles", shuffle.line);
    q.answer = from;
    q.text = fmt::format(
        "The {} time that warp {} of {} executes this shuffle: which lane's value does lane {} "
        "receive?",
        ordinal_word(number), shuffle.warp, block_name(r_.launch, r_.detail().block), lane);
    q.reason =
        "The shuffle's third argument says how far away, or with which bits flipped, the lane is "
        "whose value arrives; a lane out of range keeps its own value.";
    const bool in_range = shuffle.in_range >> lane & 1;
    const int64_t l = lane;
    const auto add = [&](int64_t answer, const std::string& misconception) {
      if (answer < kWarpSize) add_wrong_answer(q, answer, misconception);
    };
    // The answers of the rounds before and after this one.
    const auto add_neighbours = [&](const auto& answer_by) {
      if (number > 0)
        add(answer_by(rule_of(*rounds[number - 1])), "That is the distance of the round before.");
      if (number + 1 < rounds.size())
        add(answer_by(rule_of(*rounds[number + 1])), "That is the distance of the next round.");
    };
    if (!in_range && rule.shifts) {
      const bool inside = l + rule.distance >= 0 && l + rule.distance < kWarpSize;
      if (inside)
        q.reason +=
            " The fourth argument divides the warp into segments, and each is a range of its own.";
      add_wrong_answer(q, l + rule.distance,
                       inside ? "That lane is in another segment: the lane keeps its own value."
                              : "There is no such lane: a lane whose source is out of range keeps "
                                "its own value.");
      add((l + rule.distance + kWarpSize) % kWarpSize,
          "Shuffles by a distance do not wrap around: a lane whose source is out of range keeps "
          "its "
          "own value.");
      add(l - rule.distance, "That is the other direction.");
    } else if (rule.shifts) {
      add(l - rule.distance,
          "That is the lane that receives this lane's value: the other "
          "direction.");
      add_neighbours([&](const ShuffleRule& other) { return l + other.distance; });
    } else if (rule.flips) {
      add(l + rule.flipped, "An exclusive or does not add: where the bit is set, it is cleared.");
      add(l - rule.flipped,
          "An exclusive or does not subtract: where the bit is clear, it is set.");
      add_neighbours([&](const ShuffleRule& other) { return l ^ other.flipped; });
    }
    if (in_range) add(l, "That is the lane itself: it receives another lane's value.");
    q.weight = 3;
    counters::LaunchDetail one;
    one.block = r_.detail().block;
    one.shuffles = {shuffle};
    q.picture.shuffles = pictures::recorded_shuffles_picture(one, r_.names);
    add_if_enough_wrong_answers(std::move(q), 2);
  }

  // Asks which line has the request that touches the most sectors.
  void add_worst_line_question() {
    struct LineWithWorstRequest {
      const LineDetail* line;
      const RequestDetail* worst;
    };
    std::vector<LineWithWorstRequest> lines;
    for (const LineDetail& line : r_.detail().lines) {
      if (line.shared || !r_.is_usable_for_questions(line)) continue;
      const auto worst = std::max_element(
          line.requests.begin(), line.requests.end(),
          [](const RequestDetail& x, const RequestDetail& y) { return x.cost < y.cost; });
      const bool atomic = worst->kind != AccessKind::load && worst->kind != AccessKind::store;
      if (!atomic && __builtin_popcount(worst->mask) >= kManyLanes)
        lines.push_back({&line, &*worst});
    }
    std::stable_sort(lines.begin(), lines.end(),
                     [](const LineWithWorstRequest& x, const LineWithWorstRequest& y) {
                       return x.worst->cost > y.worst->cost;
                     });
    // A line that is only slightly worse than the next would take too long to find on paper.
    if (lines.size() < 2 || lines[0].worst->cost < 2 * lines[1].worst->cost ||
        lines[0].worst->cost == lines[0].worst->ideal)
      return;
    if (lines.size() > 4) lines.resize(4);
    const LineWithWorstRequest most = lines[0];
    std::stable_sort(lines.begin(), lines.end(),
                     [](const LineWithWorstRequest& x, const LineWithWorstRequest& y) {
                       return x.line->line < y.line->line;
                     });
    Question q = r_.new_question(QuestionKind::why, "worst line", "sectors", 0);
    q.text =
        fmt::format("In {}, which of these lines has the request that touches the most sectors?",
                    block_name(r_.launch, most.line->block));
    for (size_t i = 0; i < lines.size(); ++i) {
      const int number = lines[i].line->line;
      std::string source = r_.names.source.text_of(number);
      if (display_columns(source) > 58) source = source.substr(0, 55) + "...";
      q.options.push_back(fmt::format("line {}: {}", number, source));
      if (lines[i].line == most.line) q.answer = static_cast<int64_t>(i) + 1;
    }
    for (size_t i = 0; i < lines.size(); ++i)
      add_wrong_answer(
          q, static_cast<int64_t>(i) + 1,
          fmt::format("On line {} the lanes touch fewer sectors.", lines[i].line->line));
    q.reason =
        "For each line: how far apart are the elements of neighbouring lanes, in bytes, and "
        "do they begin at a sector?";
    q.weight = 4;
    for (const LineWithWorstRequest& line : lines)
      r_.add_request_picture(q, *line.line, *line.worst);
    add_if_enough_wrong_answers(std::move(q), 1);
  }

  const LaunchQuestionInputs& r_;
  std::vector<Question> questions_;
};

}  // namespace

std::vector<Question> writer_and_shuffle_questions(const LaunchQuestionInputs& record) {
  return WriterAndShuffleQuestions(record).all_questions();
}

}  // namespace lab32::asking
