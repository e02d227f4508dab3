#include "simulator/core/memory/page_pool.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/memory.h"

namespace lab32::sim {
namespace {

// The range that they leave stays mapped (Linux 5.7). False: this system cannot.
bool move_pages(std::byte* from, std::byte* to) {
#ifdef MREMAP_DONTUNMAP
  return mremap(from, PagePool::kPiece, PagePool::kPiece,
                MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, to) != MAP_FAILED;
#else
  (void)from, (void)to;
  return false;
#endif
}

uint64_t whole_pieces(const std::byte* begin, const std::byte* end) {
  if (reinterpret_cast<uint64_t>(begin) % PagePool::kPiece != 0 || end < begin) return 0;
  return static_cast<uint64_t>(end - begin) / PagePool::kPiece;
}

}  // namespace

PagePool::Range::Range(uint64_t bytes, const char* what)
    : bytes_(align_up(bytes, kPiece) + kPiece),
      reserved_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
  if (reserved_ == MAP_FAILED)
    throw Error(fmt::format("cannot reserve {} MiB of address space for {}: {}", bytes >> 20, what,
                            std::strerror(errno)));
  const auto address = reinterpret_cast<uint64_t>(reserved_);
  begin_ = static_cast<std::byte*>(reserved_) + (align_up(address, kPiece) - address);
}

PagePool::Range::~Range() { munmap(reserved_, bytes_); }

// Never destroyed: devices may outlive main().
PagePool& PagePool::of_process() {
  static auto* const pool = new PagePool;
  return *pool;
}

PagePool::PagePool() : range_(kMost * kPiece, "memory to be used again") {
  for (size_t i = 0; i < kMost; ++i) empty_.push_back(range_.begin() + (kMost - 1 - i) * kPiece);
}

bool PagePool::take(void* at) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (full_.empty() || !move_pages(full_.back(), static_cast<std::byte*>(at))) return false;
  empty_.push_back(full_.back());
  full_.pop_back();
  return true;
}

void PagePool::give(void* at) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (empty_.empty() || !move_pages(static_cast<std::byte*>(at), empty_.back())) {
    madvise(at, kPiece, MADV_DONTNEED);
    return;
  }
  full_.push_back(empty_.back());
  empty_.pop_back();
}

void PagePool::take_all(std::byte* begin, const std::byte* end) {
  for (uint64_t i = 0; i < whole_pieces(begin, end); ++i)
    if (!take(begin + i * kPiece)) return;
}

uint64_t PagePool::give_all(std::byte* begin, const std::byte* end) {
  const uint64_t pieces = whole_pieces(begin, end);
  for (uint64_t i = 0; i < pieces; ++i) give(begin + i * kPiece);
  return pieces * kPiece;
}

}  // namespace lab32::sim
