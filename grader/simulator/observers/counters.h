// The counters of one launch, in total and for each source line. README.md has the rules of
// counting. counters.def lists every counter; visit_each_counter() visits the members of a
// structure by name.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "simulator/ptx/module.h"

namespace lab32::counters {

// SourcePosition in the student's source from which an instruction was compiled.
using SourcePosition = ptx::Module::SourcePosition;

// The position of a site; nullopt when the PTX carries no line for it.
using PositionOf = std::function<std::optional<SourcePosition>(uint32_t site)>;

struct GlobalTraffic {
#define GLOBAL_TRAFFIC(type, name) type name{};
#include "simulator/observers/counters.def"
};

struct SharedTraffic {
#define SHARED_TRAFFIC(type, name) type name{};
#include "simulator/observers/counters.def"
};

struct BulkTraffic {
#define BULK_TRAFFIC(type, name) type name{};
#include "simulator/observers/counters.def"
};

struct TextureBulkRemoteTraffic {
#define OTHER_TRAFFIC(type, name) type name{};
#include "simulator/observers/counters.def"

  // The sums over loads, stores and atomics.
  GlobalTraffic texture_and_surface_traffic() const;
  BulkTraffic bulk() const;
  GlobalTraffic remote_shared_traffic() const;
  bool unknown() const { return texture_unknown + bulk_unknown > 0; }
  bool any() const;
};

struct Counters {
#define COUNTERS(type, name) type name{};
#include "simulator/observers/counters.def"

  // The sums over loads, stores and atomics.
  uint64_t global_requests() const {
    return load.requests + store.requests + red.requests + atom.requests;
  }
  uint64_t global_sectors() const {
    return load.sectors + store.sectors + red.sectors + atom.sectors;
  }
  uint64_t shared_requests() const {
    return shared_load.requests + shared_store.requests + shared_atom.requests;
  }
  uint64_t shared_wavefronts() const {
    return shared_load.wavefronts + shared_store.wavefronts + shared_atom.wavefronts;
  }
  uint64_t ideal_shared_wavefronts() const {
    return shared_load.ideal + shared_store.ideal + shared_atom.ideal;
  }
};

struct HitCount {
#define HIT_COUNT(type, name) type name{};
#include "simulator/observers/counters.def"

  // Hit rate from 0 to 100; 0 if no sector was requested.
  double percent() const {
    return sectors == 0 ? 0 : 100.0 * static_cast<double>(hits) / static_cast<double>(sectors);
  }
};

struct CacheCounters {
#define CACHE_COUNTERS(type, name, ...) type name{__VA_ARGS__};
#include "simulator/observers/counters.def"
};

struct LineCounters {
  std::string file;
  int line = 0;
  Counters counters;
};

// True if counters.def lists the members of this structure.
template <class T>
constexpr bool kIsGroup =
    std::is_same_v<T, GlobalTraffic> || std::is_same_v<T, SharedTraffic> ||
    std::is_same_v<T, BulkTraffic> || std::is_same_v<T, TextureBulkRemoteTraffic> ||
    std::is_same_v<T, Counters> || std::is_same_v<T, HitCount> || std::is_same_v<T, CacheCounters>;

// Calls visit(name, member...) for each member of the structure that counters.def lists.
// `member...` is that member of each of `groups`.
template <class Visit, class... Group>
void visit_each_counter(const Visit& visit, Group&... groups) {
  using Structure = std::common_type_t<Group...>;
  static_assert(kIsGroup<Structure>);
#define COUNTER(structure, type, name, ...) \
  if constexpr (std::is_same_v<Structure, structure>) visit(#name, groups.name...);
#include "simulator/observers/counters.def"
}

// Adds all counters. A PTX-level flag of either operand is set in the sum.
GlobalTraffic& operator+=(GlobalTraffic& to, const GlobalTraffic& from);
SharedTraffic& operator+=(SharedTraffic& to, const SharedTraffic& from);
BulkTraffic& operator+=(BulkTraffic& to, const BulkTraffic& from);
TextureBulkRemoteTraffic& operator+=(TextureBulkRemoteTraffic& to,
                                     const TextureBulkRemoteTraffic& from);
Counters& operator+=(Counters& to, const Counters& from);

// The counters by name, for expressions of rubrics: "load.sectors", "shared_load.wavefronts",
// "block_barriers", and the sums `requests`, `sectors`, `wavefronts` and `conflicts`.
std::vector<std::string> counter_names();
// In the order of counter_names().
std::vector<double> counter_values(const Counters& counters);
// Whether a counter is one of shared or of global memory; barriers and instructions belong to
// neither.
bool is_shared_counter(const std::string& name);
bool is_global_counter(const std::string& name);

}  // namespace lab32::counters
