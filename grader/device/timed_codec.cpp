#include "device/timed_codec.h"

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace lab32::device {
namespace {

using nlohmann::json;

json to_json(const Samples& s) { return {s.name, s.cold, s.warm}; }
Samples samples_of(const json& j) { return {j.at(0), j.at(1), j.at(2)}; }

json to_json(const std::optional<Clocks>& c) {
  return c ? json{c->sm_mhz, c->memory_mhz, c->throttled} : json();
}
std::optional<Clocks> clocks_of(const json& j) {
  if (j.is_null()) return std::nullopt;
  return Clocks{j.at(0), j.at(1), j.at(2)};
}

json to_json(const TimedOutput& o) {
  json arrays = json::array();
  for (const auto& a : o.arrays) {
    const auto* begin = reinterpret_cast<const uint8_t*>(a.data());
    arrays.push_back(json::binary({begin, begin + a.size()}));
  }
  return {o.contender, o.set, o.rounds, arrays};
}
TimedOutput output_of(const json& j) {
  TimedOutput o;
  o.contender = j.at(0);
  o.set = j.at(1);
  o.rounds = j.at(2);
  for (const json& a : j.at(3)) {
    const auto& bytes = a.get_binary();
    const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
    o.arrays.emplace_back(begin, begin + bytes.size());
  }
  return o;
}

json to_json(const Timing& t) {
  json contenders = json::array(), outputs = json::array();
  for (const Samples& s : t.contenders) contenders.push_back(to_json(s));
  for (const TimedOutput& o : t.outputs) outputs.push_back(to_json(o));
  return {{"contenders", contenders},
          {"copy", to_json(t.copy)},
          {"yardstick", t.yardstick ? to_json(*t.yardstick) : json()},
          {"outputs", outputs},
          {"before", to_json(t.before)},
          {"after", to_json(t.after)},
          {"l2_bytes", t.l2_bytes},
          {"peak_bandwidth", t.peak_bandwidth}};
}
Timing timing_of(const json& j) {
  Timing t;
  for (const json& s : j.at("contenders")) t.contenders.push_back(samples_of(s));
  t.copy = samples_of(j.at("copy"));
  if (!j.at("yardstick").is_null()) t.yardstick = samples_of(j.at("yardstick"));
  for (const json& o : j.at("outputs")) t.outputs.push_back(output_of(o));
  t.before = clocks_of(j.at("before"));
  t.after = clocks_of(j.at("after"));
  t.l2_bytes = j.at("l2_bytes");
  t.peak_bandwidth = j.at("peak_bandwidth");
  return t;
}

}  // namespace

std::vector<std::byte> encode(const Timed& timed) {
  json j;
  if (timed.timing) j["timing"] = to_json(*timed.timing);
  if (timed.fault) j["fault"] = {timed.fault->kind, timed.fault->message};
  const std::vector<uint8_t> bytes = json::to_cbor(j);
  const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
  return {begin, begin + bytes.size()};
}

Timed decode(const std::vector<std::byte>& bytes) {
  try {
    const auto* begin = reinterpret_cast<const uint8_t*>(bytes.data());
    const json j = json::from_cbor(begin, begin + bytes.size());
    Timed timed;
    if (j.contains("timing")) timed.timing = timing_of(j["timing"]);
    if (j.contains("fault")) timed.fault = Fault{j["fault"].at(0), "", 0, j["fault"].at(1)};
    return timed;
  } catch (const json::exception& e) {
    throw Error(std::string("the timing process's answer is damaged: ") + e.what());
  }
}

}  // namespace lab32::device
