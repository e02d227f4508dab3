// Credit is monotone: a submission that needs less of a counter never has fewer points. Each check
// of counters is graded with the counts that its launches have, and again with one of them lower.
#include <doctest/doctest.h>

#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/environment.h"
#include "device/forwarding.h"
#include "tests/fixtures/each_lab.h"
#include "tests/fixtures/graded_lab.h"

namespace lab32::tests {
namespace {

using counters::Counters;

// Runs each launch once, and gives its outcome again whenever it is made anew, with other counts.
class ReplayedDevice : public device::ForwardingDevice {
 public:
  using Change = std::function<void(size_t launch, Counters&)>;

  ReplayedDevice() : ForwardingDevice(device::open_device("sim")) {}

  device::DeviceAddressRange allocate(uint64_t bytes, const std::string& name) override {
    const device::DeviceAddressRange buffer = ForwardingDevice::allocate(bytes, name);
    arrays_[buffer.address] = buffer;
    return buffer;
  }
  void release(device::DeviceAddressRange buffer) override {
    arrays_.erase(buffer.address);
    ForwardingDevice::release(buffer);
  }
  // Without snapshots, no launch is repeated in another order or without some of its threads. Those
  // launches are not counted, and take most of the time.
  std::unique_ptr<device::SavedMemory> save() override { return nullptr; }
  device::LaunchResult launch(device::Kernel& kernel, const device::LaunchShape& shape,
                              const std::vector<device::KernelArgument>& args,
                              const device::LaunchOptions& options) override {
    const Key key{kernel.info().name, shape.grid.count(), shape.block.count(),
                  made_[kernel.info().name]++};
    auto known = launches_.find(key);
    if (known == launches_.end()) {
      Recorded recorded{ForwardingDevice::launch(kernel, shape, args, options), {}, counted_};
      counted_ += recorded.run.counters.has_value();
      for (size_t i = 0; i < args.size(); ++i)
        recorded.outputs.push_back(output(kernel, i, args[i]));
      known = launches_.emplace(key, std::move(recorded)).first;
    } else {
      for (size_t i = 0; i < args.size(); ++i)
        if (const auto& bytes = known->second.outputs[i])
          if (const auto to = array_of(args[i])) upload(*to, bytes->data(), bytes->size());
    }
    device::LaunchResult run = known->second.run;
    if (run.counters && change) change(known->second.number, *run.counters);
    return run;
  }

  // Before each grading.
  void begin(Change with) {
    made_.clear();
    change = std::move(with);
  }
  void forget() {
    launches_.clear();
    counted_ = 0;
  }
  // Launches that were not counted have no number: there is nothing to lower.
  size_t counted_launches() const { return counted_; }
  // A counter's largest value in any launch.
  uint64_t largest(const std::function<uint64_t(const Counters&)>& of) const {
    uint64_t most = 0;
    for (const auto& [key, recorded] : launches_)
      if (recorded.run.counters) most = std::max(most, of(*recorded.run.counters));
    return most;
  }

 private:
  using Key = std::tuple<std::string, uint64_t, uint64_t, size_t>;
  struct Recorded {
    device::LaunchResult run;
    std::vector<std::optional<std::vector<std::byte>>> outputs;  // by argument
    size_t number;                                               // among the counted launches
  };

  std::optional<device::DeviceAddressRange> array_of(const device::KernelArgument& arg) const {
    uint64_t address = 0;
    if (arg.bytes().size() != sizeof address) return std::nullopt;
    std::memcpy(&address, arg.bytes().data(), sizeof address);
    const auto found = arrays_.find(address);
    return found == arrays_.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<std::vector<std::byte>> output(device::Kernel& kernel, size_t i,
                                               const device::KernelArgument& arg) {
    const auto& types = kernel.info().parameter_types;
    const auto array = array_of(arg);
    if (!array || (i < types.size() && types[i].find("const*") != std::string::npos))
      return std::nullopt;
    std::vector<std::byte> bytes(array->bytes);
    download(bytes.data(), *array, bytes.size());
    return bytes;
  }

  Change change;
  std::map<uint64_t, device::DeviceAddressRange> arrays_;
  std::map<std::string, size_t> made_;
  std::map<Key, Recorded> launches_;
  size_t counted_ = 0;
};

// The counters that cost: what a kernel needs less of is better.
struct Cost {
  std::string name;
  std::function<uint64_t&(Counters&)> of;
};

std::vector<Cost> costs() {
  std::vector<Cost> all = {
      {"instructions", [](Counters& c) -> uint64_t& { return c.warp_instructions; }},
      {"barriers", [](Counters& c) -> uint64_t& { return c.block_barriers; }}};
#define GLOBAL(group)                                                                             \
  all.push_back({#group ".requests", [](Counters& c) -> uint64_t& { return c.group.requests; }}); \
  all.push_back({#group ".sectors", [](Counters& c) -> uint64_t& { return c.group.sectors; }})
  GLOBAL(load);
  GLOBAL(store);
  GLOBAL(red);
  GLOBAL(atom);
#undef GLOBAL
#define SHARED(group)                                                                             \
  all.push_back({#group ".requests", [](Counters& c) -> uint64_t& { return c.group.requests; }}); \
  all.push_back({#group ".wavefronts", [](Counters& c) -> uint64_t& { return c.group.wavefronts; }})
  SHARED(shared_load);
  SHARED(shared_store);
  SHARED(shared_atom);
#undef SHARED
  return all;
}

// An access without a request has no lanes, and no access needs more wavefronts than it takes.
void keep_consistent(Counters& c) {
  for (counters::SharedTraffic* t : {&c.shared_load, &c.shared_store, &c.shared_atom}) {
    t->lanes = std::min(t->lanes, 32 * t->requests);
    t->ideal = std::min(t->ideal, t->wavefronts);
  }
}

// Checks of a step lose everything to a kernel that already has a later step's idea. That is no
// credit for a count: the kernel is another answer than the one that the task asks for.
bool is_other_step(const report::CheckResult& test) {
  return test.failure && test.failure->kind == report::CheckFailureReason::Kind::other_version;
}

bool counts(const grading::RubricCheckEntry& row) {
  return row.credit == grading::Credit::share && !row.bonus;
}

void check_file(const std::string& lab, const std::filesystem::path& file) {
  constexpr size_t kMany = 1 << 20;
  ReplayedDevice device;
  GradedLab graded(lab, file, device);
  for (const grading::RubricCheckEntry& row : graded.rubric().rows()) {
    if (!counts(row)) continue;
    const auto test = [&](const ReplayedDevice::Change& change) {
      device.begin(change);
      return graded.grade(1, {row.check}).tests.at(0);
    };
    device.forget();
    const report::CheckResult before = test({});
    if (!before.message.empty() && before.score == 0 && is_other_step(before)) continue;
    for (const Cost& cost : costs()) {
      const uint64_t most =
          device.largest([&](const Counters& c) { return cost.of(const_cast<Counters&>(c)); });
      if (most == 0) continue;
      const bool loads_shared =
          device.largest([](const Counters& c) { return c.shared_load.requests; }) > 0;
      for (const double factor : {0.99, 0.5, 0.0}) {
        // No kernel loads from shared memory what no thread has stored.
        if (factor == 0 && cost.name == "shared_store.requests" && loads_shared) continue;
        // In all launches, and in one of them.
        for (size_t launch = 0; launch <= device.counted_launches(); ++launch) {
          if (launch > 0 && most > kMany) break;
          const report::CheckResult after = test([&](size_t number, Counters& c) {
            if (launch > 0 && number != launch - 1) return;
            cost.of(c) = static_cast<uint64_t>(factor * static_cast<double>(cost.of(c)));
            keep_consistent(c);
          });
          INFO(file.string(), ", ", row.check, ": ", cost.name, " times ", factor, ", launch ",
               launch, " (0: all)\n", after.message);
          CHECK((after.score >= before.score || is_other_step(after)));
        }
      }
    }
  }
}

}  // namespace

void check_monotone(const std::string& lab) {
  for (const char* from : {"solutions", "labs"})
    check_file(lab, lab32_root() / from / lab / (lab + ".cu"));
}

TEST_EACH_LAB("grading: fewer of a counter never cost points", check_monotone, 0);

}  // namespace lab32::tests
