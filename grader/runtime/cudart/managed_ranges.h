// What the program has said of managed memory (cudaMemAdvise, cudaMemPrefetchAsync), page by page,
// to be asked for again. It changes nothing else here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "runtime/cudart/api.h"

namespace lab32::cudart {

struct RangeFacts {
  bool read_mostly = false;
  uint64_t accessed_by = 0;  // devices; the host is the uppermost bit
  std::optional<cudaMemLocation> preferred, prefetched;
};

class ManagedRanges {
 public:
  // Pages that the bytes [begin, end) touch, counted from where their allocation begins, whose last
  // may be shorter.
  struct Range {
    uint64_t begin, end;
  };
  static Range pages(uint64_t allocation, uint64_t allocation_end, uint64_t begin, uint64_t end);

  // False: there is no such advice, or no such place.
  bool advise(Range range, cudaMemoryAdvise advice, const cudaMemLocation& location);
  void prefetch(Range range, const cudaMemLocation& location);
  // Into `size` bytes at `data`; false: there is no such attribute, or it is of another size.
  bool read(Range range, cudaMemRangeAttribute attribute, void* data, size_t size) const;

 private:
  struct Part {
    uint64_t end;
    RangeFacts facts;
  };
  // Changes what is known of a range; parts are split at its ends.
  template <class F>
  void change(Range range, F f);
  // Of every part of it, holes between them included.
  template <class F>
  void each(Range range, F f) const;
  template <class F>
  std::optional<cudaMemLocation> common(Range range, F place_of) const;

  std::map<uint64_t, Part> parts_;  // by where they begin
};

}  // namespace lab32::cudart
