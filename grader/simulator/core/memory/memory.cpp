#include "simulator/core/memory/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/memory.h"
#include "simulator/core/memory/host_pages.h"
#include "simulator/core/warp/instruction.h"

namespace lab32::sim {

namespace {

// Wide enough that a vector access or a small stride past the end does not hit the neighbour, whose
// alignment stays cudaMalloc's.
constexpr uint64_t kGuard = 512;
constexpr uint64_t kAlign = 256;
constexpr uint64_t kLarge = 1 << 20, kLargeAlign = PagePool::kPiece;
// Allocations of more than the pool's capacity get poison on first access instead of at once.
constexpr uint64_t kOnDemand = PagePool::kKept;
constexpr uint64_t kSmallGuard = 64, kSmallAlign = 16;
constexpr uint64_t kPage = 4096;

// Zeroed memory that can be mapped at several addresses.
class MultiMappedMemory {
 public:
  explicit MultiMappedMemory(uint64_t bytes)
      : fd_(memfd_create("lab32-shared", MFD_CLOEXEC)), bytes_(bytes) {
    if (fd_ < 0 || ftruncate(fd_, static_cast<off_t>(bytes)) != 0) fail();
  }
  ~MultiMappedMemory() { close(fd_); }
  MultiMappedMemory(const MultiMappedMemory&) = delete;
  MultiMappedMemory& operator=(const MultiMappedMemory&) = delete;

  void map(void* at, int how) const {
    if (mmap(at, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | how, fd_, 0) != at) fail();
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(fmt::format("cannot share {} bytes of memory between host and device: {}", bytes_,
                            std::strerror(errno)));
  }
  int fd_;
  uint64_t bytes_;
};

}  // namespace

Memory::Memory(uint64_t capacity)
    : capacity_(capacity),
      arena_(capacity, "device memory"),
      written_(capacity / 8 + 64, "what is written of it"),
      delta_(arena_.begin() - kGlobalBase),
      bits_(reinterpret_cast<uint8_t*>(written_.begin())) {}

Memory::~Memory() {
  for (const auto& a : allocations_)
    if (a->shared_with_host && !a->freed) release(a->begin);
}

bool Allocation::mapping_permits_access(uint64_t at, uint64_t bytes, bool write) const {
  const uint8_t wanted = write ? 3 : 1;
  for (uint64_t i = (at - begin) / kGranularity; i <= (at - begin + bytes - 1) / kGranularity; ++i)
    if ((pieces[i] & wanted) != wanted) return false;
  return true;
}

Allocation* Memory::reserve_addresses(uint64_t bytes, uint64_t align, const std::string& name) {
  Allocation* made = place_allocation(bytes, align, name, kGuard);
  made->pieces.assign(bytes / Allocation::kGranularity, 0);
  return made;
}

Allocation* Memory::allocate_with_misalignment(uint64_t offset, uint64_t bytes,
                                               const std::string& name) {
  // As with cudaMalloc, large buffers start at multiples of 2 MiB. The cost of scattered atomics
  // depends on this (simulator/observers/README.md).
  const bool large = bytes >= kLarge;
  Allocation* made = large ? place_allocation(bytes, kLargeAlign, name, kGuard)
                           : place_allocation(bytes, kAlign, name, kGuard, offset);
  // The whole allocation is about to be filled with poison. With large host pages, one page fault
  // provides 512 small pages.
  if (bytes >= kLargeAlign && bytes < kOnDemand) {
    madvise(host(made->begin), bytes / kLargeAlign * kLargeAlign, MADV_HUGEPAGE);
    PagePool::process_wide().map_dirty_pieces_from_pool(host(made->begin), host(made->end));
  }
  fill_with_poison(*made);  // the written bits of new addresses are still 0
  if (!made->untouched.empty()) on_demand_ += bytes;
  return made;
}

Allocation* Memory::allocate_small(uint64_t bytes, const std::string& name) {
  Allocation* made = place_allocation(bytes, kSmallAlign, name, kSmallGuard);
  fill_with_poison(*made);
  return made;
}

Allocation* Memory::allocate_host_shared(uint64_t bytes, const std::string& name) {
  // The allocation gets whole pages, so that it shares none with a neighbour.
  const uint64_t length = std::max(align_up(bytes, kPage), kPage);
  Allocation* made = place_allocation(bytes, kPage, name, kGuard);
  next_ = made->begin - kGlobalBase + length;
  // One file is mapped at two ranges: in the simulator's arena and at the device address.
  const MultiMappedMemory file(length);
  file.map(host(made->begin), MAP_FIXED);
  file.map(reinterpret_cast<void*>(made->begin), MAP_FIXED_NOREPLACE);
  made->shared_with_host = true;
  mark_allocation_written(*made);
  return made;
}

uint64_t Memory::share_host_memory(void* pointer, uint64_t bytes, const std::string& name) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const uint64_t offset = address % kPage, length = align_up(offset + bytes, kPage);
  Allocation* made = place_allocation(length, kPage, name, kGuard);
  next_ = made->begin - kGlobalBase + length;
  const MultiMappedMemory file(length);
  auto* pages = reinterpret_cast<std::byte*>(address - offset);
  file.map(host(made->begin), MAP_FIXED);
  std::memcpy(host(made->begin), pages, length);
  file.map(pages, MAP_FIXED);
  made->begin += offset;
  made->end = made->begin + bytes;
  mark_allocation_written(*made);
  return made->begin;
}

void Memory::mark_allocation_written(Allocation& allocation) {
  allocation.reached_by = nullptr;  // the host's own
  allocation.initialised = true;
  allocation.pristine = false;
  set_range_written(allocation.begin, allocation.end, true);
}

Allocation* Memory::place_allocation(uint64_t bytes, uint64_t align, const std::string& name,
                                     uint64_t guard, uint64_t offset) {
  if (next_ == 0) next_ = kMemoryStart;
  // Tested first, so that the sum below cannot wrap.
  const bool absurd = bytes > capacity_;
  const uint64_t begin = align_up(next_ + guard, align) + offset % align;
  if (absurd || begin + bytes + kGuard > capacity_)
    throw Error(fmt::format("out of device memory: `{}` needs {} bytes, {} of {} MiB are in use",
                            name, bytes, next_ >> 20, capacity_ >> 20));
  auto allocation = std::make_unique<Allocation>();
  allocation->index = static_cast<uint32_t>(allocations_.size());
  allocation->begin = kGlobalBase + begin;
  allocation->end = allocation->begin + bytes;
  allocation->name = name;
  allocation->device = device_;
  allocation->reached_by = reached_by_;
  // The offset takes from the guard zone behind, so that it moves no other allocation.
  next_ = begin - offset % align + std::max<uint64_t>(bytes, 1);
  allocations_.push_back(std::move(allocation));
  return allocations_.back().get();
}

void Memory::release(uint64_t address) {
  // Looked up by its start, not by find(), because an allocation of 0 bytes contains no address.
  auto at = std::lower_bound(
      allocations_.begin(), allocations_.end(), address,
      [](const std::unique_ptr<Allocation>& a, uint64_t wanted) { return a->begin < wanted; });
  Allocation* allocation = at == allocations_.end() ? nullptr : at->get();
  if (!allocation || allocation->freed || allocation->begin != address)
    throw Error(fmt::format("release of {:#x}, which is not the start of an allocation", address));
  allocation->freed = true;
  if (!allocation->untouched.empty()) on_demand_ -= allocation->end - allocation->begin;
  // The pages return to the pool or to the system; the address range itself is not reused.
  const uint64_t first = align_up(allocation->begin - kGlobalBase, kPage);
  uint64_t last = (allocation->end - kGlobalBase) / kPage * kPage;
  bool moved = false;
  if (allocation->shared_with_host) {
    last = std::max(align_up(allocation->end - kGlobalBase, kPage), first + kPage);
    munmap(reinterpret_cast<void*>(allocation->begin), last - first);
  } else if (!allocation->untouched.empty()) {
    moved = true;  // discarded, because the pool takes plain memory only
    allocation->untouched = {};
  } else if (last > first) {
    moved = PagePool::process_wide().move_pieces_into_pool(arena_.begin() + first,
                                                           arena_.begin() + last) > 0;
    if (!moved) madvise(arena_.begin() + first, last - first, MADV_DONTNEED);
  }
  // The range is mapped anew, so that the system merges it with its neighbours: the number of
  // mappings of a process is limited.
  if (moved || allocation->shared_with_host)
    mmap(arena_.begin() + first, last - first, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  // The pages of written bits are released, too, except those that neighbours share.
  const uint64_t first_bits = align_up((allocation->begin - kGlobalBase + 7) / 8, kPage);
  const uint64_t last_bits = (allocation->end - kGlobalBase) / 8 / kPage * kPage;
  if (last_bits > first_bits) madvise(bits_ + first_bits, last_bits - first_bits, MADV_DONTNEED);
}

void Memory::undo_release(uint64_t address) {
  Allocation* allocation = find(address);
  if (!allocation || !allocation->freed || allocation->begin != address)
    throw Error(fmt::format("there is no freed allocation at {:#x}", address));
  allocation->freed = false;
  poison(*allocation);
  if (!allocation->untouched.empty()) on_demand_ += allocation->end - allocation->begin;
}

void Memory::poison(Allocation& allocation) {
  set_range_written(allocation.begin, allocation.end, false);
  fill_with_poison(allocation);
}

void Memory::fill_with_poison(Allocation& allocation) {
  const uint64_t bytes = allocation.end - allocation.begin;
  const bool plain = bytes < kOnDemand || allocation.shared_with_host;
  const uint64_t laid =
      plain ? 0 : allocation.untouched.map_poison_filled_pages(host(allocation.begin), bytes);
  std::memset(host(allocation.begin) + laid, kPoison, bytes - laid);
  allocation.initialised = false;
  allocation.pristine = true;
}

void Memory::upload(uint64_t to, const void* from, uint64_t bytes) {
  if (bytes == 0) return;
  begin_host_write(to, bytes);
  std::memcpy(host(to), from, bytes);
}

void Memory::fill(uint64_t to, unsigned char value, uint64_t bytes) {
  if (bytes == 0) return;
  begin_host_write(to, bytes);
  std::memset(host(to), value, bytes);
}

void Memory::begin_host_write(uint64_t to, uint64_t bytes) {
  Allocation* allocation = find(to);
  if (!allocation || allocation->freed || bytes > allocation->end - to)
    throw Error(fmt::format("copy of {} bytes to {:#x} does not fit an allocation", bytes, to));
  set_range_written(to, to + bytes, true);
  if (!allocation->untouched.empty())
    allocation->untouched.map_plain_memory_before_write(host(to), host(to + bytes));
  allocation->pristine = false;
  if (to == allocation->begin && bytes == allocation->end - to) allocation->initialised = true;
}

void Memory::download(void* to, uint64_t from, uint64_t bytes) const {
  if (bytes == 0) return;
  const Allocation* allocation = find(from);
  if (!allocation || allocation->freed || bytes > allocation->end - from)
    throw Error(fmt::format("copy of {} bytes from {:#x} does not fit an allocation", bytes, from));
  std::memcpy(to, host(from), bytes);
}

void Memory::copy(uint64_t to, uint64_t from, uint64_t bytes) {
  if (bytes == 0) return;
  const Allocation* source = find(from);
  Allocation* target = find(to);
  if (!source || source->freed || bytes > source->end - from || !target || target->freed ||
      bytes > target->end - to)
    throw Error(fmt::format("copy of {} bytes from {:#x} to {:#x} does not fit its allocations",
                            bytes, from, to));
  // The runs of written and unwritten bytes are collected before any byte is marked, because the
  // two ranges may overlap.
  // The end of each run, and whether its bytes were written.
  std::vector<std::pair<uint64_t, bool>> runs;
  for (uint64_t at = from; at < from + bytes;) {
    const bool value = source->initialised || is_written(at, 1);
    at = source->initialised ? from + bytes : end_of_written_bit_run(at, from + bytes, value);
    runs.emplace_back(at - from, value);
  }
  uint64_t done = 0;
  for (const auto& [end, value] : runs) {
    set_range_written(to + done, to + end, value);
    if (!value) target->initialised = false;
    done = end;
  }
  if (runs.size() == 1 && runs[0].second && bytes == target->end - target->begin)
    target->initialised = true;
  if (!target->untouched.empty() && (to + bytes <= from || from + bytes <= to))
    target->untouched.map_plain_memory_before_write(host(to), host(to + bytes));
  std::memmove(host(to), host(from), bytes);
  target->pristine = false;
}

Memory::Snapshot Memory::take_snapshot() const {
  Snapshot image;
  for (const auto& a : allocations_) image.pieces.push_back(this->take_snapshot(*a));
  return image;
}

Memory::Snapshot::AllocationSnapshot Memory::take_snapshot(const Allocation& a) const {
  const uint64_t bytes = a.freed ? 0 : a.end - a.begin;
  const uint8_t* bits = bits_ + (a.begin - kGlobalBase) / 8;
  return {{host(a.begin), host(a.begin) + bytes},
          {bits, bits + (bytes + 7) / 8},
          a.initialised,
          a.pristine};
}

void Memory::put_back(const Snapshot& image) {
  for (size_t i = 0; i < image.pieces.size(); ++i) put_back(*allocations_[i], image.pieces[i]);
}

void Memory::put_back(Allocation& a, const Snapshot::AllocationSnapshot& piece) {
  std::copy(piece.bytes.begin(), piece.bytes.end(), host(a.begin));
  std::copy(piece.written.begin(), piece.written.end(), bits_ + (a.begin - kGlobalBase) / 8);
  a.initialised = piece.initialised;
  a.pristine = piece.pristine;
}

bool Memory::equals_snapshot(const Snapshot& image) const {
  for (size_t i = 0; i < image.pieces.size(); ++i) {
    const Snapshot::AllocationSnapshot& piece = image.pieces[i];
    const uint64_t begin = allocations_[i]->begin;
    if (!std::equal(piece.bytes.begin(), piece.bytes.end(), host(begin)) ||
        !std::equal(piece.written.begin(), piece.written.end(), bits_ + (begin - kGlobalBase) / 8))
      return false;
  }
  return true;
}

uint64_t Memory::end_of_written_bit_run(uint64_t begin, uint64_t end, bool value) const {
  const uint8_t whole = value ? 0xff : 0;
  uint64_t at = begin;
  while (at < end) {
    const uint64_t offset = at - kGlobalBase;
    if (offset % 8 == 0 && end - at >= 8 && bits_[offset / 8] == whole)
      at += 8;
    else if (is_written(at, 1) == value)
      ++at;
    else
      break;
  }
  return at;
}

Allocation* Memory::find(uint64_t address) const {
  auto after = std::upper_bound(
      allocations_.begin(), allocations_.end(), address,
      [](uint64_t a, const std::unique_ptr<Allocation>& b) { return a < b->begin; });
  if (after == allocations_.begin()) return nullptr;
  Allocation* candidate = std::prev(after)->get();
  return address < candidate->end ? candidate : nullptr;
}

const Allocation* Memory::find_touching(uint64_t address) const {
  auto after = std::upper_bound(
      allocations_.begin(), allocations_.end(), address,
      [](uint64_t a, const std::unique_ptr<Allocation>& b) { return a < b->begin; });
  if (after == allocations_.begin()) return nullptr;
  const Allocation* candidate = std::prev(after)->get();
  return address <= candidate->end ? candidate : nullptr;
}

const Allocation* Memory::nearest_allocation(uint64_t address) const {
  const Allocation* best = nullptr;
  uint64_t best_distance = ~0ull;
  for (const auto& a : allocations_) {
    if (a->freed) continue;
    const uint64_t distance = address < a->begin  ? a->begin - address
                              : address >= a->end ? address - a->end + 1
                                                  : 0;
    if (distance < best_distance) best_distance = distance, best = a.get();
  }
  return best;
}

bool Memory::is_written(uint64_t address, unsigned bytes) const {
  const uint64_t offset = address - kGlobalBase;
  uint32_t word;
  std::memcpy(&word, bits_ + (offset >> 3), sizeof word);
  const uint32_t want = static_cast<uint32_t>((uint64_t{1} << bytes) - 1) << (offset & 7);
  return (word & want) == want;
}

void Memory::mark_byte_unwritten(uint64_t address) {
  const Allocation* const a = find(address);
  if (a == nullptr || a->initialised) return;
  const uint64_t offset = address - kGlobalBase;
  __atomic_fetch_and(bits_ + offset / 8, static_cast<uint8_t>(~(1u << offset % 8)),
                     __ATOMIC_RELAXED);
}

void Memory::mark_span_written(uint64_t begin, uint64_t end) {
  uint64_t first = begin - kGlobalBase;
  const uint64_t last = end - kGlobalBase;
  while (first < last) {
    if (first % 64 == 0 && last - first >= 64) {
      __atomic_store_n(reinterpret_cast<uint64_t*>(bits_ + first / 8), ~uint64_t{0},
                       __ATOMIC_RELAXED);
      first += 64;
      continue;
    }
    const unsigned bit = first % 8;
    const unsigned count = static_cast<unsigned>(std::min<uint64_t>(8 - bit, last - first));
    const auto want = static_cast<uint8_t>(((1u << count) - 1) << bit);
    uint8_t* const have = bits_ + first / 8;
    if (want == 0xff) {
      // All eight bits belong to this store, so no other thread's bits can be lost.
      __atomic_store_n(have, want, __ATOMIC_RELAXED);
    } else if ((__atomic_load_n(have, __ATOMIC_RELAXED) & want) != want) {
      __atomic_fetch_or(have, want, __ATOMIC_RELAXED);
    }
    first += count;
  }
}

void Memory::mark_lanes_written(const uint64_t* address, uint32_t mask, unsigned bytes) {
  // A warp usually stores one contiguous piece.
  const int lead = __builtin_ctz(mask);
  const int lanes = __builtin_popcount(mask);
  bool contiguous = (mask >> lead) == (lanes == kWarpSize ? kFullMask : (1u << lanes) - 1);
  for (int i = 1; contiguous && i < lanes; ++i)
    contiguous = address[lead + i] == address[lead] + static_cast<uint64_t>(i) * bytes;
  if (contiguous)
    return mark_span_written(address[lead], address[lead] + static_cast<uint64_t>(lanes) * bytes);
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const uint64_t first = address[__builtin_ctz(rest)];
    mark_span_written(first, first + bytes);
  }
}

void Memory::mark_fully_written_allocations() {
  for (auto& a : allocations_) {
    if (a->initialised || a->freed || a->pristine) continue;
    const uint64_t first = a->begin - kGlobalBase, bytes = a->end - a->begin;
    const uint8_t* bits = bits_ + first / 8;
    bool all = true;
    for (uint64_t i = 0; all && i < bytes / 8; ++i) all = bits[i] == 0xff;
    for (uint64_t b = bytes / 8 * 8; all && b < bytes; ++b) all = bits[b / 8] >> (b % 8) & 1;
    a->initialised = all;
  }
}

void Memory::set_range_written(uint64_t begin, uint64_t end, bool value) {
  uint64_t first = begin - kGlobalBase, last = end - kGlobalBase;
  while (first < last && first % 8 != 0) {
    const auto bit = static_cast<uint8_t>(1u << (first % 8));
    bits_[first / 8] = value ? bits_[first / 8] | bit : bits_[first / 8] & ~bit;
    ++first;
  }
  if (last > first) {
    std::memset(bits_ + first / 8, value ? 0xff : 0, (last - first) / 8);
    first += (last - first) / 8 * 8;
  }
  while (first < last) {
    const auto bit = static_cast<uint8_t>(1u << (first % 8));
    bits_[first / 8] = value ? bits_[first / 8] | bit : bits_[first / 8] & ~bit;
    ++first;
  }
}

// ---------------------------------------------------------------------------------------------

uint64_t KernelMallocHeap::allocate(uint64_t bytes, const std::string& name) {
  if (bytes > limit_ || used_ > limit_ - bytes) return 0;
  used_ += bytes;
  const uint64_t address = memory_.allocate_small(bytes, name)->begin;
  pieces_[address] = {bytes, true};
  return address;
}

KernelMallocHeap::Release KernelMallocHeap::release(uint64_t address) {
  const auto piece = pieces_.find(address);
  if (piece == pieces_.end()) return Release::not_allocated;
  if (!piece->second.live) return Release::freed_before;
  piece->second.live = false;
  used_ -= piece->second.bytes;
  memory_.release(address);
  return Release::done;
}

void KernelMallocHeap::release_all() {
  for (const auto& [address, piece] : pieces_)
    if (piece.live) memory_.release(address);
  pieces_.clear();
  used_ = 0;
}

}  // namespace lab32::sim
