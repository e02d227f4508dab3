// Questions that the record of a launch answers: the element, the bank, the sectors and the
// wavefronts of an access, the writer of a shared word, the source lane of a shuffle, the threads
// that do nothing, and the line that wastes most.
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

constexpr int64_t kLargestIndex = 99'999;  // an index that is still quick to work out
constexpr int kManyLanes = 8;              // an access of fewer lanes says little about a warp
constexpr uint32_t kSectorBytes = 32, kLineBytes = 128, kBankBytes = 4, kBanks = 32;

// "tile[3][0]": the array and its indices; no array if the name is another one.
struct Element {
  std::string array;
  std::vector<int64_t> index;
};

Element element_of(const std::string& name) {
  static const Pattern whole("^([A-Za-z_][A-Za-z_0-9]*)((\\[[0-9]{1,9}\\])+)$"), one("[0-9]+");
  const auto found = whole.match(name);
  if (!found) return {};
  Element element{(*found)[1], {}};
  for (const auto& number : one.all((*found)[2])) element.index.push_back(std::stoll(number[0]));
  return element;
}

const char* verb_of(AccessKind kind) { return kind == AccessKind::load ? "load" : "store"; }

// One request of a line by one warp, and the words that tell it from the line's others.
struct Chosen {
  const LineDetail* line = nullptr;
  const RequestDetail* request = nullptr;
  bool told = true;   // words can tell it from the line's other requests by that warp
  std::string which;  // "", or ", the second time that a lane of the warp does this"
  pictures::Request named;
};

std::string ordinal(size_t number) {
  static const char* const kNames[] = {"first", "second", "third", "fourth"};
  return kNames[number];
}

bool active(const RequestDetail& request, uint32_t lane) { return request.mask >> lane & 1; }

class TraceQuestions {
 public:
  explicit TraceQuestions(const LaunchRecord& record) : r_(record) {}

  std::vector<Question> all() {
    for (const LineDetail& line : r_.detail().lines) {
      if (!is_usable(line)) continue;
      for (int attempt = 0; attempt < 4; ++attempt) {
        const Chosen chosen = choose(line);
        if (!chosen.request) continue;
        if (line.shared) ask_writer(chosen);
        if (!chosen.told) continue;
        if (line.shared) {
          ask_bank(chosen);
          ask_wavefronts(chosen);
        } else {
          ask_element(chosen);
          ask_sectors(chosen);
        }
      }
    }
    ask_shuffles();
    ask_idle();
    ask_worst_line();
    return std::move(questions_);
  }

 private:
  // The record has all accesses of the line in the block, as the machine code issues them.
  static bool is_complete(const LineDetail& line) {
    return line.requests.size() == line.requests_in_block;
  }
  bool is_usable(const LineDetail& line) const {
    return is_complete(line) && !line.ptx_level && r_.is_known(line);
  }

  bool complete_in(bool shared) const {
    return std::all_of(r_.detail().lines.begin(), r_.detail().lines.end(),
                       [&](const LineDetail& l) { return l.shared != shared || is_usable(l); });
  }

  // A random load or store of the line.
  Chosen choose(const LineDetail& line) {
    const RequestDetail& any =
        line.requests[r_.random.below(static_cast<uint32_t>(line.requests.size()))];
    if (any.matrix || (any.kind != AccessKind::load && any.kind != AccessKind::store)) return {};
    std::vector<const RequestDetail*> alike;  // of that warp and kind
    for (const RequestDetail& other : line.requests)
      if (other.warp == any.warp && other.kind == any.kind) alike.push_back(&other);
    Chosen chosen{&line, &any, true, "", {}};
    if (alike.size() > 1) {
      const bool one_site = std::all_of(
          alike.begin(), alike.end(), [&](const RequestDetail* o) { return o->site == any.site; });
      const auto at =
          static_cast<size_t>(std::find(alike.begin(), alike.end(), &any) - alike.begin());
      chosen.told = one_site && at < 4;
      if (chosen.told)
        chosen.which = fmt::format(", the {} time that a lane of the warp does this", ordinal(at));
    }
    chosen.named = pictures::access_of(line, any, r_.names).requests[0];
    return chosen;
  }

  uint32_t random_lane(const RequestDetail& request) {
    uint32_t lane = r_.random.below(kWarpSize);
    while (!active(request, lane)) lane = (lane + 1) % kWarpSize;
    return lane;
  }

  std::string place(const Chosen& c) const {
    return fmt::format("warp {} of {}", c.request->warp, block_name(r_.launch, c.line->block));
  }

  void keep(Question question, size_t least_wrong) {
    if (question.wrong.size() < least_wrong) return;
    questions_.push_back(std::move(question));
  }

  int64_t thread_of(uint32_t warp, uint32_t lane) const { return int64_t{warp} * kWarpSize + lane; }

  // The number of the thread whose x and y are those of `thread`, exchanged; -1: there is none.
  int64_t exchanged(int64_t thread) const {
    const int64_t w = r_.block().x, h = r_.block().y;
    const int64_t x = thread % w, y = thread / w;
    return y < w && x < h ? x * w + y : -1;
  }

  // The index of the element that a thread of the block accesses by the same instruction.
  int64_t index_of(const Chosen& c, int64_t thread) const {
    for (const RequestDetail& other : c.line->requests) {
      const auto lane = static_cast<uint32_t>(thread % kWarpSize);
      if (other.site != c.request->site || int64_t{other.warp} != thread / kWarpSize ||
          !active(other, lane) || other.number != c.request->number)
        continue;
      const Element e =
          element_of(pictures::access_of(*c.line, other, r_.names).requests[0].name[lane]);
      if (e.index.size() == 1) return e.index[0];
    }
    return -1;
  }

  // Whether the lane accesses one element as the kernel's parameter has it.
  bool is_element(const RequestDetail& request, uint32_t lane) const {
    for (const grading::Region& array : r_.check.launched)
      if (request.address[lane] >= array.address &&
          request.address[lane] < array.address + array.bytes)
        return array.element_bytes == request.bytes;
    return false;
  }

  void ask_element(const Chosen& c) {
    const uint32_t lane = random_lane(*c.request);
    const Element element = element_of(c.named.name[lane]);
    if (element.index.size() != 1 || element.index[0] > kLargestIndex || element.index[0] == lane ||
        __builtin_popcount(c.request->mask) < kManyLanes || !is_element(*c.request, lane))
      return;
    Question q = r_.about(Kind::trace, "element", "indices", c.line->line);
    q.answer = element.index[0];
    q.text = fmt::format("Which element of `{}` does lane {} of {} {}{}? Answer with its index.",
                         element.array, lane, place(c), verb_of(c.request->kind), c.which);
    q.reason = "Put threadIdx and blockIdx of that thread into the index of the line.";
    const int64_t thread = thread_of(c.request->warp, lane);
    const int64_t in_grid = static_cast<int64_t>(c.line->block * r_.block().count()) + thread;
    if (!r_.one_dimensional())
      add_wrong(q, index_of(c, exchanged(thread)),
                "That is the element of the thread whose x and y are exchanged: the lanes of a "
                "warp are neighbours in threadIdx.x.");
    add_wrong(q, lane,
              "That is the number of the lane. threadIdx counts the threads of the whole block, "
              "and the block has a place in the grid.");
    add_wrong(q, thread, "That is the thread's number in its block: blockIdx is missing.");
    const bool usual = q.answer == in_grid;
    add_wrong(q, in_grid,
              "That is the thread's number in the grid; the line computes another "
              "index from it.");
    q.weight = usual ? 1 : 3;
    r_.draw_request(q, *c.line, *c.request);
    keep(std::move(q), usual && r_.one_dimensional() ? 2 : 1);
  }

  void ask_sectors(const Chosen& c) {
    const RequestDetail& request = *c.request;
    std::set<uint64_t> lines;
    int64_t bytes = 0;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if (!active(request, lane)) continue;
      bytes += request.bytes;
      lines.insert(request.address[lane] / kLineBytes);
      lines.insert((request.address[lane] + request.bytes - 1) / kLineBytes);
    }
    const int64_t lanes = __builtin_popcount(request.mask);
    const Element element = element_of(c.named.name[__builtin_ctz(request.mask)]);
    if (element.array.empty() || lanes < kManyLanes) return;
    Question q = r_.about(Kind::trace, "sectors", "sectors", c.line->line);
    q.answer = request.cost;
    q.text = fmt::format(
        "How many sectors does the {} of `{}` by {} touch{}? Each lane accesses {} bytes, and `{}` "
        "begins at a sector.",
        verb_of(request.kind), element.array, place(c), c.which, request.bytes, element.array);
    q.reason = "Which bytes do the active lanes access? Count the different blocks of 32 bytes.";
    add_wrong(q, 1,
              "A request is one instruction of a warp. It moves every sector of 32 bytes "
              "that one of its lanes touches.");
    add_wrong(q, lanes,
              "That is one sector for each active lane. Lanes that touch the same 32 bytes share "
              "their sector.");
    add_wrong(q, (bytes + kSectorBytes - 1) / kSectorBytes,
              "So many sectors would hold the bytes if they lay side by side and began at a "
              "sector. Look at where the first and the last lane begin.");
    add_wrong(q, static_cast<int64_t>(lines.size()),
              "Those are lines of 128 bytes. A line has four sectors, and each moves alone.");
    add_wrong(q, (int64_t{kWarpSize} * request.bytes + kSectorBytes - 1) / kSectorBytes,
              "That is for 32 active lanes. Do all lanes reach this access?");
    const bool full = request.mask == 0xffffffffu;
    q.weight = request.cost > request.ideal ? 4 : full ? 1 : 3;
    r_.draw_request(q, *c.line, request);
    keep(std::move(q), 3);
  }

  // Whether the student can know in which bank the array of the access begins.
  bool begins_in_bank_0(uint64_t address) const {
    for (const counters::ArrayDetail& array : r_.detail().shared_arrays)
      if (address >= array.begin && (array.bytes == 0 || address < array.begin + array.bytes))
        return array.begin % kLineBytes == 0;
    return false;
  }

  void ask_bank(const Chosen& c) {
    const uint32_t lane = random_lane(*c.request);
    const uint64_t address = c.request->address[lane];
    const Element element = element_of(c.named.name[lane]);
    if (element.array.empty() || c.request->bytes > kBankBytes || !begins_in_bank_0(address))
      return;
    Question q = r_.about(Kind::trace, "bank", "banks", c.line->line);
    q.answer = static_cast<int64_t>(address / kBankBytes % kBanks);
    q.text = fmt::format("Which bank does the {} by lane {} of {} use{}? `{}` begins in bank 0.",
                         verb_of(c.request->kind), lane, place(c), c.which, element.array);
    q.reason =
        "Count the 4-byte words from the beginning of the array to the element; the bank is that "
        "number modulo 32.";
    if (q.answer == lane) return;
    const int64_t last = element.index.back();
    add_wrong(q, last % kBanks,
              element.index.size() > 1
                  ? "That counts only the last index. The rows before the element take words, too."
                  : "That counts elements. A bank is a word of 4 bytes wide.");
    add_wrong(q, lane, "A lane has no bank of its own: the address decides.");
    add_wrong(q, static_cast<int64_t>(address % kBanks),
              "That counts bytes. A bank is a word of 4 bytes wide.");
    add_wrong(q, thread_of(c.request->warp, lane) % kBanks,
              "That is the number of the thread. The address decides, not the thread.");
    q.weight = last % kBanks == q.answer ? 2 : 4;
    r_.draw_request(q, *c.line, *c.request);
    keep(std::move(q), 1);
  }

  void ask_wavefronts(const Chosen& c) {
    const RequestDetail& request = *c.request;
    const uint32_t first = static_cast<uint32_t>(__builtin_ctz(request.mask));
    const Element element = element_of(c.named.name[first]);
    if (element.array.empty() || !begins_in_bank_0(request.address[first])) return;
    if (request.bytes > kBankBytes) return;
    std::map<uint64_t, int64_t> lanes_in_bank;
    bool lane_by_lane = true;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if (!active(request, lane)) continue;
      const uint64_t bank = request.address[lane] / kBankBytes % kWarpSize;
      ++lanes_in_bank[bank];
      lane_by_lane &=
          request.address[lane] == request.address[first] + uint64_t{lane - first} * request.bytes;
    }
    int64_t fullest = 0;
    for (const auto& [bank, lanes] : lanes_in_bank) fullest = std::max(fullest, lanes);
    const int64_t lanes = __builtin_popcount(request.mask);
    if (lanes < kManyLanes) return;
    Question q = r_.about(Kind::trace, "wavefronts", "banks", c.line->line);
    q.answer = request.cost;
    q.text = fmt::format(
        "How many wavefronts does the {} of `{}` by {} take{}? `{}` begins in bank 0, and each "
        "lane accesses {} bytes.",
        verb_of(request.kind), element.array, place(c), c.which, element.array, request.bytes);
    q.reason =
        "For each bank count the different words that lanes access in it; the largest "
        "number is the number of wavefronts.";
    add_wrong(q, 1,
              "That would be an access without conflicts. Do two lanes access different "
              "words of one bank?");
    add_wrong(q, fullest,
              "Those are the lanes in the fullest bank. Lanes that access the same "
              "word are served together: count words.");
    add_wrong(q, lanes, "Lanes in different banks are served at the same time.");
    add_wrong(q, static_cast<int64_t>(lanes_in_bank.size()),
              "That is the number of banks in use. Different banks work at the same time.");
    q.weight = request.cost > request.ideal ? 4 : lane_by_lane ? 1 : 4;
    r_.draw_request(q, *c.line, request);
    keep(std::move(q), 2);
  }

  struct Writer {
    const LineDetail* line = nullptr;
    const RequestDetail* request = nullptr;
    int64_t thread = -1;  // -1: unknown, or several threads
  };

  // The thread that wrote the bytes last, before the access number `sequence`.
  Writer writer_of(uint64_t address, uint32_t bytes, uint64_t sequence) const {
    Writer writer;
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
          if (!active(store, lane) || at >= address + bytes || at + store.bytes <= address)
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

  void ask_writer(const Chosen& c) {
    if (c.request->kind != AccessKind::load || !complete_in(true)) return;
    const uint32_t lane = random_lane(*c.request);
    const std::string& name = c.named.name[lane];
    const Element element = element_of(name);
    if (element.array.empty()) return;
    const Writer writer =
        writer_of(c.request->address[lane], c.request->bytes, c.request->sequence);
    const int64_t reader = thread_of(c.request->warp, lane);
    if (writer.thread < 0 || writer.thread == reader) return;
    // The lane may read the element several times: the question is about all of them.
    for (const RequestDetail& other : c.line->requests)
      if (other.kind == AccessKind::load && other.warp == c.request->warp && active(other, lane) &&
          other.address[lane] == c.request->address[lane] &&
          writer_of(other.address[lane], other.bytes, other.sequence).thread != writer.thread)
        return;
    Question q = r_.about(Kind::who, "writer", "barriers", c.line->line);
    q.answer = writer.thread;
    std::string number = "threadIdx.x";
    if (!r_.one_dimensional()) number += fmt::format(" + {} * threadIdx.y", r_.block().x);
    q.text = fmt::format(
        "Lane {} of {} reads `{}`. Which thread of the block wrote that value? Answer with its "
        "number, {}.",
        lane, place(c), name, number);
    q.reason = fmt::format(
        "Line {} stored it: for which thread does the index of that line give this element?",
        writer.line->line);
    add_wrong(q, reader,
              "That is the thread that reads. Shared memory passes values between "
              "threads: which thread stored this element?");
    if (!r_.one_dimensional())
      add_wrong(q, exchanged(writer.thread), "There x and y are exchanged.");
    add_wrong(q, lane, "That is the number of a lane. The answer counts the threads of the block.");
    if (element.index.size() == 1)
      add_wrong(q, element.index[0],
                "That is the index of the element. The thread that stored it "
                "need not have the same number.");
    q.weight = writer.thread / kWarpSize == reader / kWarpSize ? 2 : 4;
    r_.draw_request(q, *writer.line, *writer.request);
    keep(std::move(q), 1);
  }

  void ask_shuffles() {
    if (!r_.same_shuffles) return;
    const auto& shuffles = r_.detail().shuffles;
    std::map<int, size_t> times;
    for (const counters::ShuffleDetail& shuffle : shuffles) {
      const size_t number = times[shuffle.line]++;
      if (number > 3 || shuffle.file != r_.names.file || shuffle.mask == 0) continue;
      ask_shuffle(shuffle, number);
    }
  }

  void ask_shuffle(const counters::ShuffleDetail& shuffle, size_t number) {
    uint32_t lane = r_.random.below(kWarpSize);
    while (!(shuffle.mask >> lane & 1)) lane = (lane + 1) % kWarpSize;
    const int64_t from = shuffle.from[lane];
    if (shuffle.absent >> from & 1) return;
    // The distance, or the mask of an exclusive or, that most lanes have.
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
    Question q = r_.about(Kind::who, "shuffle", "shuffles", shuffle.line);
    q.answer = from;
    q.text = fmt::format(
        "The {} time that warp {} of {} executes this shuffle: which lane's value does lane {} "
        "receive?",
        ordinal(number), shuffle.warp, block_name(r_.launch, r_.detail().block), lane);
    q.reason =
        "The shuffle's last argument says how far away, or with which bits flipped, the "
        "lane is whose value arrives; a lane out of range keeps its own value.";
    const bool in_range = shuffle.in_range >> lane & 1;
    const int64_t l = lane;
    if (!in_range && shifts && known) {
      add_wrong(q, l + distance,
                "There is no such lane: a lane whose source is out of range "
                "keeps its own value.");
      add_wrong(q, (l + distance + kWarpSize) % kWarpSize,
                "Shuffles by a distance do not wrap around: a lane whose source is out of range "
                "keeps its own value.");
    } else if (shifts && known) {
      add_wrong(q, l - distance,
                "That is the lane that receives this lane's value: the other "
                "direction.");
      add_wrong(q, l + 2 * distance, "That is the distance of the step before.");
      add_wrong(q, l + distance / 2, "That is the distance of the next step.");
    } else if (flips && known) {
      add_wrong(q, l + flipped,
                "An exclusive or does not add: where the bit is set, it is "
                "cleared.");
      add_wrong(q, l - flipped,
                "An exclusive or does not subtract: where the bit is clear, it is "
                "set.");
      add_wrong(q, l ^ (flipped * 2), "That flips the bit of the step before.");
      add_wrong(q, l ^ (flipped / 2), "That flips the bit of the next step.");
    }
    if (in_range) add_wrong(q, l, "That is the lane itself: it receives another lane's value.");
    q.weight = 3;
    pictures::Launch picture;
    counters::LaunchDetail one;
    one.block = r_.detail().block;
    one.shuffles = {shuffle};
    picture.shuffles = pictures::shuffles_of(one, r_.names);
    q.picture = std::move(picture);
    keep(std::move(q), 2);
  }

  // The threads of the last block that load nothing.
  void ask_idle() {
    const uint64_t last = r_.launch.shape.grid.count() - 1;
    if (!complete_in(false) || !r_.one_dimensional()) return;
    std::set<int64_t> loading;
    const LineDetail* shown = nullptr;
    for (const LineDetail& line : r_.detail().lines) {
      if (line.shared || line.block != last) continue;
      for (const RequestDetail& request : line.requests) {
        if (request.kind != AccessKind::load) continue;
        if (request.number > 0) return;  // a loop: too long to work out on paper
        for (uint32_t lane = 0; lane < kWarpSize; ++lane)
          if (active(request, lane)) loading.insert(thread_of(request.warp, lane));
        if (!shown) shown = &line;
      }
    }
    const auto threads = static_cast<int64_t>(r_.block().count());
    const int64_t idle = threads - static_cast<int64_t>(loading.size());
    if (!shown || idle == 0 || loading.size() < kManyLanes) return;
    Question q = r_.about(Kind::what_if, "idle threads", "indices", shown->line);
    q.answer = idle;
    q.text = fmt::format(
        "How many of the {} threads of the last block, {}, load nothing from global memory?",
        threads, block_name(r_.launch, last));
    q.reason =
        "Which elements does the last block have, and how many of them are in front of the "
        "end?";
    add_wrong(q, threads - idle, "Those are the threads that load.");
    add_wrong(q, 0,
              "The number of elements is no multiple of what a block takes: the guard turns "
              "threads of the last block away.");
    add_wrong(q, idle % kWarpSize,
              "That counts only the last warp that works: the warps behind it "
              "load nothing, either.");
    q.weight = 3;
    const RequestDetail* end = &shown->requests[0];
    for (const RequestDetail& request : shown->requests)
      if (request.warp >= end->warp) end = &request;
    r_.draw_request(q, *shown, *end);
    keep(std::move(q), 2);
  }

  // The line whose requests touch most sectors.
  void ask_worst_line() {
    struct Candidate {
      const LineDetail* line;
      const RequestDetail* worst;
    };
    std::vector<Candidate> lines;
    for (const LineDetail& line : r_.detail().lines) {
      if (line.shared || !is_usable(line)) continue;
      const auto worst = std::max_element(
          line.requests.begin(), line.requests.end(),
          [](const RequestDetail& x, const RequestDetail& y) { return x.cost < y.cost; });
      const bool atomic = worst->kind != AccessKind::load && worst->kind != AccessKind::store;
      if (!atomic && __builtin_popcount(worst->mask) >= kManyLanes)
        lines.push_back({&line, &*worst});
    }
    std::stable_sort(lines.begin(), lines.end(), [](const Candidate& x, const Candidate& y) {
      return x.worst->cost > y.worst->cost;
    });
    // A line that is only just the worst takes too long to find on paper.
    if (lines.size() < 2 || lines[0].worst->cost < 2 * lines[1].worst->cost ||
        lines[0].worst->cost == lines[0].worst->ideal)
      return;
    if (lines.size() > 4) lines.resize(4);
    const Candidate most = lines[0];
    std::stable_sort(lines.begin(), lines.end(), [](const Candidate& x, const Candidate& y) {
      return x.line->line < y.line->line;
    });
    Question q = r_.about(Kind::why, "worst line", "sectors", 0);
    q.text = fmt::format("In {}, which of these lines has the request that touches most sectors?",
                         block_name(r_.launch, most.line->block));
    for (size_t i = 0; i < lines.size(); ++i) {
      const int number = lines[i].line->line;
      std::string source = r_.names.source.text_of(number);
      if (columns(source) > 58) source = source.substr(0, 55) + "...";
      q.options.push_back(fmt::format("line {}: {}", number, source));
      if (lines[i].line == most.line) q.answer = static_cast<int64_t>(i) + 1;
    }
    for (size_t i = 0; i < lines.size(); ++i)
      add_wrong(q, static_cast<int64_t>(i) + 1,
                fmt::format("On line {} the lanes touch fewer sectors.", lines[i].line->line));
    q.reason =
        "For each line: how far apart are the elements of neighbouring lanes, in bytes, and "
        "do they begin at a sector?";
    q.weight = 4;
    r_.draw_request(q, *most.line, *most.worst);
    keep(std::move(q), 1);
  }

  const LaunchRecord& r_;
  std::vector<Question> questions_;
};

}  // namespace

std::vector<Question> trace_questions(const LaunchRecord& record) {
  return TraceQuestions(record).all();
}

}  // namespace lab32::asking
