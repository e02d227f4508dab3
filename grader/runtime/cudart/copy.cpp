#include "runtime/cudart/copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "runtime/cudart/arrays.h"
#include "runtime/cudart/call.h"

namespace lab32::cudart {
namespace {

constexpr uint64_t kLargestMember = 16;
// In bytes. Gaps that repeat at larger distances are rather the unwritten ends of the rows of a
// matrix.
constexpr uint64_t kLargestStructure = 64;

// Whether the structure that the gaps are in has a written member of this alignment and size.
bool has_aligned_run_between_gaps(const Gaps& gaps, size_t count, uint64_t structure,
                                  uint64_t size) {
  uint64_t begin = 0;
  for (size_t i = 0; i <= count; ++i) {
    const uint64_t end = i < count ? gaps[i].first : structure;
    if ((begin + size - 1) / size * size + size <= end) return true;
    if (i < count) begin = gaps[i].second;
  }
  return false;
}

// Whether the first `count` gaps are the padding of one structure.
bool is_structure_padding(const Gaps& gaps, size_t count, uint64_t structure) {
  for (size_t i = 0; i < count; ++i) {
    uint64_t alignment = 2;
    while (alignment <= gaps[i].second - gaps[i].first) alignment *= 2;
    if (alignment > kLargestMember || gaps[i].second % alignment != 0 ||
        structure % alignment != 0 ||
        !has_aligned_run_between_gaps(gaps, count, structure, alignment))
      return false;
  }
  return true;
}

// Whether the first `count` gaps, those of the first structure, repeat in each further structure.
bool gaps_repeat(const Gaps& gaps, size_t count, uint64_t structure, uint64_t structures) {
  if (gaps.size() != count * structures) return false;
  for (size_t i = count; i < gaps.size(); ++i)
    if (gaps[i].first != gaps[i - count].first + structure ||
        gaps[i].second != gaps[i - count].second + structure)
      return false;
  return true;
}

}  // namespace

bool may_be_padding(const Gaps& gaps, uint64_t bytes) {
  for (uint64_t structure = 4; structure <= std::min(kLargestStructure, bytes); structure += 2) {
    if (bytes % structure != 0) continue;
    const auto count = static_cast<size_t>(
        std::partition_point(gaps.begin(), gaps.end(),
                             [&](const auto& gap) { return gap.second <= structure; }) -
        gaps.begin());
    if (count != 0 && gaps_repeat(gaps, count, structure, bytes / structure) &&
        is_structure_padding(gaps, count, structure))
      return true;
  }
  return false;
}

std::optional<UnwrittenBytes> find_unwritten(const sim::Memory& memory, const sim::Allocation& in,
                                             const PitchedAddress& box, const CopyExtent& e) {
  if (in.initialised) return std::nullopt;
  std::optional<UnwrittenBytes> found;
  for (uint64_t z = 0; z < e.depth; ++z)
    for (uint64_t y = 0; y < e.height; ++y) {
      const uint64_t begin = box.begin + z * box.slice + y * box.pitch, end = begin + e.width;
      Gaps gaps;
      uint64_t sum = 0;
      for (uint64_t at = begin; (at = memory.first_unwritten(at, end)) < end;) {
        const uint64_t written = memory.first_written(at, end);
        gaps.emplace_back(at - begin, written - begin);
        sum += written - at;
        at = written;
      }
      if (gaps.empty() || may_be_padding(gaps, e.width)) continue;
      if (!found) found = {begin + gaps[0].first - in.begin, 0};
      found->bytes += sum;
    }
  return found;
}

// ---------------------------------------------------------------------------------------------

namespace {

// Where a range is: in the program's own memory, or in an allocation of the simulator.
struct CopyRangeLocation {
  bool on_device = false;  // in the simulator's memory
  bool fits = true;        // inside one live allocation
  const sim::Allocation* allocation = nullptr;

  // Whether this side is memory of that device and of no other.
  bool is_only_on(int device) const {
    return allocation && allocation->reached_by && static_cast<int>(allocation->device) == device;
  }
};

CopyRangeLocation locate_copy_range(const Runtime& r, uint64_t begin, uint64_t bytes,
                                    bool written) {
  CopyRangeLocation s;
  if (begin < sim::kGlobalBase || begin - sim::kGlobalBase >= r.memory.used()) return s;
  const sim::Allocation* a = r.memory.find(begin);
  s.on_device = true;
  s.fits = a && !a->freed && bytes <= a->end - begin && a->permits(begin, bytes, written);
  s.allocation = a;
  return s;
}

// The bytes from the first to the last byte of a box, including the gaps between its rows.
uint64_t bytes_spanned(const PitchedAddress& box, const CopyExtent& e) {
  return (e.depth - 1) * box.slice + (e.height - 1) * box.pitch + e.width;
}

// Whether the kind that the program states fits this side. The addresses determine the direction.
// As in CUDA 13, a kind may call device memory the host's, but not pageable host memory the
// device's.
bool side_fits_stated_kind(bool device_by_kind, const CopyRangeLocation& side) {
  return side.on_device || !device_by_kind;
}
bool is_to_device(cudaMemcpyKind kind) {
  return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
}
bool is_from_device(cudaMemcpyKind kind) {
  return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
}
bool direction_matches_kind(cudaMemcpyKind kind, const CopyRangeLocation& to,
                            const CopyRangeLocation& from) {
  return side_fits_stated_kind(is_to_device(kind), to) &&
         side_fits_stated_kind(is_from_device(kind), from);
}

// Why a range cannot be accessed; "" if it can.
std::string explain_refused_range(const CopyRangeLocation& side, const char* role, uint64_t begin,
                                  uint64_t bytes) {
  if (side.fits) return "";
  const sim::Allocation* const in = side.allocation;
  if (!in) return fmt::format("the {} is in no allocation", role);
  if (in->freed) return fmt::format("the program has freed the {}, `{}`", role, in->name);
  if (bytes <= in->end - begin)
    return fmt::format("the program has not mapped these bytes of the {}, `{}`", role, in->name);
  return fmt::format(
      "{} bytes, but the {} has {} ({} of `{}`)", grouped_digits(bytes), role,
      grouped_digits(in->end - begin),
      begin == in->begin ? "all" : fmt::format("from offset {}", grouped_digits(begin - in->begin)),
      in->name);
}

std::string direction_mismatch_message(cudaMemcpyKind kind, const CopyRangeLocation& to,
                                       const CopyRangeLocation& from) {
  static constexpr const char* kNames[] = {"cudaMemcpyHostToHost", "cudaMemcpyHostToDevice",
                                           "cudaMemcpyDeviceToHost", "cudaMemcpyDeviceToDevice"};
  if (direction_matches_kind(kind, to, from)) return "";
  return fmt::format("the direction is {}, but the {} is host memory", kNames[kind],
                     side_fits_stated_kind(is_to_device(kind), to) ? "source" : "destination");
}

void copy_row(Runtime& r, uint64_t to, uint64_t from, uint64_t bytes, bool to_device,
              bool from_device) {
  if (to_device && from_device)
    r.memory.copy(to, from, bytes);
  else if (to_device)
    r.memory.upload(to, reinterpret_cast<const void*>(from), bytes);
  else if (from_device)
    r.memory.download(reinterpret_cast<void*>(to), from, bytes);
  else
    std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
}

// Whether the destination already has these bytes and all are initialised. Loops often copy the
// same input in each iteration.
bool already_has_bytes(const Runtime& r, uint64_t to, uint64_t from, uint64_t bytes,
                       const CopyRangeLocation& source) {
  const auto written = [&](const sim::Allocation& a, uint64_t at) {
    return a.initialised || r.memory.first_unwritten(at, at + bytes) == at + bytes;
  };
  return (!source.on_device || written(*source.allocation, from)) &&
         written(*r.memory.find(to), to) &&
         std::memcmp(r.memory.host(to),
                     source.on_device ? r.memory.host(from) : reinterpret_cast<const void*>(from),
                     bytes) == 0;
}

Route copy_route(Runtime& r, const CopyRangeLocation& to, const CopyRangeLocation& from) {
  if (!to.on_device || !from.on_device) return Route::host;
  const int a = static_cast<int>(to.allocation->device);
  const int b = static_cast<int>(from.allocation->device);
  if (!to.allocation->reached_by || !from.allocation->reached_by || a == b) return Route::memory;
  const auto reaches = [&](int one, int other) {
    return (r.gpu(other).reached_by >> one & 1) != 0;
  };
  return reaches(a, b) || reaches(b, a) ? Route::peer : Route::staged;
}

// Merges rows without gaps into a single row.
void merge_contiguous_rows(CopyExtent& e, PitchedAddress& a, PitchedAddress& b) {
  if (e.height > 1 && a.pitch == e.width && b.pitch == e.width &&
      (e.depth == 1 || (a.slice == e.width * e.height && b.slice == e.width * e.height))) {
    e.width *= e.height * e.depth;
    e.height = e.depth = 1;
  }
}

}  // namespace

cudaError_t copy(Runtime& r, PitchedAddress to, PitchedAddress from, CopyExtent e,
                 cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  if (e.width == 0 || e.height == 0 || e.depth == 0) return cudaSuccess;
  if (to.begin == 0 || from.begin == 0) return cudaErrorInvalidValue;
  if (e.height > 1 && (to.pitch < e.width || from.pitch < e.width))
    return cudaErrorInvalidPitchValue;
  const CopyRangeLocation target = locate_copy_range(r, to.begin, bytes_spanned(to, e), true),
                          source = locate_copy_range(r, from.begin, bytes_spanned(from, e), false);
  // A device with a fault executes nothing more. The next call that waits reports the fault.
  for (const auto& gpu : r.gpus)
    if (gpu->fault && (target.is_only_on(gpu->number) || source.is_only_on(gpu->number)))
      return cudaSuccess;
  for (const std::string& why :
       {explain_refused_range(target, "destination", to.begin, bytes_spanned(to, e)),
        explain_refused_range(source, "source", from.begin, bytes_spanned(from, e)),
        direction_mismatch_message(kind, target, source)})
    if (!why.empty()) return fail(cudaErrorInvalidValue, why);
  if (r.gpu().fault)
    // The device executes nothing more. The next call that waits reports the fault.
    return cudaSuccess;
  const uint64_t bytes = e.width * e.height * e.depth;
  const bool to_host = !target.on_device || target.allocation->shared_with_host;
  if (r.tool == Tool::check && source.on_device && to_host)
    if (const auto gap = find_unwritten(r.memory, *source.allocation, from, e))
      note_copy_of_unwritten_bytes(*source.allocation, gap->first, gap->bytes);
  merge_contiguous_rows(e, to, from);
  for (uint64_t z = 0; z < e.depth; ++z) {
    for (uint64_t y = 0; y < e.height; ++y) {
      const uint64_t row = to.begin + z * to.slice + y * to.pitch;
      const uint64_t other = from.begin + z * from.slice + y * from.pitch;
      if (target.on_device && LaunchMemo::has_digests() &&
          !already_has_bytes(r, row, other, e.width, source))
        LaunchMemo::forget_digests();
      copy_row(r, row, other, e.width, target.on_device, source.on_device);
    }
  }
  if (target.on_device || source.on_device)
    r.gpu().timeline.advance(copy_seconds(r.profile, bytes, copy_route(r, target, source)));
  if (r.tool != Tool::check) return cudaSuccess;
  // A copy to pageable memory has ended when its call returns, so all work before it has, too.
  if (!target.on_device && source.on_device) r.unfinished.clear();
  if (target.on_device && target.allocation->shared_with_host && source.on_device &&
      e.width == bytes && !current_call().waits && watch_host_accesses())
    r.unfinished.add(to.begin, bytes, current_call().name);
  return cudaSuccess;
}

cudaError_t copy(Runtime& r, void* to, const void* from, uint64_t bytes, cudaMemcpyKind kind) {
  PitchedAddress target, source;
  target.begin = reinterpret_cast<uint64_t>(to);
  source.begin = reinterpret_cast<uint64_t>(from);
  return copy(r, target, source, {bytes, 1, 1}, kind);
}

// Whether all bytes of the allocation are initialised and have this value, as when a loop fills the
// same buffer again.
bool is_already_filled(const sim::Memory& memory, const sim::Allocation& allocation,
                       const LaunchMemo::Fill& fill) {
  if (LaunchMemo::is_known_filled_with(allocation, fill)) return true;
  const std::byte* first = memory.host(fill.at);
  if (!allocation.initialised || *first != std::byte{fill.value} ||
      std::memcmp(first, first + 1, fill.bytes - 1) != 0)
    return false;
  LaunchMemo::record_fill(allocation, fill);
  return true;
}

cudaError_t fill(Runtime& r, PitchedAddress to, CopyExtent e, unsigned value, unsigned element) {
  if (e.width == 0 || e.height == 0 || e.depth == 0) return cudaSuccess;
  if (e.height > 1 && to.pitch < e.width) return cudaErrorInvalidPitchValue;
  const CopyRangeLocation target = locate_copy_range(r, to.begin, bytes_spanned(to, e), true);
  if (!target.on_device) return fail(cudaErrorInvalidValue, "the destination is host memory");
  if (!target.fits)
    return fail(cudaErrorInvalidValue,
                explain_refused_range(target, "destination", to.begin, bytes_spanned(to, e)));
  if (!r.memory.can_access(*target.allocation)) return cudaErrorInvalidValue;
  if (r.gpu().fault) return cudaSuccess;
  PitchedAddress same = to;
  const uint64_t bytes = e.width * e.height * e.depth;
  merge_contiguous_rows(e, to, same);
  if (element == 1 && e.height == 1 && e.depth == 1 &&
      is_already_filled(r.memory, *target.allocation,
                        {to.begin, bytes, static_cast<unsigned char>(value)})) {
    r.gpu().timeline.advance(memset_seconds(r.profile, bytes));
    return cudaSuccess;
  }
  LaunchMemo::forget_digests();
  std::vector<unsigned char> row(element > 1 ? e.width : 0);
  for (uint64_t i = 0; i + element <= row.size(); i += element)
    std::memcpy(row.data() + i, &value, element);
  for (uint64_t z = 0; z < e.depth; ++z) {
    for (uint64_t y = 0; y < e.height; ++y) {
      const uint64_t at = to.begin + z * to.slice + y * to.pitch;
      if (element > 1)
        r.memory.upload(at, row.data(), e.width);
      else
        r.memory.fill(at, static_cast<unsigned char>(value), e.width);
    }
  }
  r.gpu().timeline.advance(memset_seconds(r.profile, bytes));
  return cudaSuccess;
}

cudaError_t copy(Runtime& runtime, const cudaMemcpy3DParms& p) {
  const CudaArray *to = nullptr, *from = nullptr;
  if (p.dstArray && !(to = runtime.arrays.find(p.dstArray))) return cudaErrorInvalidResourceHandle;
  if (p.srcArray && !(from = runtime.arrays.find(p.srcArray)))
    return cudaErrorInvalidResourceHandle;
  if ((to && p.dstPtr.ptr) || (from && p.srcPtr.ptr)) return cudaErrorInvalidValue;
  if (to && from && to->element_bytes() != from->element_bytes()) return cudaErrorInvalidValue;
  const uint64_t unit = to ? to->element_bytes() : from ? from->element_bytes() : 1;
  const CopyExtent extent{p.extent.width * unit, p.extent.height, p.extent.depth};
  const auto at = [&](const cudaPitchedPtr& pointer, const cudaPos& pos) -> PitchedAddress {
    const size_t slice = pointer.pitch * pointer.ysize;
    return {reinterpret_cast<uint64_t>(pointer.ptr) + pos.z * slice + pos.y * pointer.pitch +
                pos.x * unit,
            pointer.pitch, slice};
  };
  const auto holds = [&](const CudaArray& a, const cudaPos& pos) {
    return a.contains_box(pos.x * unit, pos.y, pos.z, extent);
  };
  if ((to && !holds(*to, p.dstPos)) || (from && !holds(*from, p.srcPos)))
    return cudaErrorInvalidValue;
  // If the other side is an array, a row of memory must contain all copied bytes.
  const auto fits = [&](const cudaPitchedPtr& pointer, const cudaPos& pos) {
    return pos.x * unit + extent.width <= pointer.pitch;
  };
  if ((to && !from && !fits(p.srcPtr, p.srcPos)) || (from && !to && !fits(p.dstPtr, p.dstPos)))
    return cudaErrorInvalidValue;
  const auto box = [&](const CudaArray* a, const cudaPitchedPtr& pointer, const cudaPos& pos) {
    return a ? a->box_from_element(pos.x * unit, pos.y, pos.z) : at(pointer, pos);
  };
  return copy(runtime, box(to, p.dstPtr, p.dstPos), box(from, p.srcPtr, p.srcPos), extent, p.kind);
}

}  // namespace lab32::cudart
