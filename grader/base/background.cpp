#include "base/background.h"

#include <exception>
#include <thread>
#include <utility>

namespace lab32 {

struct Background::State {
  std::function<void()> work;  // empty once it is done
  std::exception_ptr error;
  std::thread thread;

  void run() {
    try {
      work();
    } catch (...) {
      error = std::current_exception();
    }
    work = nullptr;
  }
  void finish() {
    if (thread.joinable())
      thread.join();
    else if (work)
      run();
  }
  ~State() {
    if (thread.joinable()) thread.join();
  }
};

Background::Background(std::function<void()> work, When when) : state_(new State) {
  state_->work = std::move(work);
  if (when == When::now) state_->thread = std::thread([state = state_.get()] { state->run(); });
}
Background::Background() = default;
Background::~Background() = default;
Background::Background(Background&&) noexcept = default;
Background& Background::operator=(Background&&) noexcept = default;

void Background::wait() { state_->finish(); }

void Background::get() {
  wait();
  if (state_->error) std::rethrow_exception(state_->error);
}

}  // namespace lab32
