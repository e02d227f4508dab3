#include "runtime/cudart/unfinished_writes.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace lab32::cudart {

WritesSinceHostSync::Contents WritesSinceHostSync::copy_host_accessible_memory() const {
  // Copying more than this before each launch would cost more than the launch.
  constexpr uint64_t kMost = 512 << 20;
  Contents all;
  uint64_t bytes = 0;
  for (const auto& a : memory_.allocations()) {
    if (!a->shared_with_host || a->freed) continue;
    bytes += a->end - a->begin;
    if (bytes > kMost) return {};
    all.emplace_back(a.get(), std::vector<std::byte>(memory_.host(a->begin), memory_.host(a->end)));
  }
  return all;
}

void WritesSinceHostSync::add_changes(const Contents& before, const std::string& kernel) {
  if (before.empty()) return;
  work_.push_back({fmt::format("kernel `{}`", kernel), HostCallSite::current()});
  for (const auto& [allocation, old] : before) {
    const std::byte* const now = memory_.host(allocation->begin);
    for (uint64_t at = 0; at < old.size();) {
      const uint64_t rest = std::min<uint64_t>(kPage, old.size() - at);
      if (std::memcmp(now + at, &old[at], rest) == 0) {
        at += rest;
        continue;
      }
      for (const uint64_t end = at + rest; at < end; at += kWord)
        if (std::memcmp(now + at, &old[at], std::min(kWord, end - at)) != 0)
          mark_words(allocation->begin + at, allocation->begin + at + 1);
    }
  }
  close_pages();
}

void WritesSinceHostSync::add(uint64_t begin, uint64_t bytes, const std::string& call) {
  work_.push_back({call, HostCallSite::current()});
  mark_words(begin, begin + bytes);
  close_pages();
}

void WritesSinceHostSync::mark_words(uint64_t begin, uint64_t end) {
  for (uint64_t at = begin / kWord * kWord; at < end; at += kWord) {
    PageOfUnfinishedWrites& page = pages_[at / kPage];
    page.words.set(at % kPage / kWord);
    page.work = work_.size() - 1;
  }
}

void WritesSinceHostSync::clear() {
  set_access_to_all_pages(true);
  pages_.clear();
  work_.clear();
}

const WritesSinceHostSync::UnfinishedWork* WritesSinceHostSync::find_writer(
    uint64_t address) const {
  const auto page = pages_.find(address / kPage);
  return page != pages_.end() && page->second.words[address % kPage / kWord]
             ? &work_[page->second.work]
             : nullptr;
}

void WritesSinceHostSync::set_access_to_all_pages(bool access) const {
  for (auto at = pages_.begin(); at != pages_.end();) {
    const uint64_t first = at->first;
    uint64_t end = first;
    for (; at != pages_.end() && at->first == end; ++at) ++end;
    set_page_access(first, end, access);
  }
}

void WritesSinceHostSync::set_page_access(uint64_t first_page, uint64_t end_page, bool access) {
  mprotect(reinterpret_cast<void*>(first_page * kPage), (end_page - first_page) * kPage,
           access ? PROT_READ | PROT_WRITE : PROT_NONE);
}

}  // namespace lab32::cudart
