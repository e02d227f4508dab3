// The student's source file as text: messages quote its lines, and checks find kernels and their
// uses in it. Lines are numbered from 1, and 0 stands for "none".
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lab32 {

class SourceFile {
 public:
  SourceFile() = default;
  // `display` is the name of the file in messages. Throws Error if the file cannot be read.
  SourceFile(const std::filesystem::path& path, std::string display);
  static SourceFile from_text(const std::string& text, std::string display);

  const std::string& display() const { return display_; }

  // "coalescing.cu:42\n    out[i * 4] = in[i];", or the first line alone if the file has no such
  // line. A long line is broken into rows that are indented by four or more, which the renderer
  // does not break again.
  std::string location_and_source_line(int line) const;

  // The text of the line without leading and trailing blanks; "" if there is no such line.
  std::string text_of(int line) const;

  // The last line that is not blank; 0: there is none.
  int last_line_with_text() const;

  // The line of the first `word` that is used as the name of a function or variable, such as the
  // definition of a kernel; if there is none, the line of the first LAB32_...() macro that contains
  // it; 0: none.
  int line_of_name(const std::string& word) const;

  // The first line that contains `text`; 0: none.
  int first_line_with_text(const std::string& text) const;

  // The line of the closing brace of the function that begins on `line`.
  int last_line_of_body(int line) const;

  // The first line after `line`, on which a kernel begins, that uses `word` in the body of this
  // kernel; 0: none.
  int first_use_in_kernel(const std::string& word, int line) const;

 private:
  std::string display_;
  std::vector<std::string> lines_;
};

}  // namespace lab32
