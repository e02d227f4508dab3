#include "simulator/core/memory/guard_records.h"

#include <mutex>
#include <utility>

namespace lab32::sim {
namespace {

// So much is not given back, for each host thread: of the log, and of each of the maps.
constexpr size_t kHeldLog = 8 << 20, kHeldMap = 1 << 20;
// Bytes of records of lines: those of 2 GiB of device memory.
constexpr uint64_t kHeldLines = 8 << 20;

struct Held {
  std::mutex mutex;
  std::unique_ptr<GuardRecords> records;
  // Never destroyed: devices may outlive main().
  static Held& of_process() {
    static auto* const held = new Held;
    return *held;
  }
};

}  // namespace

std::unique_ptr<GuardRecords> GuardRecords::take(uint64_t bytes, unsigned workers) {
  std::unique_ptr<GuardRecords> records;
  {
    const std::lock_guard<std::mutex> lock(Held::of_process().mutex);
    records = std::move(Held::of_process().records);
  }
  if (!records) records = std::make_unique<GuardRecords>();
  records->lines.reach(bytes / UndoLog::kLine + 1);
  while (records->workers.size() < workers)
    records->workers.push_back(std::make_unique<OfWorker>());
  for (unsigned i = 0; i < workers; ++i) {
    records->workers[i]->written.reach(bytes / 4);
    records->workers[i]->read.reach(bytes / 4);
  }
  return records;
}

void GuardRecords::give(std::unique_ptr<GuardRecords> records) {
  if (records->lines.bytes() > kHeldLines) return;
  for (const auto& of : records->workers) {
    of->log.trim(kHeldLog);
    of->written.trim(kHeldMap);
    of->read.trim(kHeldMap);
  }
  const std::lock_guard<std::mutex> lock(Held::of_process().mutex);
  if (!Held::of_process().records) Held::of_process().records = std::move(records);
}

}  // namespace lab32::sim
