// data/limits/<lab>.toml: every threshold of a lab with the reason for it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace lab32::labs {

class Limits {
 public:
  Limits();
  ~Limits();
  Limits(Limits&&) noexcept;
  Limits& operator=(Limits&&) noexcept;

  // Throws Error, naming file and line, when it is not TOML.
  explicit Limits(const std::filesystem::path& path);

  // The number at "scale.sectors". Throws Error when there is none: a threshold is never guessed.
  double number(const std::string& key) const;
  std::vector<double> numbers(const std::string& key) const;
  std::string text(const std::string& key) const;
  // The keys of the table at `key`, sorted.
  std::vector<std::string> keys(const std::string& key) const;

 private:
  [[noreturn]] void missing(const char* what, const std::string& key) const;

  struct Table;
  std::unique_ptr<Table> table_;
  std::string path_;
};

}  // namespace lab32::labs
