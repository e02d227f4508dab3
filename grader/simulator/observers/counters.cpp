#include "simulator/observers/counters.h"

namespace lab32::counters {
namespace {

void add(uint64_t& to, uint64_t from) { to += from; }
void add(bool& to, bool from) { to = to || from; }
template <class Group>
void add(Group& to, const Group& from) {
  each_counter([](const char*, auto& sum, const auto& more) { add(sum, more); }, to, from);
}

bool counted(uint64_t count) { return count > 0; }
template <class Group>
bool counted(const Group& group) {
  bool any = false;
  each_counter([&](const char*, const auto& member) { any = any || counted(member); }, group);
  return any;
}

template <class Group>
Group sum(const Group& first, const Group& second) {
  Group all = first;
  return all += second;
}

}  // namespace

GlobalTraffic& operator+=(GlobalTraffic& to, const GlobalTraffic& from) {
  add(to, from);
  return to;
}

SharedTraffic& operator+=(SharedTraffic& to, const SharedTraffic& from) {
  add(to, from);
  return to;
}

BulkTraffic& operator+=(BulkTraffic& to, const BulkTraffic& from) {
  add(to, from);
  return to;
}

OtherTraffic& operator+=(OtherTraffic& to, const OtherTraffic& from) {
  add(to, from);
  return to;
}

Counters& operator+=(Counters& to, const Counters& from) {
  add(to, from);
  return to;
}

GlobalTraffic OtherTraffic::texels() const {
  return sum(sum(texture, surface_load), surface_store);
}
BulkTraffic OtherTraffic::bulk() const { return sum(bulk_load, bulk_store); }
GlobalTraffic OtherTraffic::remote() const {
  return sum(sum(remote_load, remote_store), remote_atom);
}
bool OtherTraffic::any() const { return counted(*this); }

}  // namespace lab32::counters
