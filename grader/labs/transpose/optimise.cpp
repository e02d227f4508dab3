// The transpose lab. Contract: labs/transpose/transpose.cu.

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include "grading/engine/suite.h"
#include "grading/launch/arrays.h"
#include "grading/launch/launch.h"
#include "grading/launch/standard_checks.h"
#include "labs/transpose/tile.h"

namespace lab32::checks::transpose {
namespace {

constexpr uint32_t kTile = 32;
// The sides of random shapes for counting are multiples of this, and thereby of any likely tile
// size.
constexpr uint32_t kTileOfAny = 128;

template <class T>
constexpr const char* kType = "";
template <>
constexpr const char* kType<int> = "int";
template <>
constexpr const char* kType<float> = "float";
template <>
constexpr const char* kType<double> = "double";
template <>
constexpr const char* kType<short> = "short";

// Random values of type T, with the extreme ones. Without NaNs, which equal nothing, and without
// all ones, which is poison.
template <class T>
std::vector<T> random_values(Random& random, size_t count) {
  if constexpr (std::is_same_v<T, float>) return floats_with_special_values(random, count);
  std::vector<T> found(count);
  for (T& v : found) {
    if constexpr (std::is_floating_point_v<T>)
      v = random.unit();
    else
      do v = static_cast<T>(random.bits());
      while (is_poison(v));
  }
  if constexpr (std::is_integral_v<T>)
    insert_at_random_places(random, found,
                            {std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), T{0}});
  return found;
}

// Transposes square by square, because the strided accesses that this lab is about are slow on the
// host, too.
template <class T>
std::vector<T> transposed(const std::vector<T>& in, size_t n, size_t m) {
  std::vector<T> out(in.size());
  for (size_t y0 = 0; y0 < n; y0 += kTile)
    for (size_t x0 = 0; x0 < m; x0 += kTile)
      for (size_t x = x0; x < std::min(x0 + kTile, m); ++x)
        for (size_t y = y0; y < std::min(y0 + kTile, n); ++y) out[x * n + y] = in[y * m + x];
  return out;
}

struct Version {
  std::string kernel;
  uint32_t tile_rows = kTile, tile_columns = kTile;
  Dim3 block{kTile, kTile};

  Dim3 grid(uint32_t n, uint32_t m) const {
    return {blocks_for(m, tile_columns), blocks_for(n, tile_rows)};
  }
};

// A sentence about the first wrong element. It names row and column, since a flat index says little
// about a matrix.
template <class T>
std::string position_text(const std::vector<T>& got, const std::vector<T>& want, uint32_t n) {
  size_t i = 0;
  while (i < want.size() && matches(got[i], want[i], 0)) ++i;
  return fmt::format(" out[{}] is row {}, column {} of out, where in[{}][{}] belongs.", i, i / n,
                     i % n, i % n, i / n);
}

// Launches the version for n rows and m columns, and checks the result.
template <class T>
device::Run run_transpose(Check& check, const Version& version, uint32_t n, uint32_t m) {
  Random random = check.random();
  const std::string kernel = fmt::format("{}<{}>", version.kernel, kType<T>);
  const std::string setting = fmt::format("{} x {} {}s", n, m, kType<T>);
  Input<T> in(check, "in", random_values<T>(random, size_t{n} * m));
  Output<T> out(check, "out", size_t{n} * m);
  const Launch launch{given_kernel(check, kernel),
                      {version.grid(n, m), version.block},
                      {in, out, static_cast<int>(n), static_cast<int>(m)},
                      setting};
  device::Run launched =
      is_given_kernel(launch.kernel) ? run_to_count(check, launch) : run(check, launch);
  const std::vector<T> got = out.read(), want = transposed(in.values(), n, m);
  std::string wrong = mismatch("out", got, want);
  if (!wrong.empty()) wrong += position_text(got, want, n);
  check_result(check, setting, check.line_of(version.kernel), wrong);
  return launched;
}

device::Run run_transpose(Check& check, const std::string& type, const Version& version, uint32_t n,
                          uint32_t m) {
  if (type == "int") return run_transpose<int>(check, version, n, m);
  if (type == "float") return run_transpose<float>(check, version, n, m);
  if (type == "double") return run_transpose<double>(check, version, n, m);
  return run_transpose<short>(check, version, n, m);
}

// Launches and checks the version for all shapes of the rubric row and two random shapes with each
// type, and for the large shape with one type.
void check_shapes(Check& check, const Version& version) {
  const std::vector<double> rows = check.row.numbers("rows"),
                            columns = check.row.numbers("columns");
  const auto turn_all = [&](uint32_t n, uint32_t m) {
    for (const char* type : {"int", "float", "short"}) run_transpose(check, type, version, n, m);
  };
  for (size_t i = 0; i < rows.size(); ++i)
    turn_all(static_cast<uint32_t>(rows[i]), static_cast<uint32_t>(columns[i]));
  // One shape with sides that are multiples of a vector but not of a tile, and one with any sides.
  Random random(seed_of_stream(check.session.setup.seed, check.row.check + " shapes"));
  turn_all(4 * (1 + random.below(50)), 4 * (1 + random.below(50)));
  turn_all(1 + random.below(200), 1 + random.below(200));
  run_transpose(check, check.row.text("large"), version,
                static_cast<uint32_t>(check.row.number("large_rows")),
                static_cast<uint32_t>(check.row.number("large_columns")));
  report_right_result(check);
}

// The launch with floats whose sectors, requests and wavefronts the checks of a version use; it is
// made once.
std::shared_ptr<const device::Run> counted_launch(Check& check, const Version& version) {
  const uint32_t n = check.row.count("rows"), m = check.row.count("columns");
  return shared_launch(check, fmt::format("{} {} x {}", version.kernel, n, m),
                       given_kernel(check, fmt::format("{}<float>", version.kernel)),
                       [&] { return run_transpose<float>(check, version, n, m); });
}

// A second launch, with another type and a shape that the seed decides.
struct SecretLaunch {
  std::shared_ptr<const device::Run> run;
  // Ratios to the published launch. The limit for sectors scales with the bytes; those for
  // wavefronts and requests scale with the elements, since each lane of a tile moves an element at
  // a time.
  double bytes, elements;
  std::string where;
};

template <class T>
SecretLaunch launch_at_secret_size(Check& check, const Version& version) {
  const std::string key = fmt::format("{} of drawn {}s", version.kernel, kType<T>);
  Random random(seed_of_stream(check.session.setup.seed, key));
  const std::vector<double> range = check.row.numbers("drawn");
  const uint32_t most = static_cast<uint32_t>(range.at(1)) / kTileOfAny,
                 least = static_cast<uint32_t>(range.at(0)) / kTileOfAny;
  const uint32_t n = kTileOfAny * (least + random.below(most - least + 1)),
                 m = kTileOfAny * (least + random.below(most - least + 1));
  const double elements = 1.0 * n * m / check.row.number("rows") / check.row.number("columns");
  const auto launch = [&] { return run_transpose<T>(check, version, n, m); };
  return {shared_launch(check, key,
                        given_kernel(check, fmt::format("{}<{}>", version.kernel, kType<T>)),
                        [&] { return launch_keeping_table(check, launch); }),
          elements * sizeof(T) / sizeof(float), elements,
          fmt::format("{} x {} {}s:", n, m, kType<T>)};
}

void recount_sectors(Check& check, const SecretLaunch& other) {
  grading::recount_sectors(check, other.where, other.bytes * check.row.number("ideal"), *other.run);
}

// Takes at most three quarters of the points for the sectors of shorts. A kernel that has no more
// than a quarter is not counted with shorts at all: from the points of a kernel without a tile one
// could compute the answer to A1, which asks about shorts.
void recount_shorts(Check& check, const SecretLaunch& other) {
  constexpr double kLeast = 0.25;
  if (check.verdict.credit <= kLeast) return;
  const double published = check.verdict.credit;
  recount_sectors(check, other);
  check.verdict.credit = std::max(check.verdict.credit, std::min(published, kLeast));
}

// Takes points for wavefronts in another launch; up to `allowed` times the ideal number has all
// points.
void recount_wavefronts(Check& check, const SecretLaunch& other, double allowed = 1) {
  grading::recount_wavefronts(check, other.where,
                              allowed * other.elements * check.row.number("ideal"), *other.run);
}

void recount_requests(Check& check, const SecretLaunch& other) {
  recount_at_secret_size(check, other.where, "requests",
                         other.elements * check.row.number("ideal_requests"),
                         counters_of(check, *other.run, Counted::global).global_requests(),
                         worst_global_line(check, *other.run));
}

// Until these questions are answered rightly, the counts of tiles are withheld, because they would
// answer them.
const char kSectorQuestions[] = "A1 what naive touches", kBankQuestions[] = "A2 a column of a tile";

void credit_version_sectors(Check& check, const Version& version, const char* idea) {
  withhold_until_passed(check, kSectorQuestions);
  credit_sectors(check, *counted_launch(check, version), check.row.number("ideal"), idea);
  recount_sectors(check, launch_at_secret_size<int>(check, version));
  recount_shorts(check, launch_at_secret_size<short>(check, version));
}

void credit_version_wavefronts(Check& check, const Version& version, const char* idea) {
  withhold_until_passed(check, kBankQuestions);
  credit_wavefronts(check, *counted_launch(check, version), check.row.number("ideal"), idea);
  recount_wavefronts(check, launch_at_secret_size<int>(check, version));
  // A bank's word holds two shorts, so in a tile that is padded for words of 4 bytes, shorts may
  // have two-way conflicts.
  recount_wavefronts(check, launch_at_secret_size<short>(check, version), 2);
}

// The line whose lanes access more bytes than the matrix has; no line if there is none. In a matrix
// whose rows do not begin at sectors, even a good kernel has accesses with a sector too many, so
// its worst access does not explain why this kernel has more sectors.
WorstLine line_with_repeated_accesses(Check& check, const device::Run& run,
                                      uint64_t bytes_of_matrix) {
  for (const counters::LineCounters& line : run.lines) {
    const uint64_t bytes = line.counters.global_bytes;
    if (line.file != check.session.source.display() || bytes <= bytes_of_matrix) continue;
    return {line.line,
            fmt::format("The lanes access {} bytes here, but the matrix has only {}: lanes beyond "
                        "its edge access elements that other lanes access, too.",
                        grouped(bytes), grouped(bytes_of_matrix))};
  }
  return {};
}

const Version kNaive{"transpose_naive"}, kTiled{"transpose_tiled"}, kPadded{"transpose_padded"},
    kSwizzled{"transpose_swizzled"};

const char kSectorIdea[] =
    "A warp that reads along a row of in and writes along a row of out must "
    "write other elements than it has read. Where can the threads of a block "
    "exchange them?";
const char kBeginWithTile[] = "Begin with the idea that fixes transpose_tiled.";

Version declared_tile_version(Check& check) {
  const Tile tile = declared_tile(check, check.session.module);
  return {"transpose_best", tile.rows, tile.columns, {tile.threads}};
}

std::string count_per_request_text(uint64_t count, uint64_t requests) {
  return fmt::format("{:.1f}", static_cast<double>(count) / static_cast<double>(requests));
}

// The counters of given kernels, shown as a table once the questions are answered.
struct CounterRow {
  std::string name;
  counters::Counters counters;
};

void show_sectors(Check& check, const std::vector<CounterRow>& rows) {
  std::string table = "The profiler's table of the given kernel, sectors per request:";
  table += fmt::format("\n    {:<24}{:>8}{:>8}", "", "loads", "stores");
  for (const auto& [name, c] : rows)
    table += fmt::format("\n    {:<24}{:>8}{:>8}", name,
                         count_per_request_text(c.load.sectors, c.load.requests),
                         count_per_request_text(c.store.sectors, c.store.requests));
  check.explain(0, table);
}

void show_wavefronts(Check& check, const std::vector<CounterRow>& rows) {
  std::string table = "The profiler's table of the given kernel, wavefronts per request:";
  table += fmt::format("\n    {:<24}{:>8}{:>8}", "", "loads", "stores");
  for (const auto& [name, c] : rows)
    table +=
        fmt::format("\n    {:<24}{:>8}{:>8}", name,
                    count_per_request_text(c.shared_load.wavefronts, c.shared_load.requests),
                    count_per_request_text(c.shared_store.wavefronts, c.shared_store.requests));
  check.explain(0, table);
}

// Counts one block of the given kernel that transposes a tile in shared memory.
counters::Counters count_transposed_tile(Check& check, uint32_t wide, uint32_t pitch) {
  Random random = check.random();
  Input<float> in(check, "in", random_values<float>(random, wide * wide));
  Output<float> out(check, "out", wide * wide);
  const std::string kernel = fmt::format("turn_tile<{}, {}>", wide, pitch);
  return counters_of(
      check,
      run_to_count(check, {given_kernel(check, kernel), {{1}, {wide, wide}}, {in, out}, kernel}));
}

}  // namespace

namespace {

constexpr double kMostSide = 1 << 15;

const RubricKey kLarge = choice("large", {"int", "float", "double", "short"}),
                kRowsOfEach = wholes("rows", 0, kMostSide),
                kColumnsOfEach = as_long_as("rows", wholes("columns", 0, kMostSide)),
                kLargeRows = whole("large_rows", 1, kMostSide),
                kLargeColumns = whole("large_columns", 1, kMostSide),
                kRows = whole("rows", 1, kMostSide), kColumns = whole("columns", 1, kMostSide);

}  // namespace

TEST_SUITE("lab:transpose") {
  LAB_CHECK("A1 what naive touches" * takes(kRows, kColumns, "questions")) {
    std::vector<CounterRow> rows;
    for (const char* type : {"double", "short"})
      rows.push_back({fmt::format("transpose_naive<{}>", type),
                      counters_of(check, run_transpose(check, type, kNaive, check.row.count("rows"),
                                                       check.row.count("columns")))});
    if (ask_questions(check)) show_sectors(check, rows);
  }

  LAB_CHECK("A2 a column of a tile" * takes("questions")) {
    std::vector<CounterRow> rows;
    for (const auto& [wide, pitch] : {std::pair{16u, 16u}, {16u, 17u}, {32u, 32u}, {32u, 33u}}) {
      rows.push_back({fmt::format("turn_tile<{}, {}>", wide, pitch),
                      count_transposed_tile(check, wide, pitch)});
      check.figure(fmt::format("pitch {} wavefronts", pitch),
                   static_cast<double>(rows.back().counters.shared_load.wavefronts) /
                       static_cast<double>(rows.back().counters.shared_load.requests));
    }
    if (ask_questions(check)) show_wavefronts(check, rows);
  }

  LAB_CHECK("B1 tiled: result" *
            takes(kLarge, kRowsOfEach, kColumnsOfEach, kLargeRows, kLargeColumns)) {
    check_shapes(check, kTiled);
  }

  LAB_CHECK("B1 tiled: sectors" * takes(kRows, kColumns, "ideal", "drawn")) {
    credit_version_sectors(check, kTiled, kSectorIdea);
    // Bank conflicts cost no points in this check, since avoiding them is the idea of the next
    // version. They are shown here because this version causes them.
    const auto launched = counted_launch(check, kTiled);
    const counters::Counters& c = counters_of(check, *launched);
    withhold_until_passed(check, kBankQuestions);
    if (check.has_passed(kBankQuestions))
      check.figure("wavefronts", static_cast<double>(c.shared_wavefronts()));
    check.figure("ideal_wavefronts", static_cast<double>(c.shared_ideal()));
    const WorstLine waste = worst_shared_line(check, *launched);
    if (check.verdict.credit == 1 && waste.line > 0)
      check.explain(waste.line,
                    "No points are lost here: B2 is about these conflicts. " + waste.message);
    withhold_until_passed(check, kSectorQuestions);  // the pictures are about sectors
  }

  LAB_CHECK("B1 tiled: partial tiles" * takes(kRows, kColumns, "ideal")) {
    withhold_until_passed(check, kSectorQuestions);
    const auto launched = counted_launch(check, kTiled);
    const uint64_t elements = uint64_t{check.row.count("rows")} * check.row.count("columns");
    const WorstLine repeated =
        line_with_repeated_accesses(check, *launched, elements * sizeof(float));
    credit_sectors(check, *launched, check.row.number("ideal"),
                   repeated.line > 0 ? "Which lanes of a partial tile have an element of their own?"
                                     : kSectorIdea,
                   repeated);
  }

  LAB_CHECK("B2 padded: result" *
            takes(kLarge, kRowsOfEach, kColumnsOfEach, kLargeRows, kLargeColumns)) {
    check_shapes(check, kPadded);
  }

  LAB_CHECK("B2 padded: sectors" * takes(kRows, kColumns, "ideal", "drawn")) {
    credit_version_sectors(check, kPadded, kBeginWithTile);
  }

  LAB_CHECK("B2 padded: wavefronts" *
            takes("min_working_share", kRows, kColumns, "ideal", "drawn", "shared_bytes")) {
    for (const char* type : {"int", "float"})
      limit_shared_memory(check, fmt::format("transpose_padded<{}>", type),
                          check.row.number("shared_bytes"));
    credit_version_wavefronts(
        check, kPadded,
        "Word w lies in bank w % 32. The words of a column are one row apart: which "
        "distance between rows sends 32 of them to 32 banks?");
  }

  LAB_CHECK("B3 swizzled: result" *
            takes(kLarge, kRowsOfEach, kColumnsOfEach, kLargeRows, kLargeColumns)) {
    check_shapes(check, kSwizzled);
  }

  LAB_CHECK("B3 swizzled: sectors" * takes(kRows, kColumns, "ideal", "drawn")) {
    credit_version_sectors(check, kSwizzled, kBeginWithTile);
  }

  LAB_CHECK("B3 swizzled: wavefronts" *
            takes("min_working_share", kRows, kColumns, "ideal", "drawn", "shared_bytes")) {
    for (const char* type : {"int", "float"})
      limit_shared_memory(check, fmt::format("transpose_swizzled<{}>", type),
                          check.row.number("shared_bytes"));
    credit_version_wavefronts(
        check, kSwizzled,
        "Each row may keep its elements in an order of its own. Which permutation of "
        "32 places, a different one for each row, takes only one XOR?");
  }

  LAB_CHECK("B4 best: result" *
            takes(kLarge, kRowsOfEach, kColumnsOfEach, kLargeRows, kLargeColumns)) {
    check_shapes(check, declared_tile_version(check));
  }

  LAB_CHECK("B4 best: sectors" * takes(kRows, kColumns, "ideal", "drawn")) {
    credit_version_sectors(check, declared_tile_version(check), kBeginWithTile);
  }

  LAB_CHECK("B4 best: requests" *
            takes("min_working_share", kRows, kColumns, "ideal", "ideal_requests", "drawn")) {
    withhold_until_passed(check, kSectorQuestions);
    credit_requests(check, *counted_launch(check, declared_tile_version(check)),
                    check.row.number("ideal"), check.row.number("ideal_requests"),
                    check.line_of("transpose_best"));
    recount_requests(check, launch_at_secret_size<int>(check, declared_tile_version(check)));
    recount_requests(check, launch_at_secret_size<short>(check, declared_tile_version(check)));
  }

  LAB_CHECK("B4 best: wavefronts" * takes("min_working_share", kRows, kColumns, "ideal", "drawn")) {
    credit_version_wavefronts(
        check, declared_tile_version(check),
        "The hardware serves accesses of 16 bytes 8 lanes at a time, and of 8 bytes "
        "16 lanes at a time: these lanes must use all 32 banks together.");
  }
}

}  // namespace lab32::checks::transpose
