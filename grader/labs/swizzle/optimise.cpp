// The swizzle lab, parts C and E: a tile for ldmatrix, its bank conflicts, and its time on a real
// card. Contract: labs/swizzle/swizzle.cu.

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "base/grid.h"
#include "base/random.h"
#include "grading/engine/suite.h"
#include "grading/launch/standard_checks.h"
#include "grading/timing/timing_checks.h"
#include "grading/words/words.h"
#include "labs/swizzle/mapping.h"

namespace lab32::checks::swizzle {
namespace {

constexpr uint32_t kWeighingThreads = 256;                    // a block of 8 warps
constexpr uint32_t kTileElements = 64 * 64;                   // elements of 2 bytes each
constexpr uint32_t kResultsPerWeightedTile = 8 * 4 * 32 * 8;  // results per tile, of 2 bytes each

// A tile has kColumns columns. kWarps warps read it, each as kStrips strips of kSteps matrices.
constexpr uint32_t kColumns = 64, kWarps = 8, kStrips = 4, kSteps = 4;

// With these bounds no sum of four products reaches 65535, the value of poison.
constexpr uint32_t kElementBound = 256, kWeightBound = 64;

std::vector<uint16_t> random_tile_integers(Random& random, uint32_t tiles) {
  std::vector<uint16_t> elements(size_t{tiles} * kTileElements);
  for (uint16_t& e : elements) e = static_cast<uint16_t>(random.below(kElementBound));
  return elements;
}

std::vector<uint32_t> random_strip_weights(Random& random) {
  std::vector<uint32_t> weights(kWarps * kStrips);
  for (uint32_t& w : weights) w = random.below(kWeightBound);
  return weights;
}

// The meaning of the `index`-th of a tile's results, in the order of the contract.
struct DecodedTileResultIndex {
  uint32_t warp, step, lane, matrix, half;
  explicit DecodedTileResultIndex(uint32_t index)
      : warp(index / 8 / kWarpSize / kSteps % kWarps),
        step(index / 8 / kWarpSize % kSteps),
        lane(index / 8 % kWarpSize),
        matrix(index % 8 / 2),
        half(index % 2) {}
  // Row, in each strip, and column of the tile's elements of which the result is made. ldmatrix
  // gives lane l the elements 2 (l % 4) and 2 (l % 4) + 1 of row l / 4 of each matrix, or, with
  // .trans, of column l / 4 (PTX ISA).
  uint32_t source_element_row(bool transpose) const {
    return 8 * (matrix % 2) + (transpose ? 2 * (lane % 4) + half : lane / 4);
  }
  uint32_t source_element_column(bool transpose) const {
    return 16 * step + 8 * (matrix / 2) + (transpose ? lane / 4 : 2 * (lane % 4) + half);
  }
};

// The results of all tiles.
std::vector<uint16_t> expected_weighted_sums(const std::vector<uint16_t>& elements,
                                             const std::vector<uint32_t>& weights, bool transpose) {
  // The results of all tiles are made of elements at the same places.
  std::vector<DecodedTileResultIndex> places;
  std::vector<uint32_t> offsets;  // within the first strip
  for (uint32_t i = 0; i < kResultsPerWeightedTile; ++i) {
    places.emplace_back(i);
    offsets.push_back(places[i].source_element_row(transpose) * kColumns +
                      places[i].source_element_column(transpose));
  }
  std::vector<uint16_t> results(elements.size() / kTileElements * kResultsPerWeightedTile);
  for (size_t i = 0; i < results.size(); ++i) {
    const uint32_t at = static_cast<uint32_t>(i % kResultsPerWeightedTile);
    const uint16_t* tile = &elements[i / kResultsPerWeightedTile * kTileElements];
    uint32_t sum = 0;
    for (uint32_t s = 0; s < kStrips; ++s)
      sum += weights[kStrips * places[at].warp + s] * tile[16 * s * kColumns + offsets[at]];
    results[i] = static_cast<uint16_t>(sum);
  }
  return results;
}

device::LaunchResult run_and_check_weighted_tiles(Check& check, const char* kernel, bool transpose,
                                                  uint32_t tiles) {
  Random random = check.random();
  Input<uint16_t> in(check, "in", random_tile_integers(random, tiles));
  Input<uint32_t> weight(check, "weight", random_strip_weights(random));
  Output<uint16_t> out(check, "out", size_t{tiles} * kResultsPerWeightedTile);
  const std::string setting =
      fmt::format("{} tile{}{}", tiles, tiles == 1 ? "" : "s", transpose ? ", .trans" : "");
  device::LaunchResult launched =
      run(check, {kernel_name_with_namespace(check, fmt::format("{}<{}>", kernel, transpose)),
                  {{tiles}, {kWeighingThreads}},
                  {in, weight, out},
                  setting});
  const std::vector<uint16_t> got = out.read(), want = expected_weighted_sums(
                                                    in.values(), weight.values(), transpose);
  std::string wrong = mismatch("out", got, want);
  if (!wrong.empty()) {
    uint32_t i = 0;
    while (got[i] == want[i]) ++i;
    const DecodedTileResultIndex r(i % kResultsPerWeightedTile);
    wrong += fmt::format(
        " In elements of 2 bytes, that is warp {}, k = {}, lane {}, matrix {}: row "
        "{} of each strip, column {}. Do the store and the load use the same place "
        "for its chunk?",
        r.warp, r.step, r.lane, r.matrix, r.source_element_row(transpose),
        r.source_element_column(transpose));
  }
  check_result(check, setting, check.line_of(kernel), wrong);
  return launched;
}

void check_weighted_tile_results(Check& check, const char* kernel) {
  for (double tiles : check.row.required_numbers("tiles"))
    for (bool transpose : {false, true})
      run_and_check_weighted_tiles(check, kernel, transpose, static_cast<uint32_t>(tiles));
  report_right_result(check);
}

// The line to show for conflicts on `line`: the call of the given load_matrices if they are inside
// it, because the caller computes the address.
int line_of_call_into_given_code(Check& check, const char* kernel, int line) {
  const SourceFile& source = check.session.source;
  const bool given =
      line > source.line_of_name("load_matrices") && line < source.line_of_name("add_weighted");
  if (!given) return line;
  const int begin = source.line_of_name(kernel),
            call = source.first_use_in_kernel("load_matrices", begin);
  return call > 0 ? call : begin;
}

// Launches the kernel without and with .trans, and checks the launch that takes more wavefronts.
void check_wavefronts(Check& check, const char* kernel, const std::string& idea) {
  // The skeleton's kernels access shared memory as weigh_plain does, about which C1 asks.
  withhold_details_until_passed(check, "C1 plain: wavefronts");
  for (const char* transpose : {"false", "true"})
    require_static_shared_at_most(check, fmt::format("{}<{}>", kernel, transpose),
                                  check.row.required_number("shared_bytes"));
  const device::LaunchResult straight =
      run_and_check_weighted_tiles(check, kernel, false, check.row.required_count("tiles"));
  const device::LaunchResult turned =
      run_and_check_weighted_tiles(check, kernel, true, check.row.required_count("tiles"));
  const bool second = counters_of(check, turned).shared_wavefronts() >
                      counters_of(check, straight).shared_wavefronts();
  const device::LaunchResult &judged = second ? turned : straight,
                             &other = second ? straight : turned;
  const double ideal = check.row.required_number("ideal"),
               sectors = check.row.required_number("most_sectors");
  credit_wavefronts(check, judged, ideal, idea,
                    [&](int line) { return line_of_call_into_given_code(check, kernel, line); });
  reduce_credit_above_sector_limit(check, judged, sectors);
  limit_credit_by_sectors(check, second ? "Without .trans" : "With .trans", sectors, other);
  // Few accesses with conflicts may take no more wavefronts than many without. The task is to have
  // no conflicts, so they cost points in any case.
  const counters::Counters& c = counters_of(check, judged, Counted::shared);
  const uint64_t conflicts = c.shared_wavefronts() - c.ideal_shared_wavefronts();
  check.limit_credit_to_share(ideal, ideal + static_cast<double>(conflicts));
  if (static_cast<double>(c.shared_wavefronts()) <= ideal && conflicts > 0) {
    const ExplainedLine waste = line_of_most_excess_wavefronts(check, judged);
    check.explain(line_of_call_into_given_code(check, kernel, waste.line), waste.message);
  }
  const SecretSize size = secret_size(check, 1, 0, "tiles");
  for (bool transpose : {false, true}) {
    const device::LaunchResult drawn = launch_without_changing_report_row(
        check, [&] { return run_and_check_weighted_tiles(check, kernel, transpose, size.n); });
    const std::string where = fmt::format("{} tiles{}:", size.n, transpose ? ", .trans" : "");
    limit_credit_by_wavefronts(check, where, size.limit_scale * ideal, drawn);
    limit_credit_by_sectors(check, where, size.limit_scale * sectors, drawn);
  }
}

MakeWork weighted_tile_work(const std::string& kernel) {
  return [=](Check& check, uint32_t tiles, size_t sets) {
    Random random = check.random();
    const std::vector<uint32_t> weights = random_strip_weights(random);
    const auto inputs = generate_host_input_sets<uint16_t>(
        check, sets, [tiles](Random& own) { return random_tile_integers(own, tiles); });
    WorkloadToTime work;
    work.arrays = {input_array("in", inputs), input_array("weight", weights),
                   output_array<uint16_t>("out", size_t{tiles} * kResultsPerWeightedTile)};
    work.bytes = work.arrays[0].bytes + work.arrays[2].bytes;
    work.steps = [=](device::LoadedModule&, uint32_t) {
      return std::vector<device::StepToTime>{device::LaunchToTime{
          kernel + "<false>",
          {{tiles}, {kWeighingThreads}},
          {device::KernelArrayArgumentIndex{0}, device::KernelArrayArgumentIndex{1},
           device::KernelArrayArgumentIndex{2}}}};
    };
    work.mismatch = [=](size_t set, const Outputs& outputs) {
      return mismatch("out", values_of<uint16_t>(outputs[0]),
                      expected_weighted_sums(*inputs[set], weights, false));
    };
    return work;
  };
}

}  // namespace

TEST_SUITE("lab:swizzle") {
  LAB_CHECK("C2 padded: result" * takes_rubric_keys(wholes("tiles", 1, 4096))) {
    check_weighted_tile_results(check, "weigh_padded");
  }

  LAB_CHECK("C2 padded: wavefronts" * takes_rubric_keys("min_working_share",
                                                        whole("tiles", 1, 4096), "ideal",
                                                        "shared_bytes", "most_sectors", "drawn")) {
    check_wavefronts(check, "weigh_padded",
                     "The 8 rows of a matrix begin one pitch apart. Which pitch sends them to 8 "
                     "different groups of banks? ldmatrix needs a multiple of 16 bytes.");
  }

  LAB_CHECK("C3 swizzled: result" * takes_rubric_keys(wholes("tiles", 1, 4096))) {
    check_weighted_tile_results(check, "weigh_swizzled");
  }

  LAB_CHECK("C3 swizzled: wavefronts" *
            takes_rubric_keys("min_working_share", whole("tiles", 1, 4096), "ideal", "shared_bytes",
                              "most_sectors", "drawn")) {
    check_wavefronts(check, "weigh_swizzled",
                     "The store and the load may put a chunk into another column, row by row. In "
                     "part A no two of 8 rows kept a column in the same place.");
  }

  LAB_CHECK("E1 padded: time" * keys_of_speed_check()) {
    credit_bandwidth_vs_copy(check, {"weigh_padded", weighted_tile_work("weigh_padded")});
  }

  LAB_CHECK("E2 swizzled: time" * keys_of_speed_check()) {
    credit_bandwidth_vs_copy(check, {"weigh_swizzled", weighted_tile_work("weigh_swizzled")});
  }
}

namespace {

std::string box_text(const MeasuredBoxLayout& box) {
  return fmt::format("{}-byte mode, a box of {} rows of {} elements of {} byte{}, base {}",
                     box.mode, box.rows, box.columns, box.element_bytes,
                     box.element_bytes == 1 ? "" : "s", box.base);
}

// A hint for the message about the box: the property of it that the student's function may have
// missed.
const char* hint_for_wrong_box_swizzle(const MeasuredBoxLayout& box) {
  if (box.columns * box.element_bytes < box.mode)
    return "The box is narrower than the mode: how far apart do its rows begin?";
  if (box.base != 0)
    return "Your function is right for this box at base 0: does the engine XOR the bits "
           "of the offset in the box, or those of the address?";
  return "Which bits of the address does this mode XOR onto which? The mode's name is the width "
         "within which chunks change places.";
}

void check_landing_of_tensor_box(Check& check, const MeasuredBoxLayout& box) {
  Output<int> out(check, "out", box.landing.size());
  run(check, {kernel_name_with_namespace(check, "land_all"),
              {{blocks_for(box.landing.size(), 256)}, {256}},
              {box.mode, box.base, box.rows, box.columns, box.element_bytes, out},
              box_text(box)});
  const std::vector<int> got = out.read();
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i] == box.landing[i]) continue;
    check.measured(fmt::format("wrong, {} bytes", box.mode));
    check.fail_and_throw(
        check.line_of("landing"),
        fmt::format(
            "{}: the element in row {}, column {} {}. An H200 puts it somewhere else.\n"
            "{}",
            box_text(box), i / box.columns, i % box.columns,
            is_poison(got[i]) ? "has no place" : fmt::format("does not go to byte {}", got[i]),
            hint_for_wrong_box_swizzle(box)));
  }
}

// Launches the student's function for each box that an H200 has written (measured_box_layouts())
// in the swizzle modes of the rubric row, and compares where each element is put. For each mode the
// record begins with boxes at base 0 that are as wide as the mode, so the first message is about a
// simple box.
void check_swizzle_modes(Check& check) {
  check.expected("as on an H200");
  int boxes = 0;
  for (double mode : check.row.required_numbers("modes")) {
    for (const MeasuredBoxLayout& box : measured_box_layouts()) {
      if (box.mode != static_cast<int>(mode)) continue;
      check_landing_of_tensor_box(check, box);
      ++boxes;
    }
  }
  if (boxes != static_cast<int>(check.row.required_number("boxes")))
    check.fail_and_throw(
        0, fmt::format("The rubric is wrong: its `modes` have {} boxes, and `boxes` is {:g}.",
                       boxes, check.row.required_number("boxes")));
  check.figure("boxes", boxes);
  check.measured(fmt::format("{} boxes right", boxes));
}

const RubricKey kModes = wholes("modes", 32, 128, 0, 32), kBoxes = whole("boxes", 1, 1000);

}  // namespace

TEST_SUITE("lab:swizzle") {
  LAB_CHECK("D1 the 128-byte mode" * takes_rubric_keys(kModes, kBoxes)) {
    check_swizzle_modes(check);
  }

  LAB_CHECK("D2 the 64- and 32-byte modes" * takes_rubric_keys(kModes, kBoxes)) {
    check_swizzle_modes(check);
  }
}

}  // namespace lab32::checks::swizzle
