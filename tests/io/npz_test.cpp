// SPDX-License-Identifier: Apache-2.0
#include <attn/io/npy.hpp>

#include "io/files.hpp"
#include "io/npy_format.hpp"
#include "support/test_data.hpp"

namespace attn::io {
namespace {

using namespace attn::io::test;
using Shape = std::vector<std::ptrdiff_t>;

const std::filesystem::path kData = attn::test::test_data("npy");

std::map<std::string, Tensor> parse(const std::string& bytes) {
  const Owned owned(bytes);
  return parse_npz("x.npz", {owned.bytes, owned.owner});
}

std::string message(const std::string& bytes) {
  return message_of([&] { (void)parse(bytes); });
}

// The archives of script/goldens/npy_goldens.py.
void expect_golden(const std::map<std::string, Tensor>& found) {
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(values_of<float>(found.at("q")), (std::vector<float>{-2, -1, 0, 1, 2, 3}));
  EXPECT_EQ(extents(found.at("q").shape()), (Shape{2, 3}));
  EXPECT_EQ(found.at("long name/k").values<std::int64_t>()[39], 37);
  EXPECT_FALSE(found.at("名").values<bool>()[0]);
  EXPECT_TRUE(found.at("名").values<bool>()[1]);
  EXPECT_EQ(values_of<double>(found.at("scalar")), std::vector<double>{-2});
}

TEST(Npz, ReadsWhatNumPyWrites) {
  expect_golden(read_npz(kData / "stored.npz"));
  expect_golden(read_npz(kData / "deflated.npz"));
  EXPECT_TRUE(read_npz(kData / "none.npz").empty());
}

TEST(Npz, WritesWhatItReads) {
  TempFolder folder;
  const auto arrays = read_npz(kData / "stored.npz");
  write_npz(folder / "a.npz", arrays);
  expect_golden(read_npz(folder / "a.npz"));
  write_npz(folder / "b.npz", arrays);
  EXPECT_EQ(read_bytes(folder / "a.npz"), read_bytes(folder / "b.npz"));
  write_npz(folder / "none.npz", {});
  EXPECT_TRUE(read_npz(folder / "none.npz").empty());
  write_npz(folder / "h.npz", {{"h", Tensor::of<float>({1, -2}, 2).to(DType::bf16)}});
  EXPECT_EQ(values_of<float>(read_npz(folder / "h.npz").at("h")), (std::vector<float>{1, -2}));
}

TEST(Npz, RefusesNamesThatDoNotFit) {
  TempFolder folder;
  const std::string path = (folder / "a.npz").string();
  const std::string refused = message_of([&] {
    write_npz(path, {{std::string(70000, 'n'), Tensor::zeros(DType::f32)}});
  });
  EXPECT_EQ(refused,
            path + ": array \"" + std::string(120, 'n') + "\"...: name of 70000 bytes, expected at most 65531");
  EXPECT_EQ(message_of([&] { write_npz(path, {{"x", Tensor()}}); }), path + ": array \"x\": the tensor holds nothing");
  EXPECT_TRUE(folder.names().empty());
}

// An archive of our own, of one f32 array "x" of two elements, and where its parts begin.
struct Archive {
  std::string bytes;
  std::size_t directory, end64, end;

  Archive() {
    TempFolder folder;
    write_npz(folder / "a.npz", {{"x", Tensor::of<float>({1, 2}, 2)}});
    bytes = read_bytes(folder / "a.npz");
    directory = bytes.find("PK\1\2");
    end64 = bytes.find("PK\6\6");
    end = bytes.find("PK\5\6");
  }
  // The same with `text` written over the byte at `at` and those after it.
  std::string with(std::size_t at, const std::string& text) const {
    return std::string(bytes).replace(at, text.size(), text);
  }
};

TEST(Npz, SaysWhatIsMalformed) {
  const Archive a;
  ASSERT_EQ(message(a.bytes), "no error");
  const std::string none = "x.npz: has no zip directory at its end, expected a whole .npz file; is it truncated?";
  EXPECT_EQ(message(""), none);
  EXPECT_EQ(message("PK\5\6"), none);
  EXPECT_EQ(message(a.with(a.end, "x")), none);
  EXPECT_EQ(message(a.bytes + "x"), none);
  EXPECT_EQ(message(a.bytes.substr(a.end)), "x.npz: has no zip64 locator, expected one");
  EXPECT_EQ(message(a.with(a.end - 20, "x")),
            "x.npz: byte " + std::to_string(a.end - 20) + " holds no zip64 locator, expected one");
  EXPECT_EQ(message(a.with(a.end64, "x")),
            "x.npz: byte " + std::to_string(a.end64) + " holds no zip64 end record, expected one");
  EXPECT_EQ(message(a.with(a.end - 12, std::string(8, '\xff'))),
            "x.npz: zip64 end record at byte 18446744073709551615 ends beyond the file's " +
                std::to_string(a.bytes.size()) + " bytes; is it truncated?");
  EXPECT_EQ(message(a.with(a.end64 + 32, "\2")),
            "x.npz: byte " + std::to_string(a.end64) + " holds no directory entry, expected one");
  EXPECT_EQ(message(a.with(0, "x")), "x.npz: byte 0 holds no local header, expected one");
  const std::string member = "x.npz: member \"x.npy\": ";
  EXPECT_EQ(message(a.with(a.directory + 8, "\1")), member + "is encrypted, expected a plain one");
  EXPECT_EQ(message(a.with(a.directory + 10, "\x0c")),
            member + "compression method 12, expected 0 (stored) or 8 (deflated)");
  EXPECT_EQ(message(a.with(a.directory + 30, "\x08")),
            "x.npz: member \"x.npy\": its extra fields end beyond their length");
  EXPECT_EQ(message(a.with(a.directory + 46 + 5 + 2, "\x08")), member + "its zip64 field is too short");
  EXPECT_EQ(message(a.with(a.directory + 46 + 5 + 4, "\x10")), member + "136 bytes stored, expected 16");
  EXPECT_EQ(message(a.with(a.directory + 46 + 5 + 12 + 7, "\x10")),
            member + "overlaps another, or ends beyond the file");
  EXPECT_EQ(message(a.with(a.directory + 46 + 3, "x")),
            "x.npz: member \"x.nxy\": expected only arrays, whose names end in .npy");
  const std::string damaged = message(a.with(a.directory - 1, "\x7f"));
  EXPECT_EQ(damaged.find(member + "checksum "), 0u) << damaged;
  EXPECT_NE(damaged.find("; is the file damaged?"), std::string::npos);
}

TEST(Npz, SaysWhatIsWrongWithDeflatedMembers) {
  const std::string whole = read_bytes(kData / "deflated.npz");
  const std::size_t directory = whole.find("PK\1\2");
  ASSERT_NE(directory, std::string::npos);
  std::string huge = whole;
  huge.replace(directory + 24, 4, "\xff\xff\xff\x7f");
  EXPECT_NE(message(huge).find("bytes deflated, which cannot hold the 2147483647 it should"), std::string::npos);
  std::string longer = whole;
  longer[directory + 24] = static_cast<char>(longer[directory + 24] + 1);
  EXPECT_NE(message(longer).find("its deflated data give 152 bytes, expected 153; is the file damaged?"),
            std::string::npos)
      << message(longer);
}

TEST(Npz, ANameThatOccursTwiceIsAnError) {
  TempFolder folder;
  write_npz(folder / "a.npz", {{"x", Tensor::of<float>({1}, 1)}, {"y", Tensor::of<float>({1}, 1)}});
  std::string bytes = read_bytes(folder / "a.npz");
  bytes.at(bytes.rfind("y.npy")) = 'x';
  EXPECT_EQ(message(bytes), "x.npz: member \"x.npy\": occurs twice");
}

TEST(Npz, EveryTruncationAndEveryChangedByteIsSafe) {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    const std::string whole = read_bytes(kData / name);
    for (std::size_t n = 0; n < whole.size(); ++n) {
      EXPECT_NE(message(whole.substr(0, n)), "no error") << name << ", " << n << " bytes";
      std::string changed = whole;
      changed[n] = static_cast<char>(~changed[n]);
      (void)message(changed);  // may be harmless (a date), must not crash
    }
  }
}

}  // namespace
}  // namespace attn::io
