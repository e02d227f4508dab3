// The coalescing lab, part B: fix the pattern. Contract: labs/coalescing/coalescing.cu.
//
// If results are sums, the inputs are positive. Cancellation then magnifies no rounding, and one
// relative tolerance covers every order in which nvcc contracts multiplications and additions.

#include <array>

#include "grading/engine/questions.h"
#include "grading/engine/suite.h"
#include "grading/launch/standard_checks.h"

namespace lab32::checks::coalescing {
namespace {

constexpr uint32_t kBlock = 256;

std::string setting_of(uint32_t n) { return fmt::format("n = {}", n); }

std::vector<float> positive_floats(Random& random, size_t count) {
  std::vector<float> values(count);
  for (float& v : values) v = 1.5f + 0.5f * random.unit();
  return values;
}

// Positive factors with few digits. Products with them are exact, so a wrong value means a wrong
// index instead of rounding.
float random_factor(Random& random) { return 0.25f * static_cast<float>(2 + random.below(12)); }

// Each function launches the kernel of one task for one n, checks its result and returns the run.

device::Run run_scale(Check& check, uint32_t n) {
  Random random = check.random();
  const float factor = random_factor(random);
  Input<float> in(check, "in", random.floats(n));
  Output<float> out(check, "out", n);
  device::Run launched = run(check, {"scale",
                                     {{blocks_for(n, 16 * kBlock)}, {kBlock}},
                                     {in, out, factor, static_cast<int>(n)},
                                     setting_of(n)});
  std::vector<float> want = in.values();
  for (float& v : want) v *= factor;
  check_result(check, setting_of(n), check.line_of("scale"),
               mismatch("out", out.read(), want, relative_tolerance(check)));
  return launched;
}

constexpr int kFields = 8;

// The contract lets each field begin at a line of 128 bytes.
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

device::Run run_centre(Check& check, uint32_t n) {
  Random random = check.random();
  std::vector<float> mean(4);
  for (float& m : mean) m = random_factor(random) / 8;
  Input<float> in(check, "in", positive_floats(random, size_t{n} * 4));
  Input<float> means(check, "mean", mean);
  Output<float> out(check, "out", size_t{n} * 4);
  device::Run launched = run(check, {"centre",
                                     {{blocks_for(n, kBlock), 4}, {kBlock}},
                                     {in, means, out, static_cast<int>(n)},
                                     setting_of(n)});
  std::vector<float> want = in.values();
  for (size_t i = 0; i < want.size(); ++i) want[i] -= mean[i % 4];
  check_result(check, setting_of(n), check.line_of("centre"),
               mismatch("out", out.read(), want, relative_tolerance(check)));
  return launched;
}

device::Run run_axpy(Check& check, uint32_t n) {
  Random random = check.random();
  const float a = random_factor(random);
  Input<float> x(check, "x", positive_floats(random, n));
  const std::vector<float> before = positive_floats(random, n);
  Output<float> y(check, "y", before);
  device::Run launched = run(check, {"axpy",
                                     {{blocks_for(n, 4 * kBlock)}, {kBlock}},
                                     {a, x, y, static_cast<int>(n)},
                                     setting_of(n)});
  std::vector<float> want(n);
  for (size_t i = 0; i < n; ++i)
    want[i] = static_cast<float>(double{a} * x.values()[i] + before[i]);
  check_result(check, setting_of(n), check.line_of("axpy"),
               mismatch("y", y.read(), want, relative_tolerance(check)));
  return launched;
}

using Task = device::Run (*)(Check& check, uint32_t n);

// The last block may cost as much as a full block of any task.
SecretSize secret_size(Check& check) { return grading::secret_size(check, kWarpSize, 16 * kBlock); }

void recount_sectors_of(Check& check, const device::Run& launched, const SecretSize& size) {
  require_lane_accesses(check, launched);
  recount_sectors(check, setting_of(size.n) + ":", size.share * check.row.number("ideal"),
                  launched);
}

void credit_shared_out(Check& check, Task task, const std::string& idea) {
  const device::Run launched = task(check, check.row.count("n"));
  require_lane_accesses(check, launched);
  credit_work(check, launched);
  credit_sectors(check, launched, check.row.number("ideal"), idea);
  if (check.verdict.credit < 1) return;
  const SecretSize size = secret_size(check);
  recount_sectors_of(check, launch_keeping_table(check, [&] { return task(check, size.n); }), size);
}

void check_sizes(Check& check, Task task) {
  for (uint32_t n : sizes(check)) task(check, n);
  right_result(check);
}

}  // namespace

TEST_SUITE("lab:coalescing") {
  LAB_CHECK("B1 scale: result" * takes("sizes", "relative_tolerance")) {
    check_sizes(check, run_scale);
  }

  LAB_CHECK("B1 scale: sectors" *
            takes("min_working_share", "n", "ideal", "drawn", "relative_tolerance")) {
    credit_shared_out(check, run_scale,
                      "A thread may process any 16 elements. Choose them so that in each iteration "
                      "neighbouring lanes access neighbouring elements.");
  }

  LAB_CHECK("B2 fields: result" * takes("sizes", "relative_tolerance")) {
    for (uint32_t n : sizes(check)) {
      Random random = check.random();
      Output<float> particles(check, "particles", particle_floats(n));
      std::array<std::vector<float>, kFields> values;
      for (int field = 0; field < kFields; ++field) {
        values[field] = random.floats(n);
        pack_field(check, particles, values[field], field, n);
      }
      for (int field = 0; field < kFields; ++field)
        read_field(check, particles, values[field], field, n);
    }
    right_result(check);
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
    require_lane_accesses(check, counted);
    credit_sectors(check, counted, check.row.number("ideal"),
                   "A sector holds eight floats, and the warp uses one of them. Let slot() put "
                   "values side by side that neighbouring lanes read together.");
    if (check.verdict.credit < 1) return;
    const SecretSize size = secret_size(check);
    recount_sectors_of(check, launch_keeping_table(check, [&] { return read_one(size.n); }), size);
  }

  LAB_CHECK("B3 push: result" * takes("sizes", "relative_tolerance")) {
    check_sizes(check, run_push);
  }

  LAB_CHECK("B3 push: sectors" *
            takes("min_working_share", "n", "ideal", "drawn", "relative_tolerance")) {
    credit_shared_out(check, run_push,
                      "The particles of a block are contiguous floats. Load and store them as "
                      "floats in global memory, and use the structures only in shared memory.");
  }

  LAB_CHECK("B4 centre: result" * takes("sizes", "relative_tolerance")) {
    check_sizes(check, run_centre);
  }

  LAB_CHECK("B4 centre: sectors" *
            takes("min_working_share", "n", "ideal", "drawn", "relative_tolerance")) {
    credit_shared_out(check, run_centre,
                      "A warp is 32 threads with consecutive threadIdx.x. Which index of the table "
                      "varies fastest in memory, and which one varies from lane to lane?");
  }

  LAB_CHECK("B5 axpy: result" * takes("sizes", "relative_tolerance")) {
    check_sizes(check, run_axpy);
  }

  LAB_CHECK("B5 axpy: requests" * takes("min_working_share", "n", "ideal_requests", "ideal",
                                        "drawn", "relative_tolerance")) {
    const device::Run counted = run_axpy(check, check.row.count("n"));
    require_lane_accesses(check, counted);
    credit_requests(check, counted, check.row.number("ideal"), check.row.number("ideal_requests"),
                    check.line_of("axpy"));
    if (check.verdict.credit < 1) return;
    const SecretSize size = secret_size(check);
    const device::Run launched =
        launch_keeping_table(check, [&] { return run_axpy(check, size.n); });
    recount_sectors_of(check, launched, size);
    recount_at_secret_size(check, setting_of(size.n) + ":", "requests",
                           size.share * check.row.number("ideal_requests"),
                           counters_of(check, launched, Counted::global).global_requests(),
                           worst_global(check, launched));
  }

  LAB_CHECK("C1 one element off the line" * takes("questions")) { ask_questions(check); }

  LAB_CHECK("C2 three floats a point" * takes("questions")) { ask_questions(check); }
}

}  // namespace lab32::checks::coalescing
