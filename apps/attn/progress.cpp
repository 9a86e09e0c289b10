// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "command.hpp"

namespace attn::app {
namespace {

constexpr std::chrono::milliseconds kQuiet{1000};    // shorter work needs no bar
constexpr std::chrono::milliseconds kInterval{100};  // between two drawings
constexpr std::size_t kWidth = 30;
constexpr const char* kWipe = "\r\x1b[K";  // to the start of the line, and clears it

}  // namespace

Progress::Progress(bool is_shown) {
  if (is_shown) drawer_ = std::thread([this] { draw_until_done(); });
}

Progress::~Progress() {
  if (!drawer_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_done_ = true;
  }
  done_changed_.notify_one();
  drawer_.join();
  wipe();
}

void Progress::stage(std::string what, std::size_t total, std::size_t first) {
  const std::lock_guard lock(mutex_);
  what_ = std::move(what);
  note_.clear();
  total_ = total;
  done_ = first_ = first;
  stage_start_ = Clock::now();
  is_hidden_ = false;
}

void Progress::update(std::size_t done, std::string note) {
  const std::lock_guard lock(mutex_);
  done_ = done;
  note_ = std::move(note);
  is_hidden_ = false;
}

void Progress::hide() {
  const std::lock_guard lock(mutex_);
  is_hidden_ = true;
  wipe();
}

void Progress::draw_until_done() {
  std::unique_lock lock(mutex_);
  while (!done_changed_.wait_for(lock, kInterval, [this] { return is_done_; })) {
    const Clock::time_point now = Clock::now();
    if (!is_hidden_ && now - start_ >= kQuiet) draw(now);
  }
}

void Progress::draw(Clock::time_point now) {
  const double seconds = std::chrono::duration<double>(now - stage_start_).count();
  std::string line = kWipe + what_;
  if (total_ == 0) {
    line += fmt::format(": {:.0f} s", seconds);
  } else {
    const std::size_t filled = kWidth * std::min(done_, total_) / total_;
    line += fmt::format(" [{:#<{}}{:.<{}}] {} of {}", "", filled, "", kWidth - filled, done_, total_);
    const double each = seconds / static_cast<double>(std::max<std::size_t>(done_ - first_, 1));
    if (!note_.empty()) line += ", " + note_;
    if (done_ != first_) line += fmt::format(", {:.0f} s left", each * static_cast<double>(total_ - done_));
  }
  say(line);
  std::fflush(stderr);
  is_drawn_ = true;
}

void Progress::wipe() {
  if (is_drawn_) say(kWipe);
  is_drawn_ = false;
}

}  // namespace attn::app
