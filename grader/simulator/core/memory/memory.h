// Device memory: allocations in one reserved address range. Guard zones separate the allocations,
// and addresses are never reused, so that wild accesses and uses after free are detected. One bit
// for each byte says whether it was ever written.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "simulator/core/memory/descriptors.h"
#include "simulator/core/memory/host_pages.h"

namespace lab32::sim {

// The generic address space. The windows are far apart, so that a wild pointer falls into none.
constexpr uint64_t kGlobalBase = 0x7000'0000'0000;  // device memory, module variables, constants
constexpr uint64_t kSharedBase = 0x0100'0000'0000;  // + offset in the block's shared memory
constexpr uint64_t kLocalBase = 0x0200'0000'0000;   // + offset in the thread's local memory
constexpr uint64_t kCodeBase = 0x0300'0000'0000;    // + 16 * function index: function pointers
constexpr uint64_t kWindowBytes = 0x0100'0000'0000;

// The first allocation starts at or after this offset.
constexpr uint64_t kMemoryStart = 512;

struct Allocation {
  uint32_t index = 0;
  uint64_t begin = 0, end = 0;  // device addresses; end - begin is the requested size
  std::string name;
  bool freed = false;
  bool read_only = false;         // __constant__ memory and kernel parameters
  bool initialised = false;       // every byte was written, so reads need not test the bits
  bool pristine = true;           // the allocation still contains nothing but poison
  bool shared_with_host = false;  // the host accesses the allocation at its device address, too
  bool scratch = false;           // every launch that reads the allocation has written it before
  unsigned device = 0;            // the device for which the program allocated it
  // A bit for each device that can access the allocation; null: all devices can. The pointee
  // outlives the allocation.
  const uint64_t* reached_by = nullptr;
  bool condition = false;  // the condition of a graph node, which cudaGraphSetConditional() writes
  LazilyPoisonedPages untouched;  // pieces of a large allocation that still map poison
  // For a reserved range that the program maps itself (virtual memory management): the access that
  // kernels have to each piece of kGranularity bytes. 0: none, 1: read, 3: read and write. Empty:
  // every access is allowed.
  std::vector<uint8_t> pieces;
  static constexpr uint64_t kGranularity = 2 << 20;  // bytes of a piece, as on a card

  // Whether kernels and copies may access these bytes, all of which are in the allocation.
  bool permits(uint64_t at, uint64_t bytes, bool write) const {
    return pieces.empty() || mapping_permits_access(at, bytes, write);
  }

 private:
  bool mapping_permits_access(uint64_t at, uint64_t bytes, bool write) const;
};

class Memory {
 public:
  // Reserves address space for `capacity` bytes of device memory; the system provides pages on
  // first access.
  explicit Memory(uint64_t capacity);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Allocates poisoned, uninitialised memory, 256-byte aligned as cudaMalloc's. Throws Error if the
  // capacity is exhausted. Freed addresses are never reused, so that a use after free is detected.
  Allocation* allocate(uint64_t bytes, const std::string& name) {
    return allocate_with_misalignment(0, bytes, name);
  }
  // As allocate(), at an address that is `offset` modulo 256.
  Allocation* allocate_with_misalignment(uint64_t offset, uint64_t bytes, const std::string& name);
  // Reserves addresses only; the program maps and permits the pieces later.
  Allocation* reserve_addresses(uint64_t bytes, uint64_t align, const std::string& name);
  // Allocates 16-byte aligned memory with smaller guard zones, for many small allocations.
  Allocation* allocate_small(uint64_t bytes, const std::string& name);
  // Like allocate(), for managed and pinned memory: zeroed, counted as written, and accessible to
  // the host process at the device address itself. Throws Error if the host already uses that
  // range.
  Allocation* allocate_host_shared(uint64_t bytes, const std::string& name);
  // Makes memory of the host process accessible to the device. The pages stay at their place and
  // count as written. Returns the address of their new allocation, which release() frees like any
  // other. Throws Error if pages of that kind cannot be shared.
  uint64_t share_host_memory(void* host, uint64_t bytes, const std::string& name);
  void release(uint64_t address);
  // Makes a freed allocation of allocate() live again at its old address. None of its bytes counts
  // as written.
  void undo_release(uint64_t address);
  // Sets `initialised` of all allocations whose bytes have all been written meanwhile.
  void mark_fully_written_allocations();
  void poison(Allocation& allocation);
  void upload(uint64_t to, const void* from, uint64_t bytes);
  void download(void* to, uint64_t from, uint64_t bytes) const;
  void fill(uint64_t to, unsigned char value, uint64_t bytes);
  // Copies between two ranges that may overlap, with their written bits.
  void copy(uint64_t to, uint64_t from, uint64_t bytes);

  // Several devices share one address space. From here on kernels of device `device` run, and new
  // allocations are accessible to the devices whose bits are set in `*new_allocation_access_mask`
  // (null: to all), including bits set later.
  void set_current_device(unsigned device, const uint64_t* new_allocation_access_mask) {
    device_ = device;
    reached_by_ = new_allocation_access_mask;
  }
  unsigned device() const { return device_; }
  const uint64_t* reached_by() const { return reached_by_; }
  bool can_access(const Allocation& a) const {
    return a.reached_by == nullptr || (*a.reached_by >> device_ & 1) != 0;
  }

  // A copy of the contents of all live allocations. Between take_snapshot() and put_back() nothing
  // may be allocated or released.
  struct Snapshot {
    struct AllocationSnapshot {
      std::vector<std::byte> bytes;
      std::vector<uint8_t> written;
      bool initialised, pristine;
    };
    std::vector<AllocationSnapshot> pieces;  // one per allocation; empty if it was freed
  };
  Snapshot take_snapshot() const;
  Snapshot::AllocationSnapshot take_snapshot(const Allocation& allocation) const;
  void put_back(Allocation& allocation, const Snapshot::AllocationSnapshot& piece);
  void put_back(const Snapshot& image);
  bool equals_snapshot(const Snapshot& image) const;

  // The live or freed allocation that contains the address; nullptr: none.
  Allocation* find(uint64_t address) const;
  // As find(), but also the allocation that begins or ends at the address: a pointer into an empty
  // array, or to the end of one.
  const Allocation* find_touching(uint64_t address) const;
  // The live allocation closest to the address, for messages; nullptr if there is no allocation.
  const Allocation* nearest_allocation(uint64_t address) const;

  std::byte* host(uint64_t address) const { return delta_ + address; }
  // One bit for each byte of device memory, from kGlobalBase on: whether the byte was ever written.
  uint8_t* written_bits() const { return bits_; }
  bool is_written(uint64_t address, unsigned bytes) const;
  // The first byte of the range that was never written; `end` if all were written.
  uint64_t first_unwritten(uint64_t begin, uint64_t end) const {
    return end_of_written_bit_run(begin, end, true);
  }
  uint64_t first_written(uint64_t begin, uint64_t end) const {
    return end_of_written_bit_run(begin, end, false);
  }
  // Marks the bytes that the lanes of a warp store as written. Several host threads may mark
  // neighbouring bytes concurrently.
  void mark_lanes_written(const uint64_t* address, uint32_t mask, unsigned bytes);
  void mark_span_written(uint64_t begin, uint64_t end);
  // Marks a byte as not written, unless its allocation counts as written as a whole.
  void mark_byte_unwritten(uint64_t address);
  void set_range_written(uint64_t begin, uint64_t end, bool value);

  // The texture and surface objects by number.
  TextureTable& textures() { return textures_; }
  const TextureTable& textures() const { return textures_; }

  // Bytes of live allocations whose pages the system provides on first access.
  uint64_t bytes_on_demand() const { return on_demand_; }

  uint64_t used() const { return next_; }
  // Whether the address is in the range that allocations have used so far.
  bool is_in_used_range(uint64_t address) const {
    return address >= kGlobalBase && address - kGlobalBase < next_;
  }
  const std::vector<std::unique_ptr<Allocation>>& allocations() const { return allocations_; }

 private:
  // Prepares a write by the host to part of an allocation. Throws Error if the range is not inside
  // one.
  void begin_host_write(uint64_t to, uint64_t bytes);
  void mark_allocation_written(Allocation& allocation);
  void fill_with_poison(Allocation& allocation);
  // The first byte of [begin, end) whose written bit is not `value`; `end` if there is none.
  uint64_t end_of_written_bit_run(uint64_t begin, uint64_t end, bool value) const;
  // Places an allocation at an address that is `offset` modulo `align`.
  Allocation* place_allocation(uint64_t bytes, uint64_t align, const std::string& name,
                               uint64_t guard, uint64_t offset = 0);

  uint64_t capacity_;
  uint64_t next_ = 0, on_demand_ = 0;
  unsigned device_ = 0;
  const uint64_t* reached_by_ = nullptr;
  PagePool::ReservedRange arena_, written_;
  std::byte* delta_;  // the arena's begin - kGlobalBase
  uint8_t* bits_;     // written_'s begin
  TextureTable textures_;
  std::vector<std::unique_ptr<Allocation>> allocations_;  // by address
};

// ---------------------------------------------------------------------------------------------
// malloc() and free() of kernels. Each piece is a separate allocation, so that accesses past its
// end and after its release are detected.

class Memory;

class KernelMallocHeap {
 public:
  explicit KernelMallocHeap(Memory& memory) : memory_(memory) {}

  // Sets cudaLimitMallocHeapSize.
  void set_limit(uint64_t bytes) { limit_ = bytes; }

  // Returns a 16-byte aligned address, or 0 if the heap's limit would be exceeded. (A GPU also
  // spends part of its heap on bookkeeping and fails somewhat earlier.)
  uint64_t allocate(uint64_t bytes, const std::string& name);
  enum class Release : uint8_t { done, freed_before, not_allocated };
  Release release(uint64_t address);
  void release_all();

 private:
  Memory& memory_;
  uint64_t limit_ = 0, used_ = 0;
  struct Piece {
    uint64_t bytes;
    bool live;
  };
  std::unordered_map<uint64_t, Piece> pieces_;  // by address
};

// ---------------------------------------------------------------------------------------------
// Digests of device memory: they tell whether its contents changed without keeping a copy.

struct AllocationDigest {
  uint32_t allocation;  // Allocation::index
  uint64_t digest;
  bool operator==(const AllocationDigest& b) const {
    return allocation == b.allocation && digest == b.digest;
  }
};

// The digests of all live allocations except scratch ones (Allocation::scratch), which each launch
// fills in itself. A digest covers the devices that can access the allocation, its bytes, and which
// bytes were ever written. Two different allocations have equal digests with a probability of
// 2^-64. `threads`: host threads to use (0: all cores).
std::vector<AllocationDigest> digest(const Memory& memory, unsigned threads);
AllocationDigest digest(const Memory& memory, const Allocation& allocation, unsigned threads);

// The number of bytes that digest() reads.
uint64_t bytes_to_digest(const Memory& memory);

}  // namespace lab32::sim
