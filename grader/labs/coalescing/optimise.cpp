// The coalescing lab, B2 and B3: structures. The rubric declares the other tasks of part B.
// Contract: labs/coalescing/coalescing.cu.
//
// The inputs of tasks whose results are sums are positive: then no cancellation magnifies a
// rounding, and one relative tolerance covers every way in which nvcc may contract multiplications
// and additions.

#include <array>

#include "grading/engine/suite.h"
#include "grading/launch/arrays.h"
#include "grading/launch/standard_checks.h"
#include "grading/timing/timing_checks.h"

namespace lab32::checks::coalescing {
namespace {

constexpr uint32_t kBlock = 256;

std::string setting_of(uint32_t n) { return fmt::format("n = {}", n); }

std::vector<float> positive_floats(Random& random, size_t count) {
  std::vector<float> values(count);
  for (float& v : values) v = 1.5f + 0.5f * random.unit();
  return values;
}

// Positive factors with few digits, so that products with them are exact: a wrong value then means
// a wrong index and not a rounding.
float random_factor(Random& random) { return 0.25f * static_cast<float>(2 + random.below(12)); }

constexpr int kFields = 8;

// The floats of `n` particles' fields, each field padded to whole lines of 128 bytes: the contract
// lets each field begin at such a line.
size_t particle_floats(uint32_t n) { return size_t{kFields} * ceil_div(n, 32) * 32; }

void pack_field(Check& check, const DeviceArray& particles, const std::vector<float>& values,
                int field, uint32_t n) {
  Input<float> in(check, "values", values);
  run(check, {given_kernel(check, "pack"),
              {{blocks_for(n, kBlock)}, {kBlock}},
              {in, particles, field, static_cast<int>(n)},
              fmt::format("{}, storing field {}", setting_of(n), field)});
}

device::Run read_field(Check& check, const DeviceArray& particles, const std::vector<float>& values,
                       int field, uint32_t n) {
  Random random = check.random();
  const float factor = random_factor(random);
  const std::string setting = fmt::format("{}, reading field {}", setting_of(n), field);
  Output<float> out(check, "out", n);
  Launch launch{given_kernel(check, "scale_field"),
                {{blocks_for(n, kBlock)}, {kBlock}},
                {particles, out, field, factor, static_cast<int>(n)},
                setting};
  launch.pictures_of_given = true;  // slot() decides which addresses the given kernel reads
  device::Run launched = run(check, launch);
  std::vector<float> want = values;
  for (float& v : want) v *= factor;
  const std::string wrong = mismatch("out", out.read(), want, relative_tolerance(check));
  check_result(check, setting_of(n), check.line_of("slot"),
               wrong.empty() ? "" : fmt::format("reading field {} back: {}", field, wrong));
  return launched;
}

struct Particle {
  float x, y, z;
  float vx, vy, vz;
  float mass, charge;
};
constexpr const char* kFieldNames[kFields] = {"x", "y", "z", "vx", "vy", "vz", "mass", "charge"};

Particle pushed_particle(Particle p, float ex, float ey, float ez, float dt) {
  const double a = double{dt} * p.charge / p.mass;
  const auto sum = [](double base, double step) { return static_cast<float>(base + step); };
  Particle q = p;
  q.x = sum(p.x, double{dt} * p.vx);
  q.y = sum(p.y, double{dt} * p.vy);
  q.z = sum(p.z, double{dt} * p.vz);
  q.vx = sum(p.vx, a * ex);
  q.vy = sum(p.vy, a * ey);
  q.vz = sum(p.vz, a * ez);
  return q;
}

// Compares field by field, so that the message can name the first wrong field.
std::string particle_mismatch(Check& check, const std::vector<Particle>& got,
                              const std::vector<Particle>& want) {
  for (int field = 0; field < kFields; ++field) {
    std::vector<float> g(got.size()), w(want.size());
    for (size_t i = 0; i < got.size(); ++i) {
      std::memcpy(&g[i], reinterpret_cast<const float*>(&got[i]) + field, sizeof(float));
      std::memcpy(&w[i], reinterpret_cast<const float*>(&want[i]) + field, sizeof(float));
    }
    const std::string name = fmt::format("field {} of out", kFieldNames[field]);
    const std::string wrong = mismatch(name, g, w, relative_tolerance(check));
    if (!wrong.empty()) return wrong;
  }
  return "";
}

// Launches push for n particles, checks its result and returns the run.
device::Run run_push(Check& check, uint32_t n) {
  Random random = check.random();
  std::vector<Particle> particles(n);
  const std::vector<float> values = positive_floats(random, size_t{n} * kFields);
  if (n > 0) std::memcpy(particles.data(), values.data(), values.size() * sizeof(float));
  const float ex = random_factor(random), ey = random_factor(random), ez = random_factor(random),
              dt = random_factor(random) / 8;
  Input<Particle> in(check, "in", particles);
  Output<Particle> out(check, "out", n);
  device::Run launched = run(check, {"push",
                                     {{blocks_for(n, kBlock)}, {kBlock}},
                                     {in, out, ex, ey, ez, dt, static_cast<int>(n)},
                                     setting_of(n)});
  for (Particle& p : particles) p = pushed_particle(p, ex, ey, ez, dt);
  check_result(check, setting_of(n), check.line_of("push"),
               particle_mismatch(check, out.read(), particles));
  return launched;
}

// The limits at a secret size allow a partial last block to cost as much as a full one. No task has
// blocks of more than 16 * kBlock elements.
SecretSize secret_size(Check& check) { return grading::secret_size(check, kWarpSize, 16 * kBlock); }

void recount_sectors_at_size(Check& check, const device::Run& launched, const SecretSize& size) {
  require_only_lane_accesses(check, launched);
  recount_sectors(check, setting_of(size.n) + ":", size.share * check.row.number("ideal"),
                  launched);
}

}  // namespace

TEST_SUITE("lab:coalescing") {
  LAB_CHECK("B2 fields: result" * takes("sizes", "relative_tolerance")) {
    for (uint32_t n : sizes_to_check(check)) {
      Random random = check.random();
      Output<float> particles(check, "particles", particle_floats(n));
      std::array<std::vector<float>, kFields> values;
      for (int field = 0; field < kFields; ++field) {
        values[field] = floats_with_special_values(random, n);
        pack_field(check, particles, values[field], field, n);
      }
      for (int field = 0; field < kFields; ++field)
        read_field(check, particles, values[field], field, n);
    }
    report_right_result(check);
  }

  LAB_CHECK("B2 fields: sectors" * takes("n", "ideal", "drawn", "relative_tolerance")) {
    const auto read_one = [&check](uint32_t n) {
      Random random = check.random();
      const int field = static_cast<int>(random.below(kFields));
      const std::vector<float> values = random.floats(n);
      Output<float> particles(check, "particles", particle_floats(n));
      pack_field(check, particles, values, field, n);
      return read_field(check, particles, values, field, n);
    };
    const device::Run counted = read_one(check.row.count("n"));
    require_only_lane_accesses(check, counted);
    credit_sectors(check, counted, check.row.number("ideal"),
                   "A sector holds eight floats, and the warp uses one of them. Let slot() put "
                   "values side by side that neighbouring lanes read together.");
    const SecretSize size = secret_size(check);
    recount_sectors_at_size(check, launch_keeping_table(check, [&] { return read_one(size.n); }),
                            size);
  }

  LAB_CHECK("B3 push: result" * takes("sizes", "relative_tolerance")) {
    for (uint32_t n : sizes_to_check(check)) run_push(check, n);
    report_right_result(check);
  }

  LAB_CHECK("B3 push: sectors" *
            takes("min_working_share", "n", "ideal", "drawn", "relative_tolerance")) {
    const device::Run launched = run_push(check, check.row.count("n"));
    require_only_lane_accesses(check, launched);
    credit_working_share(check, launched);
    credit_sectors(check, launched, check.row.number("ideal"),
                   "The particles of a block are contiguous floats. Load and store them as "
                   "floats in global memory, and use the structures only in shared memory.");
    const SecretSize size = secret_size(check);
    recount_sectors_at_size(
        check, launch_keeping_table(check, [&] { return run_push(check, size.n); }), size);
  }
}

namespace {

constexpr uint32_t kTimedBlock = 256;

// push without a field and with a time step of 0: out equals in exactly, and only moving the
// structures takes time.
TimedWork push_work(Check& check, uint32_t n, size_t sets) {
  constexpr size_t kFloats = 8;
  const InputSets<float> inputs = input_sets<float>(check, sets, [n](Random& random) {
    std::vector<float> input = random.floats(n * kFloats);
    for (float& v : input) v = 1.5f + 0.5f * v;
    return input;
  });
  TimedWork work = work_with_in_and_out(inputs);
  work.steps = [n](device::LoadedModule&, uint32_t) {
    const float none = 0;
    return std::vector<device::TimedStep>{device::TimedLaunch{
        "push",
        {{blocks_for(n, kTimedBlock)}, {kTimedBlock}},
        {device::ArrayIndex{0}, device::ArrayIndex{1}, device::Arg(none), device::Arg(none),
         device::Arg(none), device::Arg(none), device::Arg(static_cast<int>(n))}}};
  };
  work.mismatch = [&check, inputs](size_t set, const Outputs& outputs) {
    return mismatch("out (eight floats a particle)", values_of<float>(outputs[0]), *inputs[set],
                    relative_tolerance(check));
  };
  return work;
}

}  // namespace

TEST_SUITE("lab:coalescing") {
  LAB_CHECK("D2 push: time" * takes_of_speed() * takes("relative_tolerance")) {
    credit_speed(check, {"push", push_work});
  }
}

}  // namespace lab32::checks::coalescing
