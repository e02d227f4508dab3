// The coalescing lab, B2: fields of structures. The rubric declares the other tasks of part B.
// Contract: labs/coalescing/coalescing.cu.

#include <array>

#include "grading/engine/suite.h"
#include "grading/launch/arrays.h"
#include "grading/launch/standard_checks.h"

namespace lab32::checks::coalescing {
namespace {

constexpr uint32_t kBlock = 256;

std::string setting_of(uint32_t n) { return fmt::format("n = {}", n); }

// Positive factors with few digits, so that products with them are exact: a wrong value then means
// a wrong index and not a rounding.
float random_factor(Random& random) { return 0.25f * static_cast<float>(2 + random.below(12)); }

constexpr int kFields = 8;

// The floats of `n` particles' fields, each field padded to whole lines of 128 bytes: the contract
// lets each field begin at such a line.
size_t particle_floats(uint32_t n) { return size_t{kFields} * ceil_div(n, 32) * 32; }

void store_particle_field(Check& check, const DeviceArray& particles,
                          const std::vector<float>& values, int field, uint32_t n) {
  Input<float> in(check, "values", values);
  run(check, {kernel_name_with_namespace(check, "pack"),
              {{blocks_for(n, kBlock)}, {kBlock}},
              {in, particles, field, static_cast<int>(n)},
              fmt::format("{}, storing field {}", setting_of(n), field)});
}

device::LaunchResult run_and_check_scale_field(Check& check, const DeviceArray& particles,
                                               const std::vector<float>& values, int field,
                                               uint32_t n) {
  Random random = check.random();
  const float factor = random_factor(random);
  const std::string setting = fmt::format("{}, reading field {}", setting_of(n), field);
  Output<float> out(check, "out", n);
  Launch launch{kernel_name_with_namespace(check, "scale_field"),
                {{blocks_for(n, kBlock)}, {kBlock}},
                {particles, out, field, factor, static_cast<int>(n)},
                setting};
  launch.pictures_of_given = true;  // slot() decides which addresses the given kernel reads
  device::LaunchResult launched = run(check, launch);
  std::vector<float> want = values;
  for (float& v : want) v *= factor;
  const std::string wrong = mismatch("out", out.read(), want, relative_tolerance(check));
  check_result(check, setting_of(n), check.line_of("slot"),
               wrong.empty() ? "" : fmt::format("reading field {} back: {}", field, wrong));
  return launched;
}

// The limits at a secret size allow a partial last block to cost as much as a full one. No task has
// blocks of more than 16 * kBlock elements.
SecretSize secret_size(Check& check) { return grading::secret_size(check, kWarpSize, 16 * kBlock); }

void limit_lane_sector_credit_at_size(Check& check, const device::LaunchResult& launched,
                                      const SecretSize& size) {
  require_only_lane_accesses(check, launched);
  limit_credit_by_sectors(check, setting_of(size.n) + ":",
                          size.limit_scale * check.row.required_number("ideal"), launched);
}

}  // namespace

TEST_SUITE("lab:coalescing") {
  LAB_CHECK("B2 fields: result" * takes_rubric_keys("sizes", "relative_tolerance")) {
    for (uint32_t n : sizes_to_check(check)) {
      Random random = check.random();
      Output<float> particles(check, "particles", particle_floats(n));
      std::array<std::vector<float>, kFields> values;
      for (int field = 0; field < kFields; ++field) {
        values[field] = special_floats_without_nan(random, n);
        store_particle_field(check, particles, values[field], field, n);
      }
      for (int field = 0; field < kFields; ++field)
        run_and_check_scale_field(check, particles, values[field], field, n);
    }
    report_right_result(check);
  }

  LAB_CHECK("B2 fields: sectors" * takes_rubric_keys("n", "ideal", "drawn", "relative_tolerance")) {
    const auto read_one = [&check](uint32_t n) {
      Random random = check.random();
      const int field = static_cast<int>(random.below(kFields));
      const std::vector<float> values = random.floats(n);
      Output<float> particles(check, "particles", particle_floats(n));
      store_particle_field(check, particles, values, field, n);
      return run_and_check_scale_field(check, particles, values, field, n);
    };
    const device::LaunchResult counted = read_one(check.row.required_count("n"));
    require_only_lane_accesses(check, counted);
    credit_sectors(check, counted, check.row.required_number("ideal"),
                   "A sector holds eight floats, and the warp uses one of them. Let slot() put "
                   "values side by side that neighbouring lanes read together.");
    const SecretSize size = secret_size(check);
    limit_lane_sector_credit_at_size(
        check, launch_without_changing_report_row(check, [&] { return read_one(size.n); }), size);
  }
}

}  // namespace lab32::checks::coalescing
