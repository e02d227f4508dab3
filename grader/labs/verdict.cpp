#include "labs/verdict.h"

#include <utility>

#include "labs/session.h"

namespace lab32::labs {

Verdict& verdict() {
  static Verdict current;
  return current;
}

void measured(std::string text) { verdict().measured = std::move(text); }
void wanted(std::string text) { verdict().wanted = std::move(text); }
void figure(const std::string& name, double value) { verdict().figures[name] = value; }

void explain(int line, const std::string& message) {
  Verdict& v = verdict();
  if (!v.message.empty()) v.message += "\n";
  if (line > 0) {
    if (v.line == 0) v.line = line;
    v.message += session().source.quote(line) + "\n";
  }
  v.message += message;
}

void credit(double ideal, double reached) {
  // Nothing moved where nothing had to: full credit, not 0 / 0.
  if (reached > ideal) verdict().credit *= ideal / reached;
}

void lose(int line, const std::string& message) {
  verdict().lost = true;
  explain(line, message);
  throw TestOver{};
}

void not_run(const std::string& reason) {
  verdict().not_run = true;
  verdict().message = reason;
  throw TestOver{};
}

}  // namespace lab32::labs
