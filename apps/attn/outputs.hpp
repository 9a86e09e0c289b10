// SPDX-License-Identifier: Apache-2.0
// How a verb writes its result: files whole under no name yet, then what it says on standard output, then the files put
// in place. So a full disk and a standard output that cannot be written both leave everything as it was.
#pragma once

#include <attn/io/atomic_file.hpp>
#include <deque>
#include <filesystem>
#include <vector>

namespace attn::app {

// Throws Error when `file` cannot be written, or is one of the files that the verb reads; for before the work is done.
void check_output(const std::filesystem::path& file, const std::vector<std::filesystem::path>& inputs);

// The same for a folder that is made if absent, without making it.
void check_output_folder(const std::filesystem::path& folder);

// Brings what was printed to where it goes. Throws Error when that fails: printing itself only fills a buffer.
void flush_output();

// Makes a folder for results, which is taken away again at the end of the scope if nothing was put into it.
// Throws Error when it cannot be made.
class OutputFolder {
 public:
  explicit OutputFolder(const std::filesystem::path& folder);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

 private:
  std::filesystem::path folder_, made_;  // the whole path, and the first part of it that was not there
};

// The files of one result, which appear together.
class OutputFiles {
 public:
  io::AtomicFile& add(const std::filesystem::path& file) { return files_.emplace_back(file); }
  // After the result has been told on standard output: brings that out, and then puts the files in place.
  void commit();

 private:
  std::deque<io::AtomicFile> files_;
};

}  // namespace attn::app
