#include "pictures/shown.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "pictures/json.h"
#include "pictures/text.h"

namespace lab32::pictures {

std::string heading(const Shown& shown) {
  std::string out;
  if (!shown.check.empty())
    for (const std::string& line :
         wrap(fmt::format("{}, {}: {}", shown.lab, shown.check, shown.file), 80))
      out += line + "\n";
  if (!shown.message.empty())
    for (const std::string& line : wrap(shown.message, 78)) out += "  " + line + "\n";
  return visible(out);
}

std::string text(const Shown& shown, bool colour) {
  const std::string out = heading(shown);
  std::string drawn = text(shown.launch, colour);
  drawn.erase(0, drawn.find_first_not_of('\n'));
  return out + (out.empty() ? "" : "\n") + drawn;
}

std::string json(const Shown& shown) {
  const nlohmann::ordered_json record = {{"schema", "lab32-pictures/1"},
                                         {"lab", shown.lab},
                                         {"check", shown.check},
                                         {"file", visible(shown.file)},
                                         {"message", visible(shown.message)},
                                         {"launch", to_json(shown.launch)}};
  return record.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace lab32::pictures
