#include "record/launch_profile.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "base/error.h"
#include "simulator/core/execute/trap_text.h"
#include "simulator/core/execute/unmatched_text.h"

namespace lab32::record {
namespace {

using Json = nlohmann::ordered_json;

// The members of each structure are named once, in its `fields` below, for both directions: V is a
// Writer or a Reader, and Ref<V, T> what it visits.
class Writer {
 public:
  template <class T>
  using Of = const T&;
  template <class T>
  void operator()(const char* name, const T& value);
  template <class T>
  void operator()(const char* name, const std::optional<T>& value);
  Json to = Json::object();
};

class Reader {
 public:
  template <class T>
  using Of = T&;
  explicit Reader(const Json& from) : from_(from) {}
  template <class T>
  void operator()(const char* name, T& value);
  template <class T>
  void operator()(const char* name, std::optional<T>& value);

 private:
  const Json& from_;
};

template <class V, class T>
using Ref = typename V::template Of<T>;

template <class V>
void fields(V& visit, Ref<V, Dim3> r) {
  visit("x", r.x);
  visit("y", r.y);
  visit("z", r.z);
}

template <class V>
void fields(V& visit, Ref<V, device::Shape> r) {
  visit("grid", r.grid);
  visit("block", r.block);
  visit("dynamic_shared", r.dynamic_shared);
}

template <class V>
void fields(V& visit, Ref<V, counters::GlobalTraffic> r) {
  visit("requests", r.requests);
  visit("sectors", r.sectors);
}

template <class V>
void fields(V& visit, Ref<V, counters::SharedTraffic> r) {
  visit("requests", r.requests);
  visit("lanes", r.lanes);
  visit("wavefronts", r.wavefronts);
  visit("ideal", r.ideal);
}

template <class V>
void fields(V& visit, Ref<V, counters::OtherWays::Bulk> r) {
  visit("instructions", r.instructions);
  visit("sectors", r.sectors);
  visit("ideal", r.ideal);
  visit("lines", r.lines);
}

template <class V>
void fields(V& visit, Ref<V, counters::OtherWays> r) {
  visit("texture", r.texture);
  visit("surface_load", r.surface_load);
  visit("surface_store", r.surface_store);
  visit("bulk_load", r.bulk_load);
  visit("bulk_store", r.bulk_store);
  visit("remote_load", r.remote_load);
  visit("remote_store", r.remote_store);
  visit("remote_atom", r.remote_atom);
  visit("remote_atom_wavefronts", r.remote_atom_wavefronts);
  visit("remote_banks", r.remote_banks);
  visit("texture_unknown", r.texture_unknown);
  visit("bulk_unknown", r.bulk_unknown);
}

template <class V>
void fields(V& visit, Ref<V, counters::Counters> r) {
  visit("warp_instructions", r.warp_instructions);
  visit("lane_instructions", r.lane_instructions);
  visit("load", r.load);
  visit("store", r.store);
  visit("red", r.red);
  visit("atom", r.atom);
  visit("l2_sectors", r.l2_sectors);
  visit("l2_sectors_ideal", r.l2_sectors_ideal);
  visit("global_bytes", r.global_bytes);
  visit("load_ideal", r.load_ideal);
  visit("store_ideal", r.store_ideal);
  visit("shared_load", r.shared_load);
  visit("shared_store", r.shared_store);
  visit("shared_atom", r.shared_atom);
  visit("copy", r.copy);
  visit("shared_copy", r.shared_copy);
  visit("matrix_loads", r.matrix_loads);
  visit("matrix_stores", r.matrix_stores);
  // Few launches have any.
  std::optional<counters::OtherWays> other;
  if (r.other.any()) other = r.other;
  visit("other", other);
  if constexpr (std::is_same_v<V, Reader>)
    if (other) r.other = *other;
  visit("block_barriers", r.block_barriers);
  visit("ptx_level", r.ptx_level);
  visit("global_ptx_level", r.global_ptx_level);
  visit("shared_ptx_level", r.shared_ptx_level);
}

template <class V>
void fields(V& visit, Ref<V, counters::LineCounters> r) {
  visit("file", r.file);
  visit("line", r.line);
  visit("counters", r.counters);
}

template <class V>
void fields(V& visit, Ref<V, sim::ThreadId> r) {
  visit("block", r.block);
  visit("thread", r.thread);
}

template <class V>
void fields(V& visit, Ref<V, sim::MemoryAccess> r) {
  visit("space", r.space);
  visit("use", r.use);
  visit("bytes", r.bytes);
  visit("address", r.address);
  visit("object", r.object);
  visit("offset", r.offset);
  visit("size", r.size);
  visit("element", r.element);
  visit("place", r.place);
  visit("last_place", r.last_place);
  visit("rank", r.rank);
}

template <class V>
void fields(V& visit, Ref<V, sim::WarpLanes> r) {
  visit("warp", r.warp);
  visit("lanes", r.lanes);
  visit("mask", r.mask);
  visit("lane", r.lane);
}

template <class V>
void fields(V& visit, Ref<V, sim::TrapFacts> r) {
  visit("reason", r.reason);
  visit("block", r.block);
  visit("thread", r.thread);
  visit("waiting", r.waiting);
  visit("access", r.access);
  visit("warp", r.warp);
  visit("used_as", r.used_as);
  visit("barrier", r.barrier);
  visit("value", r.value);
  visit("limit", r.limit);
  visit("name", r.name);
  visit("cause", r.cause);
}

template <class V>
void fields(V& visit, Ref<V, counters::Finding::Party> r) {
  visit("thread", r.thread);
  visit("warp", r.warp);
  visit("use", r.use);
  visit("bytes", r.bytes);
}

template <class V>
void fields(V& visit, Ref<V, counters::Finding> r) {
  visit("kind", r.kind);
  visit("note", r.note);
  visit("file", r.file);
  visit("line", r.line);
  visit("count", r.count);
  visit("block", r.block);
  visit("block_size", r.block_size);
  visit("party", r.party);
  visit("other_file", r.other_file);
  visit("other_line", r.other_line);
  visit("other", r.other);
  visit("global", r.global);
  visit("other_block", r.other_block);
  visit("cluster", r.cluster);
  visit("owner", r.owner);
  visit("update", r.update);
  visit("scope", r.scope);
  visit("one_instruction", r.one_instruction);
  visit("object", r.object);
  visit("place", r.place);
  visit("element", r.element);
  visit("offset", r.offset);
  visit("mask", r.mask);
  visit("absent", r.absent);
  visit("used_as", r.used_as);
  visit("fault", r.fault);
}

template <class V>
void fields(V& visit, Ref<V, counters::HitCount> r) {
  visit("sectors", r.sectors);
  visit("hits", r.hits);
}

template <class V>
void fields(V& visit, Ref<V, counters::CacheCounters> r) {
  visit("l1", r.l1);
  visit("l1_load", r.l1_load);
  visit("l1_store", r.l1_store);
  visit("l2", r.l2);
  visit("l2_read", r.l2_read);
  visit("l2_write", r.l2_write);
  visit("l2_red", r.l2_red);
  visit("l2_atom", r.l2_atom);
  visit("dram_read", r.dram_read);
  visit("dram_written", r.dram_written);
  visit("recorded", r.recorded);
}

template <class V>
void fields(V& visit, Ref<V, model::Occupancy> r) {
  visit("blocks", r.blocks);
  visit("warps", r.warps);
  visit("theoretical", r.theoretical);
  visit("limiter", r.limiter);
  visit("l1_bytes", r.l1_bytes);
  visit("registers", r.registers);
}

template <class V>
void fields(V& visit, Ref<V, model::Resource> r) {
  visit("name", r.name);
  visit("seconds", r.seconds);
  visit("share", r.share);
  visit("words", r.words);
}

template <class V>
void fields(V& visit, Ref<V, model::Prediction> r) {
  visit("seconds", r.seconds);
  visit("kernel_seconds", r.kernel_seconds);
  visit("error", r.error);
  visit("resources", r.resources);
  visit("bottleneck", r.bottleneck);
  visit("runner_up", r.runner_up);
}

template <class V>
void fields(V& visit, Ref<V, device::Fault> r) {
  visit("kind", r.kind);
  visit("file", r.file);
  visit("line", r.line);
  visit("trap", r.trap);
}

template <class V>
void fields(V& visit, Ref<V, sim::Unmatched> r) {
  visit("reason", r.reason);
  visit("kind", r.kind);
  visit("space", r.space);
  visit("bytes", r.bytes);
  visit("seen", r.seen);
  visit("in_ptx", r.in_ptx);
  visit("in_machine_code", r.in_machine_code);
  visit("line", r.line);
  visit("ptx_line", r.ptx_line);
}

template <class V>
void fields(V& visit, Ref<V, device::PtxLevelAccess> r) {
  visit("file", r.file);
  visit("line", r.line);
  visit("ptx_line", r.ptx_line);
  visit("instruction", r.instruction);
  visit("why", r.why);
}

template <class V>
void fields(V& visit, Ref<V, counters::CloseUpRequest> r) {
  visit("warp", r.warp);
  visit("number", r.number);
  visit("kind", r.kind);
  visit("bytes", r.bytes);
  visit("matrix", r.matrix);
  visit("mask", r.mask);
  visit("address", r.address);
  visit("place", r.place);
  visit("cost", r.cost);
  visit("ideal", r.ideal);
}

template <class V>
void fields(V& visit, Ref<V, counters::CloseUpLine> r) {
  visit("file", r.file);
  visit("line", r.line);
  visit("shared", r.shared);
  visit("block", r.block);
  visit("requests_in_block", r.requests_in_block);
  visit("ptx_level", r.ptx_level);
  visit("requests", r.requests);
  visit("worst", r.worst);
}

template <class V>
void fields(V& visit, Ref<V, counters::CloseUpStep> r) {
  visit("working", r.working);
  visit("line", r.line);
  visit("warp_barrier", r.warp_barrier);
}

template <class V>
void fields(V& visit, Ref<V, counters::CloseUpShuffle> r) {
  visit("file", r.file);
  visit("line", r.line);
  visit("warp", r.warp);
  visit("mask", r.mask);
  visit("in_range", r.in_range);
  visit("absent", r.absent);
  visit("from", r.from);
}

template <class V>
void fields(V& visit, Ref<V, counters::CloseUpArray> r) {
  visit("begin", r.begin);
  visit("bytes", r.bytes);
  visit("name", r.name);
  visit("parameter", r.parameter);
}

template <class V>
void fields(V& visit, Ref<V, counters::CloseUp> r) {
  visit("arrays", r.arrays);
  visit("lines", r.lines);
  visit("block", r.block);
  visit("threads", r.threads);
  visit("steps", r.steps);
  visit("more_steps", r.more_steps);
  visit("shuffles", r.shuffles);
  visit("more_shuffles", r.more_shuffles);
}

template <class V>
void fields(V& visit, Ref<V, std::pair<int, int>> r) {
  visit("first", r.first);
  visit("last", r.second);
}

template <class V>
void fields(V& visit, Ref<V, counters::CloseUpChoice> r) {
  visit("file", r.file);
  visit("line", r.line);
  visit("except", r.except);
  visit("block", r.block);
  visit("warp", r.warp);
  visit("request", r.request);
  visit("most", r.most);
}

template <class V>
void fields(V& visit, Ref<V, device::Run> r) {
  visit("fault", r.fault);
  visit("counters", r.counters);
  visit("lines", r.lines);
  visit("hazards", r.hazards);
  visit("longest_warp", r.longest_warp);
  visit("occupancy", r.occupancy);
  visit("caches", r.caches);
  visit("predicted", r.predicted);
  visit("ptx_level", r.ptx_level);
  visit("peer_accesses", r.peer_accesses);
  visit("child_launches", r.child_launches);
  visit("close_up", r.close_up);
}

template <class V>
void fields(V& visit, Ref<V, LaunchProfile> r) {
  visit("id", r.id);
  visit("process_id", r.process_id);
  visit("process_name", r.process_name);
  visit("symbol", r.symbol);
  visit("context", r.context);
  visit("stream", r.stream);
  visit("device", r.device);
  visit("device_name", r.device_name);
  visit("compute_capability", r.compute_capability);
  visit("multiprocessors", r.multiprocessors);
  visit("shape", r.shape);
  visit("static_shared", r.static_shared);
  visit("registers", r.registers);
  visit("run", r.run);
}

template <class V>
void fields(V& visit, Ref<V, LibraryCall::Finding> r) {
  visit("kind", r.kind);
  visit("text", r.text);
}

template <class V>
void fields(V& visit, Ref<V, LibraryCall> r) {
  visit("name", r.name);
  visit("arguments", r.arguments);
  visit("launches", r.launches);
  visit("stream", r.stream);
  visit("device", r.device);
  visit("findings", r.findings);
}

// The names of an enum's values, in their order.
constexpr std::array kLibraryFindings{"memory", "initialisation"};
constexpr std::array kFindingKinds{"race", "uninitialised", "warp_mask", "memory", "barrier"};
constexpr std::array kSpaces{"global", "shared", "local", "constant"};
constexpr std::array kUses{"read", "write", "update"};
constexpr std::array kValueUses{"none", "address", "branch", "atomic", "output"};
constexpr std::array kAccessKinds{"load", "store", "red", "atom"};
constexpr std::array kTrapReasons{
#define REASON(kind, id) #id,
#include "simulator/core/execute/traps.def"
};
constexpr const auto& names(counters::Finding::Kind) { return kFindingKinds; }
constexpr const auto& names(LibraryCall::Finding::Kind) { return kLibraryFindings; }
constexpr const auto& names(sim::AccessSpace) { return kSpaces; }
constexpr const auto& names(sim::AccessUse) { return kUses; }
constexpr const auto& names(sim::ValueUse) { return kValueUses; }
constexpr const auto& names(sim::AccessKind) { return kAccessKinds; }
constexpr const auto& names(sim::Unmatched::Reason) { return sim::kUnmatchedReasons; }
constexpr const auto& names(sim::TrapKind) { return sim::kTrapKinds; }
constexpr const auto& names(sim::TrapReason) { return kTrapReasons; }

// Arrays of numbers and texts have as many as their type says.
template <class T>
constexpr bool kArray = false;
template <class T, size_t n>
constexpr bool kArray<std::array<T, n>> = true;

template <class T>
constexpr bool kPlain = std::is_arithmetic_v<T> || std::is_same_v<T, std::string> || kArray<T>;

template <class T>
Json save(const T& value) {
  if constexpr (kPlain<T>) {
    return value;
  } else if constexpr (std::is_enum_v<T>) {
    return names(value).at(static_cast<size_t>(value));
  } else {
    Writer writer;
    fields(writer, value);
    return writer.to;
  }
}

template <class T>
Json save(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(save(value));
  return list;
}

// The library converts a number to whatever is asked for; what does not fit is no record of ours.
template <class T>
void restore_number(const Json& from, T& value) {
  const auto fits = [&](auto number) {
    return number >= std::numeric_limits<T>::lowest() && number <= std::numeric_limits<T>::max();
  };
  bool good;
  if constexpr (std::is_same_v<T, bool>)
    good = from.is_boolean();
  else if constexpr (std::is_floating_point_v<T>)
    good = from.is_number();
  else if constexpr (std::is_unsigned_v<T>)
    good = from.is_number_unsigned() && fits(from.get<uint64_t>());
  else if (from.is_number_unsigned())
    good = from.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<T>::max());
  else
    good = from.is_number_integer() && fits(from.get<int64_t>());
  if (!good) throw Error("no record of a launch: a number that does not fit, " + from.dump());
  value = from.get<T>();
}

template <class T>
void restore(const Json& from, T& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    restore_number(from, value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    from.get_to(value);
  } else if constexpr (kArray<T>) {
    for (size_t i = 0; i < value.size(); ++i) restore(from.at(i), value[i]);
  } else if constexpr (std::is_enum_v<T>) {
    const auto& all = names(value);
    const auto at = std::find(all.begin(), all.end(), from.get<std::string>());
    if (at == all.end()) throw Error("no record of a launch: the unknown word " + from.dump());
    value = static_cast<T>(at - all.begin());
  } else {
    Reader reader(from);
    fields(reader, value);
  }
}

template <class T>
void restore(const Json& from, std::vector<T>& values) {
  values.clear();
  for (const Json& one : from) restore(one, values.emplace_back());
}

template <class T>
void Writer::operator()(const char* name, const T& value) {
  to[name] = save(value);
}
template <class T>
void Writer::operator()(const char* name, const std::optional<T>& value) {
  if (value) to[name] = save(*value);
}
template <class T>
void Reader::operator()(const char* name, T& value) {
  restore(from_.at(name), value);
}
template <class T>
void Reader::operator()(const char* name, std::optional<T>& value) {
  value.reset();
  if (const auto at = from_.find(name); at != from_.end()) restore(*at, value.emplace());
}

// Paths and messages may quote any bytes of a source: what is not UTF-8 is replaced.
std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string to_line(const LaunchProfile& record) { return line_of({{"launch", save(record)}}); }

std::string to_line(const LibraryCall& call) { return line_of({{"library", save(call)}}); }

std::string to_line_unsupported(const std::string& what) {
  return line_of({{"unsupported", what}});
}

void append_line(const std::string& path, const std::string& line) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const auto fail = [&] {
    throw Error(fmt::format("{}: the record of a launch cannot be written: {}", path,
                            std::strerror(errno)));
  };
  if (fd < 0) fail();
  ssize_t written;
  do written = write(fd, line.data(), line.size());
  while (written < 0 && errno == EINTR);
  const bool whole = written == static_cast<ssize_t>(line.size());
  if (!whole && written >= 0) errno = ENOSPC;
  const int reason = errno;
  close(fd);
  errno = reason;
  if (!whole) fail();
}

std::string to_text(const counters::CloseUpChoice& choice) { return save(choice).dump(); }

counters::CloseUpChoice read_close_up(const std::string& text) {
  counters::CloseUpChoice choice;
  try {
    restore(Json::parse(text), choice);
  } catch (const Json::exception& e) {
    throw Error(fmt::format("{}: no choice of what to look at closely ({})", text, e.what()));
  }
  return choice;
}

Recording read_recording(std::istream& in, const std::string& name) {
  Recording recording;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    try {
      const Json json = Json::parse(line);
      if (const auto launch = json.find("launch"); launch != json.end())
        restore(*launch, recording.launches.emplace_back());
      else if (const auto call = json.find("library"); call != json.end())
        restore(*call, recording.library_calls.emplace_back());
      else
        recording.unsupported.push_back(json.at("unsupported").get<std::string>());
    } catch (const Error& e) {
      throw Error(fmt::format("{}:{}: {}", name, number, e.what()));
    } catch (const Json::exception& e) {
      if (in.eof()) break;  // no end of line: the program was killed while it wrote
      throw Error(fmt::format("{}:{}: no record of a launch ({})", name, number, e.what()));
    }
  }
  return recording;
}

}  // namespace lab32::record
