// SPDX-License-Identifier: Apache-2.0
#include <attn/io/safetensors.hpp>

#include "io/files.hpp"

namespace attn::io {
namespace {

using namespace attn::io::test;
using Shape = std::vector<std::ptrdiff_t>;
using Names = std::vector<std::string>;

std::string with_length(const std::string& json) {
  const std::uint64_t length = json.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + json;
}

std::string floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

SafeTensors parse(const std::string& bytes) {
  Owned owned(bytes);
  return SafeTensors::from_memory(owned.bytes, owned.owner, "x.safetensors");
}

// Names of all dtypes, an empty and a scalar tensor, metadata: what the writer makes.
std::string valid_file() {
  TempFolder folder;
  write_safetensors(folder / "a.safetensors",
                    {{"f32", Tensor::of<float>({1, 2, 3, 4, 5, 6}, 2, 3)},
                     {"f64", Tensor::of<double>({0.1, -0.2}, 2)},
                     {"bf16", Tensor::of<float>({1, -2, 3}, 3).to(DType::bf16)},
                     {"f16", Tensor::of<float>({0.5, 2}, 1, 2).to(DType::f16)},
                     {"i8", Tensor::of<std::int8_t>({-1, 2, 3}, 3)},
                     {"u8", Tensor::of<std::uint8_t>({255}, 1)},
                     {"bool", Tensor::of<bool>({true, false, true}, 3)},
                     {"i32", Tensor::of<std::int32_t>({-7, 8}, 2)},
                     {"i64", Tensor::of<std::int64_t>({-9}, 1)},
                     {"scalar", Tensor::of<float>({4.5})},
                     {"empty", Tensor::empty(DType::f64, 3, 0)}},
                    {{"made_by", "a test"}, {"名", "值"}});
  return read_bytes(folder / "a.safetensors");
}

TEST(SafeTensors, WritesWhatItReads) {
  const std::string bytes = valid_file();
  const SafeTensors file = parse(bytes);
  EXPECT_EQ(file.names(), (Names{"bf16", "bool", "empty", "f16", "f32", "f64", "i32", "i64", "i8", "scalar", "u8"}));
  EXPECT_EQ(file.metadata(), (std::map<std::string, std::string>{{"made_by", "a test"}, {"名", "值"}}));
  EXPECT_EQ(file.info("f32").dtype, DType::f32);
  EXPECT_EQ(file.info("f32").shape, (Shape{2, 3}));
  EXPECT_EQ(values_of<float>(file.tensor("f32")), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(values_of<double>(file.tensor("f64")), (std::vector<double>{0.1, -0.2}));
  EXPECT_EQ(values_of<float>(file.tensor("bf16").to(DType::f32)), (std::vector<float>{1, -2, 3}));
  EXPECT_EQ(values_of<float>(file.tensor("f16").to(DType::f32)), (std::vector<float>{0.5, 2}));
  EXPECT_EQ(values_of<std::int8_t>(file.tensor("i8")), (std::vector<std::int8_t>{-1, 2, 3}));
  EXPECT_EQ(values_of<std::uint8_t>(file.tensor("u8")), (std::vector<std::uint8_t>{255}));
  EXPECT_EQ(values_of<std::int32_t>(file.tensor("i32")), (std::vector<std::int32_t>{-7, 8}));
  EXPECT_EQ(values_of<std::int64_t>(file.tensor("i64")), (std::vector<std::int64_t>{-9}));
  const Tensor flags = file.tensor("bool");
  EXPECT_TRUE(flags.values<bool>()[0] && !flags.values<bool>()[1] && flags.values<bool>()[2]);
  EXPECT_EQ(file.tensor("scalar").rank(), 0);
  EXPECT_EQ(values_of<float>(file.tensor("scalar")), std::vector<float>{4.5});
  EXPECT_EQ(extents(file.tensor("empty").shape()), (Shape{3, 0}));
  // The data begin at a multiple of 8.
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ(length % 8, 0u);
}

TEST(SafeTensors, ATensorKeepsTheMappingAndNeverWritesToTheFile) {
  TempFolder folder;
  write_safetensors(folder / "a.safetensors", {{"x", Tensor::of<float>({1, 2}, 2)}});
  const std::string before = read_bytes(folder / "a.safetensors");
  Tensor x;
  {
    const SafeTensors file = SafeTensors::open(folder / "a.safetensors");
    x = file.tensor("x");
    const Tensor same = file.tensor("x");
    EXPECT_EQ(std::as_const(x).data(), same.data());  // no copy
  }
  x.values<float>()[0] = 7;
  EXPECT_EQ(values_of<float>(x), (std::vector<float>{7, 2}));
  EXPECT_EQ(read_bytes(folder / "a.safetensors"), before);
  // Replacing the file leaves the open one as it was.
  write_safetensors(folder / "a.safetensors", {{"x", Tensor::of<float>({3, 4}, 2)}});
  EXPECT_EQ(values_of<float>(x), (std::vector<float>{7, 2}));
  EXPECT_EQ(values_of<float>(SafeTensors::open(folder / "a.safetensors").tensor("x")), (std::vector<float>{3, 4}));
}

TEST(SafeTensors, UnalignedDataAreCopied) {
  for (int pad = 0; pad < 8; ++pad) {
    const std::string json = R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                             R"("x":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}})" +
                             std::string(static_cast<std::size_t>(pad), ' ');
    const Tensor x = parse(with_length(json) + "\x09" + floats({1.5, -2})).tensor("x");
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x.data()) % alignof(float), 0u);
    EXPECT_EQ(values_of<float>(x), (std::vector<float>{1.5, -2}));
  }
}

TEST(SafeTensors, WritesStridedTensorsRowMajor) {
  TempFolder folder;
  Tensor a = Tensor::of<float>({1, 2, 3, 4, 5, 6}, 2, 3);
  const Tensor transposed = Tensor::adopt(a.view<float, 2>().transpose(0, 1), nullptr);
  write_safetensors(folder / "t.safetensors", {{"t", transposed}});
  const Tensor t = SafeTensors::open(folder / "t.safetensors").tensor("t", {3, 2}, {DType::f32});
  EXPECT_EQ(values_of<float>(t), (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

TEST(SafeTensors, ChecksWhatIsAskedFor) {
  const SafeTensors file = parse(valid_file());
  EXPECT_EQ(file.tensor("f32", {2, -1}, {DType::f16, DType::f32}).rank(), 2);
  const auto message = [&](const Shape& shape, const std::vector<DType>& dtypes) {
    return message_of([&] { (void)file.tensor("i8", shape, dtypes); });
  };
  EXPECT_EQ(message({4}, {}), R"(x.safetensors: tensor "i8": shape (3), expected (4))");
  EXPECT_EQ(message({3, 1}, {}), R"(x.safetensors: tensor "i8": shape (3), expected (3, 1))");
  EXPECT_EQ(message({3}, {DType::f32, DType::f16, DType::bf16}),
            R"(x.safetensors: tensor "i8": dtype I8, expected F32, F16 or BF16)");
  EXPECT_EQ(message({3}, {DType::f32}), R"(x.safetensors: tensor "i8": dtype I8, expected F32)");
}

TEST(SafeTensors, TellsOfDtypesThatItCannotRead) {
  const std::string json = R"({"e":{"dtype":"F8_E4M3","shape":[2,2],"data_offsets":[0,4]},)"
                           R"("f":{"dtype":"F4","shape":[6],"data_offsets":[4,7]},)"
                           R"("u":{"dtype":"U8","shape":[1],"data_offsets":[7,8]}})";
  const SafeTensors file = parse(with_length(json) + "12345678");
  EXPECT_EQ(file.info("e").dtype, DType::none);
  EXPECT_EQ(file.info("e").format_dtype, "F8_E4M3");
  EXPECT_EQ(file.info("e").shape, (Shape{2, 2}));
  EXPECT_EQ(file.info("f").bytes, 3u);
  EXPECT_EQ(values_of<std::uint8_t>(file.tensor("u")), (std::vector<std::uint8_t>{'8'}));
  EXPECT_EQ(message_of([&] { (void)file.tensor("e"); }),
            R"(x.safetensors: tensor "e": dtype F8_E4M3, expected one of F32, F64, BF16, F16, I8, U8, BOOL, I32, I64)");
  EXPECT_EQ(message_of([&] {
              (void)file.tensor("e", {2, 2}, {DType::f32});
            }),
            R"(x.safetensors: tensor "e": dtype F8_E4M3, expected F32)");
}

TEST(SafeTensors, SuggestsNamesThatAreClose) {
  const std::string json = R"({"bert.encoder.weight":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)"
                           R"("pooler.bias":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})";
  const SafeTensors file = parse(with_length(json));
  const auto message = [&](const std::string& name) { return message_of([&] { (void)file.info(name); }); };
  EXPECT_EQ(message("encoder.weight"),
            R"(x.safetensors: tensor "encoder.weight": absent; did you mean "bert.encoder.weight"?)");
  EXPECT_EQ(message("pooler.bais"), R"(x.safetensors: tensor "pooler.bais": absent)");
  EXPECT_EQ(message("poler.bias"), R"(x.safetensors: tensor "poler.bias": absent; did you mean "pooler.bias"?)");
  EXPECT_EQ(message("something.else"), R"(x.safetensors: tensor "something.else": absent)");
  EXPECT_FALSE(file.contains("encoder.weight"));
  EXPECT_TRUE(file.contains("pooler.bias"));
}

struct Malformed {
  std::string bytes, message;
};

std::string one(const std::string& description, std::size_t data_bytes) {
  return with_length("{\"x\":" + description + "}") + std::string(data_bytes, '\0');
}

std::string two(const std::string& a, const std::string& b, std::size_t data_bytes) {
  const auto item = [](const std::string& offsets) {
    return R"({"dtype":"F32","shape":[2],"data_offsets":)" + offsets + "}";
  };
  return with_length("{\"a\":" + item(a) + ",\"b\":" + item(b) + "}") + std::string(data_bytes, '\0');
}

const std::string kFormatDtypes =
    "F32, F64, BF16, F16, I8, U8, BOOL, I32, I64, I16, U16, U32, U64, C64, F8_E4M3, F8_E5M2, F8_E8M0, F8_E4M3FNUZ, "
    "F8_E5M2FNUZ, F6_E2M3, F6_E3M2, F4";

const Malformed kMalformed[] = {
    {"", "holds 0 bytes, expected at least the 8 of the header's length"},
    {"1234567", "holds 7 bytes, expected at least the 8 of the header's length"},
    {std::string("\x02\0\0\0\0\0\0\0{", 9), "header: length 2 is beyond the file's end, 1 bytes are left"},
    {std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10),
     "header: length 18446744073709551615, expected at most 100000000"},
    {std::string("\x01\xe1\xf5\x05\0\0\0\0{}", 10), "header: length 100000001, expected at most 100000000"},
    {with_length(""), "header: not a JSON object, expected one"},
    {with_length("[1]"), "header: not a JSON object, expected one"},
    {with_length(" {}"), "header: not a JSON object, expected one"},
    {with_length("{\"x\":}"), "header: not valid JSON at byte 5, where \"}\" stands"},
    {with_length("{} x"), "header: not valid JSON at byte 3, where \"x\" stands"},
    {with_length(std::string("{}\0 ", 4)), R"(header: not valid JSON at byte 2, where "\u0000" stands)"},
    {with_length("{\"\xff\":1}"), "header: not valid JSON at byte 2, where \"\ufffd\" stands"},
    {with_length("{\"x\":" + std::string(200, '[')), "header: JSON nested deeper than 100"},
    {with_length("{\"x\":1e999}"), "header: holds a number beyond the range of a double"},
    {with_length("{\"x\":1,\"x\":2}"), "header: the name \"x\" occurs twice"},
    {one(R"({"dtype":"F32","dtype":"F32","shape":[],"data_offsets":[0,4]})", 4),
     "header: the name \"dtype\" occurs twice"},
    {one("7", 0), R"(tensor "x": described by 7, expected an object)"},
    {one(R"({"shape":[],"data_offsets":[0,4]})", 4), R"(tensor "x": has no dtype)"},
    {one(R"({"dtype":"F32","data_offsets":[0,4]})", 4), R"(tensor "x": has no shape)"},
    {one(R"({"dtype":"F32","shape":[]})", 4), R"(tensor "x": has no data_offsets)"},
    {one(R"({"dtype":"F99","shape":[2],"data_offsets":[0,4]})", 4),
     R"(tensor "x": dtype "F99", expected one of )" + kFormatDtypes},
    {one(R"({"dtype":3,"shape":[2],"data_offsets":[0,4]})", 4),
     R"(tensor "x": dtype 3, expected one of )" + kFormatDtypes},
    {one(R"({"dtype":"F4","shape":[3],"data_offsets":[0,2]})", 2),
     R"(tensor "x": F4 (3) ends within a byte, expected whole ones)"},
    {one(R"({"dtype":"U16","shape":[3],"data_offsets":[0,4]})", 4),
     R"(tensor "x": 4 bytes between its data_offsets, expected 6 for U16 (3))"},
    {one(R"({"dtype":"U64","shape":[1152921504606846976],"data_offsets":[0,4]})", 4),
     R"(tensor "x": U64 (1152921504606846976) is larger than the address space)"},
    {one(R"({"dtype":"F32","shape":2,"data_offsets":[0,8]})", 8),
     R"(tensor "x": shape 2, expected an array of extents)"},
    {one(R"({"dtype":"F32","shape":[2,-1],"data_offsets":[0,8]})", 8),
     R"(tensor "x": shape [2,-1]: -1 is not a whole number from 0 to 9223372036854775807)"},
    {one(R"({"dtype":"F32","shape":[2.0],"data_offsets":[0,8]})", 8),
     R"(tensor "x": shape [2.0]: 2.0 is not a whole number from 0 to 9223372036854775807)"},
    {one(R"({"dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,8]})", 8),
     R"(tensor "x": shape [9223372036854775808]: 9223372036854775808 is not a whole number from 0 to 9223372036854775807)"},
    {one(R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]})", 8),
     R"(tensor "x": F32 (4294967296, 4294967296) is larger than the address space)"},
    {one(R"({"dtype":"F32","shape":[4294967296,4294967296,0],"data_offsets":[0,0]})", 0),
     R"(tensor "x": F32 (4294967296, 4294967296, 0) is larger than the address space)"},
    {one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8,9]})", 8),
     R"(tensor "x": data_offsets [0,8,9], expected [begin, end])"},
    {one(R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})", 8),
     R"(tensor "x": data_offsets [8,0], expected begin <= end)"},
    {one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})", 7),
     R"(tensor "x": data_offsets [0,8] end beyond the 7 bytes of data that the file holds; is it truncated?)"},
    {one(R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})", 8),
     R"(tensor "x": 8 bytes between its data_offsets, expected 12 for F32 (3))"},
    {one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})", 9),
     R"(holds 9 bytes of data, expected 8, the end of tensor "x")"},
    {with_length("{}") + "x", "holds 1 bytes of data, expected 0, the end of the header"},
    {two("[0,8]", "[4,12]", 12), R"(tensor "b": its data begin at 4 and overlap tensor "a", which ends at 8)"},
    {two("[0,8]", "[0,8]", 8), R"(tensor "b": its data begin at 0 and overlap tensor "a", which ends at 8)"},
    {two("[12,20]", "[0,8]", 20), R"(tensor "a": its data begin at 12, expected 8, right after tensor "b")"},
    {one(R"({"dtype":"F32","shape":[2],"data_offsets":[4,12]})", 12),
     R"(tensor "x": its data begin at 4, expected 0, right after the header)"},
    {with_length(R"({"__metadata__":3})"), "__metadata__: 3, expected an object of strings"},
    {with_length(R"({"__metadata__":{"a":3}})"), R"(__metadata__: "a" is 3, expected a string)"},
    {one("\"" + std::string(500, 'y') + "\"", 0),
     "tensor \"x\": described by \"" + std::string(120, 'y') + "\"..., expected an object"},
};

TEST(SafeTensors, SaysWhatIsMalformed) {
  for (const Malformed& c : kMalformed) {
    EXPECT_EQ(message_of([&] { (void)parse(c.bytes); }), "x.safetensors: " + c.message);
  }
}

TEST(SafeTensors, RefusesABooleanThatIsNone) {
  const std::string json = R"({"m":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}})";
  const SafeTensors file = parse(with_length(json) + std::string("\0\1\2", 3));
  EXPECT_EQ(message_of([&] { (void)file.tensor("m"); }),
            R"(x.safetensors: tensor "m": element 2 of a boolean array is 2, expected 0 or 1)");
}

TEST(SafeTensors, EveryTruncationIsAnError) {
  const std::string whole = valid_file();
  EXPECT_EQ(message_of([&] { (void)parse(whole); }), "no error");
  for (std::size_t n = 0; n < whole.size(); ++n) {
    EXPECT_NE(message_of([&] { (void)parse(whole.substr(0, n)); }), "no error") << n << " bytes";
  }
}

TEST(SafeTensors, SaysWhyAFileCannotBeOpened) {
  TempFolder folder;
  const std::string here = folder.path().string();
  write_bytes(folder / "empty", "");
  const auto message = [](const std::string& path) { return message_of([&] { (void)SafeTensors::open(path); }); };
  EXPECT_EQ(message(here + "/no"), here + "/no: no such file");
  EXPECT_EQ(message(here), here + ": is a folder, expected a file");
  EXPECT_EQ(message("/dev/null"), "/dev/null: is a device or a pipe, expected a file");
  EXPECT_EQ(message(here + "/empty"), here + "/empty: holds 0 bytes, expected at least the 8 of the header's length");
}

TEST(SafeTensors, RefusesToWriteWhatNobodyCouldRead) {
  TempFolder folder;
  const std::string path = (folder / "a.safetensors").string();
  const Tensor x = Tensor::of<float>({1}, 1);
  EXPECT_EQ(message_of([&] {
              write_safetensors(path, {{"__metadata__", x}});
            }),
            path + ": __metadata__: is reserved, expected another tensor name");
  EXPECT_EQ(message_of([&] { write_safetensors(path, {{"x", Tensor()}}); }), path + ": tensor \"x\": holds nothing");
  EXPECT_EQ(message_of([&] {
              write_safetensors(path, {{"\xff", x}});
            }),
            path + ": header: a tensor name or metadata is not valid UTF-8");
  EXPECT_EQ(message_of([&] {
              write_safetensors(path, {{"x", x}}, {{"k", "\xc3"}});
            }),
            path + ": header: a tensor name or metadata is not valid UTF-8");
  EXPECT_EQ(folder.names(), Names{});
}

}  // namespace
}  // namespace attn::io
