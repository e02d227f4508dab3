#include "grading/declared/counter_names.h"

#include <type_traits>

namespace lab32::grading {
namespace {

// Calls visit(name, value) for each number in `group`, with the names of the groups around it.
template <class Group, class Visit>
void visit_numbers(const std::string& prefix, const Group& group, const Visit& visit) {
  counters::each_counter(
      [&](const char* name, const auto& member) {
        using Member = std::decay_t<decltype(member)>;
        if constexpr (std::is_same_v<Member, uint64_t>)
          visit(prefix + name, static_cast<double>(member));
        else if constexpr (counters::kIsGroup<Member>)
          visit_numbers(prefix + name + ".", member, visit);
      },
      group);
}

template <class Visit>
void visit_all(const counters::Counters& c, const Visit& visit) {
  visit("requests", static_cast<double>(c.global_requests()));
  visit("sectors", static_cast<double>(c.global_sectors()));
  visit("wavefronts", static_cast<double>(c.shared_wavefronts()));
  visit("conflicts", static_cast<double>(c.shared_wavefronts() - c.shared_ideal()));
  visit_numbers("", c, visit);
}

}  // namespace

std::vector<std::string> counter_names() {
  std::vector<std::string> names;
  visit_all({}, [&](const std::string& name, double /*value*/) { names.push_back(name); });
  return names;
}

std::vector<double> counter_values(const counters::Counters& counters) {
  std::vector<double> values;
  visit_all(counters, [&](const std::string& /*name*/, double value) { values.push_back(value); });
  return values;
}

bool is_shared_counter(const std::string& name) {
  return name.rfind("shared_", 0) == 0 || name == "wavefronts" || name == "conflicts" ||
         name.rfind("matrix_", 0) == 0 || name.find("remote_banks") != std::string::npos;
}

}  // namespace lab32::grading
