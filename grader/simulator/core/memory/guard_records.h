// What an OrderGuard writes down. A process keeps what a launch has used for the next one: to have
// it come from the system, page by page on all cores at once, took longer than to use it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "simulator/core/memory/line_rounds.h"
#include "simulator/core/memory/undo_log.h"
#include "simulator/core/memory/word_map.h"

namespace lab32::sim {

struct GuardRecords {
  // Apart from those of others, also from the cache line that a core fetches besides.
  struct alignas(128) OfWorker {
    UndoLog log;
    WordMap written, read;  // read: in allocations that are noted by word
  };

  // For so many bytes of device memory, all of it empty; at least so many workers.
  static std::unique_ptr<GuardRecords> take(uint64_t bytes, unsigned workers);
  static void give(std::unique_ptr<GuardRecords> records);

  LineRounds lines;
  std::vector<std::unique_ptr<OfWorker>> workers;
};

}  // namespace lab32::sim
