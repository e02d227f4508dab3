#include "simulator/observers/counters.h"

#include <type_traits>

namespace lab32::counters {
namespace {

void add_counter_group(uint64_t& to, uint64_t from) { to += from; }
void add_counter_group(bool& to, bool from) { to = to || from; }
template <class Group>
void add_counter_group(Group& to, const Group& from) {
  visit_each_counter([](const char*, auto& sum, const auto& more) { add_counter_group(sum, more); },
                     to, from);
}

bool has_nonzero_counter(uint64_t count) { return count > 0; }
template <class Group>
bool has_nonzero_counter(const Group& group) {
  bool any = false;
  visit_each_counter(
      [&](const char*, const auto& member) { any = any || has_nonzero_counter(member); }, group);
  return any;
}

template <class Group>
Group sum_of_counter_groups(const Group& first, const Group& second) {
  Group all = first;
  return all += second;
}

}  // namespace

GlobalTraffic& operator+=(GlobalTraffic& to, const GlobalTraffic& from) {
  add_counter_group(to, from);
  return to;
}

SharedTraffic& operator+=(SharedTraffic& to, const SharedTraffic& from) {
  add_counter_group(to, from);
  return to;
}

BulkTraffic& operator+=(BulkTraffic& to, const BulkTraffic& from) {
  add_counter_group(to, from);
  return to;
}

TextureBulkRemoteTraffic& operator+=(TextureBulkRemoteTraffic& to,
                                     const TextureBulkRemoteTraffic& from) {
  add_counter_group(to, from);
  return to;
}

Counters& operator+=(Counters& to, const Counters& from) {
  add_counter_group(to, from);
  return to;
}

GlobalTraffic TextureBulkRemoteTraffic::texture_and_surface_traffic() const {
  return sum_of_counter_groups(sum_of_counter_groups(texture, surface_load), surface_store);
}
BulkTraffic TextureBulkRemoteTraffic::bulk() const {
  return sum_of_counter_groups(bulk_load, bulk_store);
}
GlobalTraffic TextureBulkRemoteTraffic::remote_shared_traffic() const {
  return sum_of_counter_groups(sum_of_counter_groups(remote_load, remote_store), remote_atom);
}
bool TextureBulkRemoteTraffic::any() const { return has_nonzero_counter(*this); }

namespace {

// Calls visit(name, value) for each number in `group`, with the names of the groups around it.
template <class Group, class Visit>
void visit_counters_in_group(const std::string& prefix, const Group& group, const Visit& visit) {
  visit_each_counter(
      [&](const char* name, const auto& member) {
        using Member = std::decay_t<decltype(member)>;
        if constexpr (std::is_same_v<Member, uint64_t>)
          visit(prefix + name, static_cast<double>(member));
        else if constexpr (kIsGroup<Member>)
          visit_counters_in_group(prefix + name + ".", member, visit);
      },
      group);
}

template <class Visit>
void visit_all_counters(const Counters& c, const Visit& visit) {
  visit("requests", static_cast<double>(c.global_requests()));
  visit("sectors", static_cast<double>(c.global_sectors()));
  visit("wavefronts", static_cast<double>(c.shared_wavefronts()));
  visit("conflicts", static_cast<double>(c.shared_wavefronts() - c.ideal_shared_wavefronts()));
  visit_counters_in_group("", c, visit);
}

}  // namespace

std::vector<std::string> counter_names() {
  std::vector<std::string> names;
  visit_all_counters({}, [&](const std::string& name, double /*value*/) { names.push_back(name); });
  return names;
}

std::vector<double> counter_values(const Counters& counters) {
  std::vector<double> values;
  visit_all_counters(counters,
                     [&](const std::string& /*name*/, double value) { values.push_back(value); });
  return values;
}

bool is_shared_counter(const std::string& name) {
  return name.rfind("shared_", 0) == 0 || name == "wavefronts" || name == "conflicts" ||
         name.rfind("matrix_", 0) == 0 || name.find("remote_banks") != std::string::npos;
}

bool is_global_counter(const std::string& name) {
  const auto ends_with = [&](const std::string& end) {
    return name.size() >= end.size() && name.substr(name.size() - end.size()) == end;
  };
  return !is_shared_counter(name) && (ends_with("requests") || ends_with("sectors"));
}

}  // namespace lab32::counters
