// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <attn/io/atomic_file.hpp>
#include <csignal>

#include "io/files.hpp"

namespace attn::io {
namespace {

using namespace attn::io::test;
using Names = std::vector<std::string>;

TEST(AtomicFile, AppearsWhenItIsCommitted) {
  TempFolder folder;
  {
    AtomicFile file(folder / "a.txt");
    file.write("one ");
    file.write("two");
    EXPECT_FALSE(std::filesystem::exists(folder / "a.txt"));
    file.commit();
  }
  EXPECT_EQ(read_bytes(folder / "a.txt"), "one two");
  EXPECT_EQ(folder.names(), Names{"a.txt"});
}

TEST(AtomicFile, WithoutACommitNothingChanges) {
  TempFolder folder;
  write_bytes(folder / "a.txt", "old");
  {
    AtomicFile file(folder / "a.txt");
    file.write("new");
  }
  EXPECT_EQ(read_bytes(folder / "a.txt"), "old");
  EXPECT_EQ(folder.names(), Names{"a.txt"});
}

// As Ctrl-C does while a large file is written; SIGKILL, since against that no handler helps.
TEST(AtomicFile, KilledMeanwhileItLeavesNothing) {
  TempFolder folder;
  const int probe = ::open(folder.path().c_str(), O_WRONLY | O_TMPFILE, 0600);
  if (probe < 0) GTEST_SKIP() << "the file system has no nameless files";
  ::close(probe);
  write_bytes(folder / "a.txt", "old");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    AtomicFile file(folder / "a.txt");
    file.write("new");
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(read_bytes(folder / "a.txt"), "old");
  EXPECT_EQ(folder.names(), Names{"a.txt"});
}

// Where /proc is not to be seen, the temporary file has a name from the start.
TEST(AtomicFile, WorksWithoutNamelessFiles) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may change the root folder";
  TempFolder folder;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (::chroot(folder.path().c_str()) != 0) ::_exit(2);
    const auto hidden_files = [] {
      return std::count_if(std::filesystem::directory_iterator("/"), {},
                           [](const auto& entry) { return entry.path().extension() == ".tmp"; });
    };
    { AtomicFile given_up("/b.txt"); }
    AtomicFile file("/a.txt");
    file.write("new");
    if (hidden_files() != 1) ::_exit(3);
    file.commit();
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_bytes(folder / "a.txt"), "new");
  EXPECT_EQ(folder.names(), Names{"a.txt"});
}

TEST(AtomicFile, KeepsPermissionsAndFollowsLinks) {
  TempFolder folder;
  std::filesystem::create_directory(folder / "real");
  write_bytes(folder / "real/a.txt", "old");
  ::chmod((folder / "real/a.txt").c_str(), 0640);
  std::filesystem::create_symlink("real/a.txt", folder / "link.txt");
  AtomicFile file(folder / "link.txt");
  file.write("new");
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.txt"));
  EXPECT_EQ(read_bytes(folder / "real/a.txt"), "new");
  struct stat found {};
  ASSERT_EQ(::stat((folder / "real/a.txt").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0640u);
}

TEST(AtomicFile, FollowsLinksToFilesThatAreNotThereYet) {
  const TempFolder folder;
  std::filesystem::create_symlink("middle.txt", folder / "link.txt");
  std::filesystem::create_symlink("new.txt", folder / "middle.txt");
  AtomicFile file(folder / "link.txt");
  file.write("new");
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.txt"));
  EXPECT_EQ(read_bytes(folder / "new.txt"), "new");
  std::filesystem::create_symlink("circle.txt", folder / "circle.txt");
  EXPECT_EQ(message_of([&] { AtomicFile(folder / "circle.txt"); }),
            (folder / "circle.txt").string() + ": is a symbolic link that leads nowhere, expected a file");
}

TEST(AtomicFile, TwoAtOnceDoNotMix) {
  TempFolder folder;
  AtomicFile first(folder / "a.txt"), second(folder / "a.txt");
  first.write("first");
  second.write("second");
  first.commit();
  EXPECT_EQ(read_bytes(folder / "a.txt"), "first");
  second.commit();
  EXPECT_EQ(read_bytes(folder / "a.txt"), "second");
}

TEST(AtomicFile, SaysWhatIsWrongWithThePath) {
  TempFolder folder;
  const std::string here = folder.path().string();
  write_bytes(folder / "file", "");
  const auto message = [](const std::string& path) { return message_of([&] { AtomicFile file(path); }); };
  EXPECT_EQ(message(here + "/no/a.txt"), here + "/no/a.txt: its folder " + here + "/no does not exist");
  EXPECT_EQ(message(here + "/file/a.txt"), here + "/file/a.txt: its folder " + here + "/file does not exist");
  EXPECT_EQ(message(here), here + ": is a folder, expected the path of a file to write");
  EXPECT_EQ(message(here + "/"), here + "/: names no file, expected the path of a file to write");
  EXPECT_EQ(message(""), ": names no file, expected the path of a file to write");
  EXPECT_EQ(message("/dev/null"), "/dev/null: is a device or a pipe, expected the path of a file to write");
  const std::string long_name = here + "/" + std::string(300, 'a');
  EXPECT_EQ(message(long_name), long_name + ": its name has 300 bytes, expected at most 255");
  EXPECT_EQ(folder.names(), Names{"file"});
}

TEST(AtomicFile, AFolderThatCannotBeWritten) {
  TempFolder folder;
  write_bytes(folder / "a.txt", "old");
  ::chmod(folder.path().c_str(), 0555);
  // Root may write anywhere, so become nobody meanwhile.
  const bool is_root = ::geteuid() == 0;
  if (is_root) {
    ASSERT_EQ(::seteuid(65534), 0);
  }
  const std::string message = message_of([&] { AtomicFile file(folder / "a.txt"); });
  if (is_root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  ::chmod(folder.path().c_str(), 0755);
  EXPECT_EQ(message, (folder / "a.txt").string() + ": cannot be created: Permission denied");
  EXPECT_EQ(read_bytes(folder / "a.txt"), "old");
}

// A limit on the size of files stands in for a full disk: the write fails half way in the same manner.
TEST(AtomicFile, AFullDiskLeavesTheOldFile) {
  TempFolder folder;
  write_bytes(folder / "a.txt", "old");
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small = {1000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message = message_of([&] {
    AtomicFile file(folder / "a.txt");
    file.write(std::string(4000, 'x'));
    file.commit();
  });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(message, (folder / "a.txt").string() + ": cannot be written: File too large");
  EXPECT_EQ(read_bytes(folder / "a.txt"), "old");
  EXPECT_EQ(folder.names(), Names{"a.txt"});
}

}  // namespace
}  // namespace attn::io
