// What kernels and copies may still be writing to memory that the host can access.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cudart/errors.h"
#include "simulator/core/memory/memory.h"

namespace lab32::cudart {

// The words of managed and pinned memory that were written since the host last waited. The host
// cannot access their pages, so its next access raises a signal.
class WritesSinceHostSync {
 public:
  explicit WritesSinceHostSync(const sim::Memory& memory) : memory_(memory) {}

  // The contents of all managed and pinned memory, to be taken before a launch.
  using Contents = std::vector<std::pair<const sim::Allocation*, std::vector<std::byte>>>;
  Contents copy_host_accessible_memory() const;
  // Adds the words that differ from `before`. A word that was written without being changed does
  // not count.
  void add_changes(const Contents& before, const std::string& kernel);
  // Adds a range that a copy writes.
  void add(uint64_t begin, uint64_t bytes, const std::string& call);
  // Call when the host has waited: it may then access everything.
  void clear();

  struct UnfinishedWork {
    std::string name;  // "kernel `fill`"
    HostCallSite site;
  };
  // The work that writes this address; nullptr: none does.
  const UnfinishedWork* find_writer(uint64_t address) const;
  bool is_page_written_since_sync(uint64_t address) const {
    return pages_.count(address / kPage) != 0;
  }
  // Lets the host access the page, or stops it from accessing it again.
  void allow_host_access_to_page(uint64_t address) const {
    set_page_access(address / kPage, address / kPage + 1, true);
  }
  void forbid_host_access_to_page(uint64_t address) const {
    if (is_page_written_since_sync(address))
      set_page_access(address / kPage, address / kPage + 1, false);
  }

 private:
  static constexpr uint64_t kPage = 4096, kWord = 4;
  struct PageOfUnfinishedWrites {
    std::bitset<kPage / kWord> words;
    size_t work = 0;  // index of the last work that writes to the page
  };
  void mark_words(uint64_t begin, uint64_t end);
  void close_pages() const { set_access_to_all_pages(false); }
  void set_access_to_all_pages(bool access) const;
  static void set_page_access(uint64_t first_page, uint64_t end_page, bool access);

  const sim::Memory& memory_;
  std::map<uint64_t, PageOfUnfinishedWrites> pages_;  // by number
  std::vector<UnfinishedWork> work_;
};

}  // namespace lab32::cudart
