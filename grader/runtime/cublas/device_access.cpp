#include "runtime/cublas/device_access.h"

#include <fmt/format.h>

#include <algorithm>

namespace lab32::cublas {
namespace {

// The operations of one FMA instruction of a warp: a multiplication and an addition in each lane.
constexpr double kOperationsOfWarp = 32 * 2;

}  // namespace

bool operands_overlap(const void* a, const MatrixExtent& of_a, const void* b,
                      const MatrixExtent& of_b, uint64_t element) {
  const auto size = static_cast<int64_t>(element);
  const auto empty = [](const MatrixExtent& e) { return e.rows <= 0 || e.columns <= 0; };
  if (!a || !b || empty(of_a) || empty(of_b)) return false;
  if (a == b) return true;
  const int64_t bytes = static_cast<const char*>(b) - static_cast<const char*>(a);
  if (bytes % size != 0 || of_a.leading != of_b.leading || of_a.leading <= 0) return false;
  // The offset of b from a, as columns and rows. There are two forms: with rows >= 0, or with one
  // column more and rows < 0.
  const int64_t apart = bytes / size, leading = of_a.leading;
  int64_t columns = apart / leading, rows = apart % leading;
  if (rows < 0) rows += leading, --columns;
  const auto meet = [&](int64_t column, int64_t row) {
    return row < of_a.rows && -row < of_b.rows && column < of_a.columns && -column < of_b.columns;
  };
  return meet(columns, rows) || meet(columns + 1, rows - leading);
}

double CheckedOperandAccess::roofline_seconds() const {
  const model::DeviceProfile& p = runtime_.profile;
  const double rate = p.time.fp32_per_clock * kOperationsOfWarp * p.time.sm_hz * p.multiprocessors;
  return p.time.warm_launch_seconds +
         std::max(bytes_ / p.time.dram_bytes_per_second, rate > 0 ? operations_ / rate : 0);
}

std::string CheckedOperandAccess::operand_text(const char* name, const MatrixExtent& e,
                                               uint64_t element) const {
  if (e.rows == 1 && e.columns == 1) return fmt::format("{} ({} bytes)", name, element);
  if (e.rows == 1)
    return fmt::format("{} ({} elements of {} bytes, step {})", name, e.columns, element,
                       e.leading);
  return fmt::format("{} ({} x {} of {} bytes, leading dimension {})", name, e.rows, e.columns,
                     element, e.leading);
}

void* CheckedOperandAccess::checked_device_operand_pointer(const char* name, const void* at,
                                                           const MatrixExtent& e, uint64_t element,
                                                           bool reads, bool writes) {
  if (e.rows <= 0 || e.columns <= 0) return nullptr;
  sim::Memory& memory = runtime_.memory;
  const auto begin = reinterpret_cast<uint64_t>(at);
  const auto rows = static_cast<uint64_t>(e.rows), columns = static_cast<uint64_t>(e.columns),
             leading = static_cast<uint64_t>(e.leading);
  const std::string what = operand_text(name, e, element);
  const auto wrong = [&](const std::string& text, cudaError_t error = cudaErrorIllegalAddress) {
    throw CublasOperandFault{error, what + " " + text};
  };
  if (begin == 0) wrong("is a null pointer");
  sim::Allocation* a = memory.is_in_used_range(begin) ? memory.find(begin) : nullptr;
  if (!a) wrong(fmt::format("begins at {:#x}, which is not device memory", begin));
  if (a->freed) wrong(fmt::format("begins in `{}`, which was freed", a->name));
  if (!a->permits(begin, 1, writes))
    wrong(fmt::format("begins in `{}`, where nothing is mapped", a->name));
  if (!memory.can_access(*a))
    wrong(fmt::format("begins in `{}` of device {}, to which device {} has no access", a->name,
                      a->device, memory.device()));
  if (writes && a->read_only) wrong(fmt::format("is in `{}`, which is constant", a->name));
  // The numbers of elements are compared, because the product in bytes could overflow.
  const uint64_t held = (a->end - begin) / element;
  if (columns > 1 && leading > held / (columns - 1))
    wrong(fmt::format("reaches past the end of `{}`, which has {} bytes from there", a->name,
                      a->end - begin));
  if (rows > held - (columns - 1) * leading)
    wrong(fmt::format("ends {} bytes past the end of `{}`, which has {} bytes from its beginning",
                      (((columns - 1) * leading + rows) * element) - (a->end - begin), a->name,
                      a->end - begin));
  if (begin % element != 0 && begin % (element > 8 ? 8 : element) != 0)
    wrong(fmt::format("begins at {:#x}, which is not a multiple of {}", begin, element),
          cudaErrorMisalignedAddress);

  bytes_ += static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(element);
  const bool whole = leading == rows || columns == 1;
  const uint64_t pieces = whole ? 1 : columns, bytes = (whole ? rows * columns : rows) * element;
  for (uint64_t i = 0; i < pieces; ++i) {
    const uint64_t from = begin + i * leading * element, end = from + bytes;
    if (reads && runtime_.tool == cudart::Tool::check && !a->initialised) {
      const uint64_t unwritten = memory.first_unwritten(from, end);
      if (unwritten < end) {
        record_.findings.push_back(
            {record::RecordedLibraryCall::Finding::Kind::initialisation,
             fmt::format("reads {}, but byte {} of `{}` and possibly others were never written",
                         what, unwritten - a->begin, a->name)});
        reads = false;  // report an uninitialised read once
      }
    }
    if (writes) memory.set_range_written(from, end, true);
  }
  if (writes) a->pristine = false;
  return memory.host(begin);
}

}  // namespace lab32::cublas
