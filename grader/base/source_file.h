// The student's file as text, to quote from.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lab32 {

class SourceFile {
 public:
  SourceFile() = default;
  // `display` is how messages call it. Throws Error when it cannot be read.
  SourceFile(const std::filesystem::path& path, std::string display);
  static SourceFile of_text(const std::string& text, std::string display);

  const std::string& display() const { return display_; }

  // "coalescing.cu:42\n    out[i * 4] = in[i];" - or the first line alone where there is no such
  // line. A long line is broken, its rows indented by four and more: the renderer keeps such rows
  // whole.
  std::string quote(int line) const;

  // Its text, without the blanks around it; "": there is no such line.
  std::string text_of(int line) const;

  // Line of the first `word` that is used as a function's or variable's name, such as that of a
  // kernel's definition; where there is none, of the first LAB32_...() that has it; 0: none.
  int find(const std::string& word) const;

  // Of the first line that has `text`; 0: none.
  int find_text(const std::string& text) const;

  // The last line of the braces that open on `line` or below: of the function that begins there.
  int end_of_body(int line) const;

  // The first line below `line`, where a kernel begins, that uses `word` in this kernel; 0: none.
  int find_use(const std::string& word, int line) const;

 private:
  std::string display_;
  std::vector<std::string> lines_;
};

}  // namespace lab32
