// A check of the checks: what the kernels of a lab get over one grading. A shortcut can foresee a
// parameter that has one value, and a wrong kernel can pass where a value that the task allows
// never occurs. labs/<lab>/inputs.toml lists both.

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/text.h"
#include "base/toml_file.h"
#include "device/forwarding.h"
#include "tests/fixtures/each_lab.h"
#include "tests/fixtures/graded_lab.h"

namespace lab32::tests {
namespace {

namespace fs = std::filesystem;

struct Parameter {
  std::string type;
  std::set<std::vector<std::byte>> values;  // of a number
  std::set<std::string> kinds;              // of the elements of an array that the kernel reads
};

template <class T>
void note_kinds(const std::vector<std::byte>& bytes, std::set<std::string>& kinds) {
  using Limits = std::numeric_limits<T>;
  const size_t count = bytes.size() / sizeof(T);
  bool zero = false, minus_zero = false, largest = false, lowest = false, negative = false,
       nan = false, inf = false, minus_inf = false, denormal = false;
  for (size_t i = 0; i < count; ++i) {
    T v;
    std::memcpy(&v, &bytes[i * sizeof(T)], sizeof(T));
    const bool sign = std::is_floating_point_v<T> && std::signbit(static_cast<double>(v));
    zero |= v == 0 && !sign;
    minus_zero |= v == 0 && sign;
    largest |= v == Limits::max();
    lowest |= v == Limits::lowest() && v != 0;
    negative |= v < 0;
    if constexpr (std::is_floating_point_v<T>) {
      nan |= v != v;
      inf |= v == Limits::infinity();
      minus_inf |= v == -Limits::infinity();
      denormal |= v != 0 && std::abs(v) < Limits::min();
    }
  }
  const std::pair<const char*, bool> found[] = {
      {"none", count == 0},   {"one", count == 1},   {"0", zero},
      {"-0", minus_zero},     {"largest", largest},  {"lowest", lowest},
      {"negative", negative}, {"nan", nan},          {"inf", inf},
      {"-inf", minus_inf},    {"denormal", denormal}};
  for (const auto& [name, occurs] : found)
    if (occurs) kinds.insert(name);
}

class ObservedDevice : public device::ForwardingDevice {
 public:
  ObservedDevice() : ForwardingDevice(device::open_device("sim")) {}

  device::DeviceAddressRange allocate(uint64_t bytes, const std::string& name) override {
    const device::DeviceAddressRange buffer = ForwardingDevice::allocate(bytes, name);
    arrays_[buffer.address] = buffer;
    names_[buffer.address] = name;
    return buffer;
  }
  void release(device::DeviceAddressRange buffer) override {
    arrays_.erase(buffer.address);
    ForwardingDevice::release(buffer);
  }
  device::LaunchResult launch(device::Kernel& kernel, const device::LaunchShape& shape,
                              const std::vector<device::KernelArgument>& args,
                              const device::LaunchOptions& options) override {
    const device::KernelInfo& info = kernel.info();
    for (size_t i = 0; i < args.size() && i < info.parameter_types.size(); ++i)
      note(info.name, info.parameter_types[i], i, args[i]);
    return ForwardingDevice::launch(kernel, shape, args, options);
  }

  // "scale.in", "scale.3"
  std::map<std::string, Parameter> parameters;

 private:
  void note(const std::string& kernel, const std::string& type, size_t index,
            const device::KernelArgument& arg) {
    static const RegularExpression space("^.*::"), values("<.*$");
    const std::string short_name = space.replace(values.replace(kernel, ""), "");
    uint64_t address = 0;
    if (type.back() == '*') std::memcpy(&address, arg.bytes().data(), sizeof address);
    const auto array = arrays_.find(address);
    if (type.back() == '*' && array == arrays_.end()) return;
    const std::string name = type.back() == '*' ? names_.at(address) : std::to_string(index + 1);
    Parameter& p = parameters[short_name + "." + name];
    p.type = type;
    if (type.back() != '*') {
      p.values.insert(arg.bytes());
      return;
    }
    if (type.find("const*") == std::string::npos) return;
    std::vector<std::byte> bytes(array->second.bytes);
    download(bytes.data(), array->second, bytes.size());
    if (type == "float const*") note_kinds<float>(bytes, p.kinds);
    if (type == "int const*") note_kinds<int>(bytes, p.kinds);
    if (type == "short const*") note_kinds<short>(bytes, p.kinds);
    if (type == "unsigned int const*") note_kinds<unsigned>(bytes, p.kinds);
    if (type == "unsigned char const*") note_kinds<unsigned char>(bytes, p.kinds);
  }

  std::map<uint64_t, device::DeviceAddressRange> arrays_;
  std::map<uint64_t, std::string> names_;
};

std::set<std::string> texts(const toml::node* node) {
  std::set<std::string> found;
  if (node && node->as_array())
    for (const toml::node& each : *node->as_array()) found.insert(each.value_or(std::string()));
  return found;
}

std::string joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "\"" : ", \"") + word + "\"";
  return "[" + text + "]";
}

}  // namespace

void check_inputs_unchanged(const std::string& lab) {
  const fs::path file = folder_of(lab) / "inputs.toml";
  // A lab without the file has no parameter that may be constant; its values are not compared.
  const bool has_file = is_core(lab) || fs::exists(file);
  const toml::table table =
      has_file ? read_toml(file)
               : toml::table{{"values", toml::table{}}, {"constant", toml::table{}}};
  ObservedDevice device;
  GradedLab solution(lab, lab32_root() / "solutions" / lab / (lab + ".cu"), device);
  for (const uint64_t seed : {1, 2})
    for (const report::CheckResult& test : solution.grade(seed).tests)
      CHECK_MESSAGE((test.bonus || test.status == report::Status::passed), test.name, ": ",
                    test.message);
  const toml::table& values = *table.at_path("values").as_table();
  const toml::table& constant = *table.at_path("constant").as_table();
  std::set<std::string> seen;
  for (const auto& [name, p] : device.parameters) {
    seen.insert(name);
    if (p.type.find("const*") != std::string::npos) {
      if (!has_file) continue;
      // A kernel of structures has no kinds.
      const bool listed = values.contains(name);
      CHECK_MESSAGE((listed || p.kinds.empty()), name, " of ", file.string(), " lacks a list: \"",
                    name, "\" = ", joined(p.kinds));
      if (listed)
        CHECK_MESSAGE(texts(values.get(name)) == p.kinds, "\"", name, "\" = ", joined(p.kinds),
                      " are the values that occur; ", file.string(), " lists those that the task ",
                      "allows");
    } else if (p.type.back() != '*') {
      const bool exempt = constant.contains(name);
      CHECK_MESSAGE((p.values.size() > 1) != exempt, name, " (", p.type, ") has ", p.values.size(),
                    " values over a grading, and ", file.string(),
                    exempt ? " says that it has one" : " has no reason for that");
    }
  }
  for (const toml::table* each : {&values, &constant})
    for (auto&& [name, node] : *each)
      CHECK_MESSAGE(seen.count(std::string(name.str())) == 1, file.string(), " names ", name.str(),
                    ", which no kernel has");
}

TEST_EACH_LAB("grading: inputs are those that the task allows, and vary", check_inputs_unchanged,
              0);

}  // namespace lab32::tests
