// A set of 4-byte words of device memory, a bit for each, where there are any. Its pages are few
// and change places: one host thread's blocks touch another part of memory in each round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

namespace lab32::sim {

class WordMap {
 public:
  static constexpr uint64_t kPageBytes = 1024, kWordsOfPage = kPageBytes * 8;
  static constexpr uint64_t kSpan = kWordsOfPage * 4;  // device memory that a page stands for
  struct Page {
    alignas(64) uint64_t bits[kPageBytes / 8];
  };

  // For words below that number; empty. What it held is forgotten.
  void reach(uint64_t words);

  void add(uint64_t word) {
    page_of(word)->bits[word % kWordsOfPage / 64] |= uint64_t{1} << (word % 64);
  }
  // Of 32 words one behind the other.
  void add_row(uint64_t first) {
    const uint64_t bit = first % 64;
    if (bit > 32) return add_split(first);
    page_of(first)->bits[first % kWordsOfPage / 64] |= uint64_t{0xffffffff} << bit;
  }
  void clear();
  // Of the memory that it has taken up, only about so much stays its own. It is empty then.
  void trim(size_t bytes);

  // Null: none of the page's words is in the set.
  const Page* page(uint64_t number) const { return table_[number]; }
  // Those that are not null, in the order in which they came.
  const std::vector<uint32_t>& pages() const { return used_; }
  uint64_t most_pages() const { return table_pages_; }

 private:
  Page* page_of(uint64_t word) {
    Page* const page = table_[word / kWordsOfPage];
    return page != nullptr ? page : bring(word / kWordsOfPage);
  }
  Page* bring(uint64_t number);
  void add_split(uint64_t first);

  struct Free {
    void operator()(Page** table) const { std::free(table); }
  };
  // By page. Nulls that nobody looks at take no memory.
  std::unique_ptr<Page*[], Free> table_;
  uint64_t table_pages_ = 0;
  std::vector<uint32_t> used_;
  std::vector<std::unique_ptr<Page>> store_;  // of pages: the first used_.size() are in the table
};

}  // namespace lab32::sim
