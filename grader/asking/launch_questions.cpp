// Questions for which several accesses of a launch matter: the writer of a shared word, the source
// lane of a shuffle, the threads that do nothing, and the line that wastes most.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "asking/launch_record.h"
#include "base/text.h"
#include "grading/words/words.h"

namespace lab32::asking {
namespace {

using sim::AccessKind;

class LaunchQuestions {
 public:
  explicit LaunchQuestions(const LaunchRecord& record) : r_(record) {}

  std::vector<Question> all_questions() {
    for (const LineDetail& line : r_.detail().lines)
      for (int attempt = 0; attempt < 4 && line.shared && r_.is_usable_for_questions(line);
           ++attempt)
        if (const ChosenRequest chosen = r_.choose_request(line); chosen.request)
          add_writer_question(chosen);
    add_shuffle_questions();
    add_idle_threads_question();
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

  void add_writer_question(const ChosenRequest& c) {
    if (c.request->kind != AccessKind::load || !r_.are_all_lines_usable(true)) return;
    const uint32_t lane = r_.random_active_lane(*c.request);
    const std::string& name = c.named.name[lane];
    const ElementName element = parse_element_name(name);
    if (element.array.empty()) return;
    const LastWriter writer =
        last_writer_of(c.request->address[lane], c.request->bytes, c.request->sequence);
    const int64_t reader = thread_of(c.request->warp, lane);
    // A question whose answer is the reading thread or the element's index is not asked, because
    // that could be guessed from its text.
    if (writer.thread < 0 || writer.thread == reader || writer.thread == element.index.back())
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
    std::string number = "threadIdx.x";
    if (!r_.one_dimensional()) number += fmt::format(" + {} * threadIdx.y", r_.block().x);
    q.text = fmt::format(
        "Lane {} of {} reads `{}`. Which thread of the block wrote that value? Answer with its "
        "number, {}.",
        lane, r_.warp_name(c), name, number);
    q.reason = fmt::format(
        "Line {} stored it: for which thread does the index of that line give this element?",
        writer.line->line);
    add_wrong_answer(q, reader,
                     "That is the thread that reads. Shared memory passes values between "
                     "threads: which thread stored this element?");
    if (!r_.one_dimensional())
      add_wrong_answer(q, r_.thread_with_exchanged_xy(writer.thread),
                       "There x and y are exchanged.");
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

  void add_shuffle_questions() {
    if (!r_.same_shuffles) return;
    const auto& shuffles = r_.detail().shuffles;
    std::map<int, size_t> times;
    for (const counters::ShuffleDetail& shuffle : shuffles) {
      const size_t number = times[shuffle.line]++;
      if (number > 3 || shuffle.file != r_.names.file || shuffle.mask == 0) continue;
      add_shuffle_question(shuffle, number);
    }
  }

  void add_shuffle_question(const counters::ShuffleDetail& shuffle, size_t number) {
    uint32_t lane = r_.random.below(kWarpSize);
    while (!(shuffle.mask >> lane & 1)) lane = (lane + 1) % kWarpSize;
    const int64_t from = shuffle.from[lane];
    if (shuffle.absent >> from & 1) return;
    // How the source lane follows from the lane: a distance, or a mask of an exclusive or, if it is
    // the same for all lanes.
    int64_t distance = 0, flipped = 0;
    bool shifts = true, flips = true, known = false;
    for (uint32_t other = 0; other < kWarpSize; ++other) {
      if (!(shuffle.mask >> other & 1) || !(shuffle.in_range >> other & 1)) continue;
      const int64_t d = int64_t{shuffle.from[other]} - other, f = shuffle.from[other] ^ other;
      shifts &= !known || d == distance;
      flips &= !known || f == flipped;
      distance = d;
      flipped = f;
      known = true;
    }
    Question q = r_.new_question(QuestionKind::who, "shuffle", "shuffles", shuffle.line);
    q.answer = from;
    q.text = fmt::format(
        "The {} time that warp {} of {} executes this shuffle: which lane's value does lane {} "
        "receive?",
        ordinal_word(number), shuffle.warp, block_name(r_.launch, r_.detail().block), lane);
    q.reason =
        "The shuffle's last argument says how far away, or with which bits flipped, the "
        "lane is whose value arrives; a lane out of range keeps its own value.";
    const bool in_range = shuffle.in_range >> lane & 1;
    const int64_t l = lane;
    if (!in_range && shifts && known) {
      add_wrong_answer(q, l + distance,
                       "There is no such lane: a lane whose source is out of range "
                       "keeps its own value.");
      add_wrong_answer(
          q, (l + distance + kWarpSize) % kWarpSize,
          "Shuffles by a distance do not wrap around: a lane whose source is out of range "
          "keeps its own value.");
    } else if (shifts && known) {
      add_wrong_answer(q, l - distance,
                       "That is the lane that receives this lane's value: the other "
                       "direction.");
      add_wrong_answer(q, l + 2 * distance, "That is the distance of the step before.");
      add_wrong_answer(q, l + distance / 2, "That is the distance of the next step.");
    } else if (flips && known) {
      add_wrong_answer(q, l + flipped,
                       "An exclusive or does not add: where the bit is set, it is "
                       "cleared.");
      add_wrong_answer(q, l - flipped,
                       "An exclusive or does not subtract: where the bit is clear, it is "
                       "set.");
      add_wrong_answer(q, l ^ (flipped * 2), "That flips the bit of the step before.");
      add_wrong_answer(q, l ^ (flipped / 2), "That flips the bit of the next step.");
    }
    if (in_range)
      add_wrong_answer(q, l, "That is the lane itself: it receives another lane's value.");
    q.weight = 3;
    pictures::PicturedLaunch picture;
    counters::LaunchDetail one;
    one.block = r_.detail().block;
    one.shuffles = {shuffle};
    picture.shuffles = pictures::shuffles_of(one, r_.names);
    q.picture = std::move(picture);
    add_if_enough_wrong_answers(std::move(q), 2);
  }

  // Asks how many threads of the last block load nothing.
  void add_idle_threads_question() {
    const uint64_t last = r_.launch.shape.grid.count() - 1;
    if (!r_.are_all_lines_usable(false) || !r_.one_dimensional()) return;
    std::set<int64_t> loading;
    const LineDetail* shown = nullptr;
    for (const LineDetail& line : r_.detail().lines) {
      if (line.shared || line.block != last) continue;
      for (const RequestDetail& request : line.requests) {
        if (request.kind != AccessKind::load) continue;
        if (request.number > 0) return;  // loads in a loop take too long to work out on paper
        for (uint32_t lane = 0; lane < kWarpSize; ++lane)
          if (is_active(request, lane)) loading.insert(thread_of(request.warp, lane));
        if (!shown) shown = &line;
      }
    }
    const auto threads = static_cast<int64_t>(r_.block().count());
    const int64_t idle = threads - static_cast<int64_t>(loading.size());
    if (!shown || idle == 0 || loading.size() < kManyLanes) return;
    Question q = r_.new_question(QuestionKind::what_if, "idle threads", "indices", shown->line);
    q.answer = idle;
    q.text = fmt::format(
        "How many of the {} threads of the last block, {}, load nothing from global memory?",
        threads, block_name(r_.launch, last));
    q.reason =
        "Which elements does the last block have, and how many of them are in front of the "
        "end?";
    add_wrong_answer(q, threads - idle, "Those are the threads that load.");
    add_wrong_answer(q, 0,
                     "The number of elements is no multiple of what a block takes: the guard turns "
                     "threads of the last block away.");
    add_wrong_answer(q, idle % kWarpSize,
                     "That counts only the last warp that works: the warps behind it "
                     "load nothing, either.");
    q.weight = 3;
    const RequestDetail* end = &shown->requests[0];
    for (const RequestDetail& request : shown->requests)
      if (request.warp >= end->warp) end = &request;
    r_.add_request_picture(q, *shown, *end);
    add_if_enough_wrong_answers(std::move(q), 2);
  }

  // Asks which line has the request that touches most sectors.
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
    q.text = fmt::format("In {}, which of these lines has the request that touches most sectors?",
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

  const LaunchRecord& r_;
  std::vector<Question> questions_;
};

}  // namespace

std::vector<Question> launch_questions(const LaunchRecord& record) {
  return LaunchQuestions(record).all_questions();
}

}  // namespace lab32::asking
