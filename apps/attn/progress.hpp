// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>

namespace attn::app {

// One line on standard error that tells how far the work has come, drawn over again by a thread of its own, so that a
// long step moves as well. Work of less than a second shows nothing. The line is wiped at the end.
class Progress {
 public:
  // Shows nothing at all unless `is_shown`.
  explicit Progress(bool is_shown);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // What is being done from now on: a bar when the number of things to do is known, else the seconds it takes.
  // `first` of them are done already, and say nothing of the time that the others take.
  void stage(std::string what, std::size_t total = 0, std::size_t first = 0);
  // `note` stands behind the bar: a loss, a speed.
  void update(std::size_t done, std::string note = {});
  // Wipes the line so that something else can be printed; `stage` and `update` show it again.
  void hide();

 private:
  using Clock = std::chrono::steady_clock;

  void draw_until_done();
  void draw(Clock::time_point now);
  void wipe();

  std::mutex mutex_;  // of everything below
  std::condition_variable done_changed_;
  std::string what_, note_;
  std::size_t total_ = 0, done_ = 0, first_ = 0;
  bool is_done_ = false, is_hidden_ = true, is_drawn_ = false;
  Clock::time_point start_ = Clock::now(), stage_start_ = start_;
  std::thread drawer_;
};

}  // namespace attn::app
