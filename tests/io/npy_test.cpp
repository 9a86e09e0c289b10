// SPDX-License-Identifier: Apache-2.0
#include <attn/io/atomic_file.hpp>
#include <attn/io/npy.hpp>
#include <numeric>

#include "io/files.hpp"
#include "io/npy_format.hpp"
#include "support/test_data.hpp"

namespace attn::io {
namespace {

using namespace attn::io::test;
using Shape = std::vector<std::ptrdiff_t>;

const std::filesystem::path kData = attn::test::test_data("npy");

Tensor parse(const std::string& bytes) {
  const Owned owned(bytes);
  return parse_npy("x.npy", "", {owned.bytes, owned.owner});
}

// As script/goldens/npy_goldens.py fills its arrays.
template <class T>
std::vector<T> counting(std::size_t count) {
  std::vector<T> values(count);
  std::iota(values.begin(), values.end(), T(std::is_unsigned_v<T> ? 0 : -2));
  return values;
}

template <class T>
void expect_counting(const Tensor& tensor, const Shape& shape) {
  ASSERT_EQ(tensor.dtype(), dtype_of<T>);
  EXPECT_EQ(extents(tensor.shape()), shape);
  EXPECT_EQ(values_of<T>(tensor), counting<T>(static_cast<std::size_t>(tensor.size())));
}

template <class T>
void expect_same_bytes_as_numpy(const std::string& name) {
  SCOPED_TRACE(name);
  TempFolder folder;
  const Tensor tensor = read_npy(kData / name);
  expect_counting<T>(tensor, {2, 3});
  write_npy(folder / "a.npy", tensor);
  EXPECT_EQ(read_bytes(folder / "a.npy"), read_bytes(kData / name));
}

TEST(Npy, ReadsAndWritesTheBytesOfNumPy) {
  expect_same_bytes_as_numpy<float>("f4.npy");
  expect_same_bytes_as_numpy<double>("f8.npy");
  expect_same_bytes_as_numpy<std::int8_t>("i1.npy");
  expect_same_bytes_as_numpy<std::int32_t>("i4.npy");
  expect_same_bytes_as_numpy<std::int64_t>("i8.npy");
  expect_same_bytes_as_numpy<std::uint8_t>("u1.npy");
  TempFolder folder;
  for (const char* name : {"f2.npy", "b1.npy", "rank0.npy", "rank1.npy", "empty.npy"}) {
    write_npy(folder / name, read_npy(kData / name));
    EXPECT_EQ(read_bytes(folder / name), read_bytes(kData / name)) << name;
  }
}

TEST(Npy, Halves) {
  const Tensor t = read_npy(kData / "f2.npy");
  EXPECT_EQ(t.dtype(), DType::f16);
  expect_counting<float>(t.to(DType::f32), {2, 3});
}

TEST(Npy, Booleans) {
  const Tensor t = read_npy(kData / "b1.npy");
  ASSERT_EQ(t.dtype(), DType::boolean);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(t.values<bool>()[i], i % 2 == 1);
}

TEST(Npy, BigEndianIsSwapped) {
  expect_counting<float>(read_npy(kData / "big_f2.npy").to(DType::f32), {2, 3});
  expect_counting<float>(read_npy(kData / "big_f4.npy"), {2, 3});
  expect_counting<double>(read_npy(kData / "big_f8.npy"), {2, 3});
  expect_counting<std::int32_t>(read_npy(kData / "big_i4.npy"), {2, 3});
  expect_counting<std::int64_t>(read_npy(kData / "big_i8.npy"), {2, 3});
}

TEST(Npy, FortranOrderIsAMatterOfStrides) {
  const Tensor t = read_npy(kData / "fortran.npy");
  EXPECT_EQ(extents(t.strides()), (Shape{1, 2, 6}));
  expect_counting<float>(t, {2, 3, 4});
  expect_counting<float>(read_npy(kData / "big_fortran.npy"), {2, 3});
}

TEST(Npy, RanksAndVersions) {
  expect_counting<double>(read_npy(kData / "rank0.npy"), {});
  expect_counting<float>(read_npy(kData / "rank1.npy"), {5});
  expect_counting<float>(read_npy(kData / "empty.npy"), {3, 0, 2});
  expect_counting<float>(read_npy(kData / "version2.npy"), {2, 3});
  expect_counting<float>(read_npy(kData / "version3.npy"), {2, 3});
}

TEST(Npy, AnArrayKeepsTheMappingAndNeverWritesToTheFile) {
  TempFolder folder;
  write_npy(folder / "a.npy", Tensor::of<float>({1, 2}, 2));
  const std::string before = read_bytes(folder / "a.npy");
  Tensor t = read_npy(folder / "a.npy");
  t.values<float>()[1] = 5;
  EXPECT_EQ(read_bytes(folder / "a.npy"), before);
}

TEST(Npy, Bfloat16IsWrittenAsFloat32) {
  TempFolder folder;
  const Tensor t = Tensor::of<float>({1.5, -3.140625, 1e38f}, 3).to(DType::bf16);
  write_npy(folder / "a.npy", t);
  const Tensor back = read_npy(folder / "a.npy");
  EXPECT_EQ(back.dtype(), DType::f32);
  EXPECT_EQ(values_of<float>(back), values_of<float>(t.to(DType::f32)));
}

TEST(Npy, WritesStridedTensorsRowMajor) {
  TempFolder folder;
  Tensor a = Tensor::of<float>({1, 2, 3, 4, 5, 6}, 2, 3);
  write_npy(folder / "t.npy", Tensor::adopt(a.view<float, 2>().transpose(0, 1), nullptr));
  const Tensor t = read_npy(folder / "t.npy");
  EXPECT_EQ(extents(t.shape()), (Shape{3, 2}));
  EXPECT_EQ(values_of<float>(t), (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

std::string npy(const std::string& header, std::size_t data_bytes = 0, char version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += {version, '\0', static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  if (version > 1) bytes += std::string(2, '\0');
  return bytes + header + std::string(data_bytes, '\0');
}

TEST(Npy, AppearsWhenItsFileIsCommitted) {
  TempFolder folder;
  const Tensor tensor = Tensor::of<float>({1, 2}, 2);
  {
    AtomicFile given_up(folder / "x.npy");
    write_npy(given_up, tensor);
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "x.npy"));
  AtomicFile file(folder / "x.npy");
  write_npy(file, tensor);
  file.commit();
  EXPECT_EQ(values_of<float>(read_npy(folder / "x.npy")), (std::vector<float>{1, 2}));
}

TEST(Npy, TakesTheLiteralInAnyForm) {
  const char* kHeaders[] = {
      "{'shape':(2,),'descr':'<f4','fortran_order':False}",
      "{\"shape\": (2), \"descr\": \"=f4\", \"fortran_order\": True,}  \n",
      " { 'fortran_order' : False , 'shape' : ( 2 , ) , 'descr' : '|f4' , }\n",
  };
  for (const char* header : kHeaders) EXPECT_EQ(parse(npy(header, 8)).size(), 2) << header;
}

TEST(Npy, SaysWhatIsMalformed) {
  const std::string keys = "expected descr, fortran_order and shape";
  const std::string types = "expected one of f4, f8, f2, i1, i4, i8, u1, b1 after its byte order";
  const auto shaped = [](const std::string& shape, std::size_t data_bytes) {
    return npy("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}", data_bytes);
  };
  const auto typed = [](const std::string& descr) { return npy("{'descr': " + descr + "}"); };
  const struct {
    std::string bytes, message;
  } kCases[] = {
      {"", R"(begins with "", expected the 6 bytes \x93NUMPY)"},
      {"PK\3\4abc", R"(begins with "PK\u0003\u0004ab", expected the 6 bytes \x93NUMPY)"},
      {"\x93NUMPY\1", "ends before the format's version"},
      {npy("{}", 0, 4), "format version 4, expected 1 to 3"},
      {std::string("\x93NUMPY\2\0\1\0\0", 11), "ends before the header's length"},
      {npy("{}").substr(0, 11), "header: length 2 is beyond the file's end, 1 bytes are left"},
      {npy(""), R"(header: at byte 0: "", expected '{')"},
      {npy("[]"), R"(header: at byte 0: "[]", expected '{')"},
      {npy("{}"), "header: lacks a key, " + keys},
      {npy("{'shape': (), }"), "header: lacks a key, " + keys},
      {npy("{'shape': (), 'shape': ()}"), R"(header: key "shape", )" + keys + ", once each"},
      {npy("{'order': 3}"), R"(header: key "order", )" + keys + ", once each"},
      {npy("{'order"), R"(header: at byte 1: "'order", expected a string that ends)"},
      {npy("{3: 4}"), R"(header: at byte 1: "3: 4}", expected a string)"},
      {npy("{'shape' ()}"), R"(header: at byte 9: "()}", expected ':')"},
      {npy("{'shape': () 'descr'}"), R"(header: at byte 13: "'descr'}", expected ',' or '}')"},
      {npy("{'fortran_order': 1}"), R"(header: at byte 18: "1}", expected True or False)"},
      {typed("'<u2'"), R"(header: descr "<u2", )" + types},
      {typed("'|O'"), R"(header: descr "|O", )" + types},
      {typed("'f4'"), R"(header: descr "f4", )" + types},
      {typed("'!f4'"), R"(header: descr "!f4", )" + types},
      {typed("[('x', '<f4')]"), "header: descr is a list of fields, expected an array of one element type"},
      {shaped("[2]", 8), R"(header: at byte 50: "[2]}", expected '(')"},
      {shaped("(-2,)", 8), R"(header: at byte 51: "-2,)}", expected an extent from 0 to 9223372036854775807)"},
      {shaped("(9223372036854775808,)", 8),
       R"(header: at byte 51: "9223372036854775808,", expected an extent from 0 to 9223372036854775807)"},
      {shaped("(2 3)", 8), R"(header: at byte 53: "3)}", expected ',' or ')')"},
      {shaped("(2,)} x", 8), R"(header: at byte 56: "x}", expected the end)"},
      {shaped("(4294967296, 4294967296)", 8), "f32 (4294967296, 4294967296) is larger than the address space"},
      {shaped("(4294967296, 4294967296, 0)", 0), "f32 (4294967296, 4294967296, 0) is larger than the address space"},
      {shaped("(2,)", 7), "7 bytes of data, expected 8 for f32 (2); is it truncated?"},
      {shaped("(2,)", 9), "9 bytes of data, expected 8 for f32 (2)"},
      {npy("{'descr': '|b1', 'fortran_order': False, 'shape': (1,)}") + "\2",
       "element 0 of a boolean array is 2, expected 0 or 1"},
  };
  for (const auto& c : kCases) EXPECT_EQ(message_of([&] { (void)parse(c.bytes); }), "x.npy: " + c.message);
}

TEST(Npy, RefusesTypesByName) {
  const auto message = [](const char* name) { return message_of([&] { (void)read_npy(kData / name); }); };
  const auto expect = [&](const char* name, const std::string& part) {
    EXPECT_EQ(message(name).find((kData / name).string() + ": header: descr " + part), 0u) << message(name);
  };
  expect("refused_u2.npy", R"("<u2", expected one of f4,)");
  expect("refused_c8.npy", R"("<c8", expected one of f4,)");
  expect("refused_text.npy", R"("<U3", expected one of f4,)");
  expect("refused_fields.npy", "is a list of fields");
}

TEST(Npy, RefusesToWriteWhatNumPyCannotRead) {
  TempFolder folder;
  const std::string path = (folder / "a.npy").string();
  EXPECT_EQ(message_of([&] { write_npy(path, Tensor()); }), path + ": the tensor holds nothing");
  EXPECT_EQ(message_of([&] { write_npy(path, Tensor::zeros(DType::f32, Shape(33, 1))); }),
            path + ": rank 33, expected at most 32, NumPy's limit");
  EXPECT_TRUE(folder.names().empty());
}

TEST(Npy, EveryTruncationIsAnError) {
  for (const char* name : {"f4.npy", "version3.npy", "big_fortran.npy"}) {
    const std::string whole = read_bytes(kData / name);
    ASSERT_GT(whole.size(), 100u);
    for (std::size_t n = 0; n < whole.size(); ++n) {
      EXPECT_NE(message_of([&] { (void)parse(whole.substr(0, n)); }), "no error") << name << ", " << n << " bytes";
    }
  }
}

}  // namespace
}  // namespace attn::io
