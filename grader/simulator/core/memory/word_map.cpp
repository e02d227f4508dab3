#include "simulator/core/memory/word_map.h"

#include <algorithm>

#include "base/error.h"

namespace lab32::sim {

void WordMap::reach(uint64_t words) {
  clear();
  const uint64_t pages = words / kWordsOfPage + 1;
  if (pages <= table_pages_) return;
  table_.reset(static_cast<Page**>(std::calloc(pages, sizeof(void*))));
  table_pages_ = table_ ? pages : 0;
  if (!table_) throw Error("out of host memory for the record of written words");
}

WordMap::Page* WordMap::bring(uint64_t number) {
  if (used_.size() == store_.size()) store_.push_back(std::make_unique<Page>());
  Page* const page = store_[used_.size()].get();
  *page = {};
  used_.push_back(static_cast<uint32_t>(number));
  return table_[number] = page;
}

void WordMap::add_split(uint64_t first) {
  for (uint64_t word = first; word < first + 32; ++word) add(word);
}

void WordMap::clear() {
  for (const uint32_t number : used_) table_[number] = nullptr;
  used_.clear();
}

void WordMap::trim(size_t bytes) {
  clear();
  store_.resize(std::min(store_.size(), bytes / kPageBytes));
}

}  // namespace lab32::sim
