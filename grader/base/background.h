// Work that goes on meanwhile. Not std::async: for each kind of result that one is asked for, GCC
// writes a hundred functions.
#pragma once

#include <functional>
#include <memory>

namespace lab32 {

class Background {
 public:
  // On a thread of its own, or on that of the first who waits.
  enum class When { now, when_waited_for };

  Background();  // nothing to wait for
  explicit Background(std::function<void()> work, When when = When::now);
  // What has been started is waited for; what it throws is lost.
  ~Background();
  Background(Background&&) noexcept;
  Background& operator=(Background&&) noexcept;

  bool valid() const { return state_ != nullptr; }
  // Until it is done. Only where valid(); may be called again.
  void wait();
  // As wait(); throws what the work has thrown, each time.
  void get();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lab32
