#include "runtime/profiler/command_words.h"

#include "runtime/profiler/nvcc_words.h"

namespace lab32::profiler {

CommandWords split_command(const std::vector<std::string>& words,
                           const std::function<std::optional<bool>(const std::string&)>& is_ours) {
  CommandWords split;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool option = word.size() > 1 && word[0] == '-';
    const auto has_value = option ? is_ours(word.substr(0, word.find('='))) : std::nullopt;
    auto& whose = has_value ? split.ours : option ? split.program.words : split.arguments;
    if (option) {
      whose.push_back(word);
      const bool apart =
          has_value ? *has_value && word.find('=') == std::string::npos : takes_value(word);
      if (apart && i + 1 < words.size()) whose.push_back(words[++i]);
    } else if (split.program.file.empty()) {
      split.program.file = word;
    } else if (is_source(split.program.file) && is_input(word)) {
      split.program.words.push_back(word);
    } else {
      split.arguments.push_back(word);
    }
  }
  return split;
}

}  // namespace lab32::profiler
