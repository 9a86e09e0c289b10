// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/export.hpp>
#include <attn/version.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn::io {

// Bytes [begin, end) of a text.
struct Span {
  std::size_t begin = 0, end = 0;

  friend bool operator==(const Span&, const Span&) = default;
};

inline namespace ATTN_ABI {

// How Tokenizer::encode is to be called.
struct EncodeOptions {
  // A second text, as for questions with their answers; it follows the first.
  std::optional<std::string_view> pair = {};
  // Whether to add what the model expects around the texts ([CLS] and [SEP]). Without it their tokens stand alone.
  bool add_special_tokens = true;
  // The largest number of tokens, added ones included; unlimited when absent. Tokens are cut from the end of the longer
  // text, then from both alike ("longest first" of `tokenizers`); added ones always stay.
  std::optional<std::size_t> max_tokens = {};
};

// The tokens of a text. All vectors are equally long.
struct Encoding {
  std::vector<std::int32_t> ids = {};
  std::vector<std::int32_t> type_ids = {};  // which segment a token belongs to, as the model was trained with
  std::vector<std::string> tokens = {};     // as the vocabulary writes them: "saw", "##ing", "[SEP]"
  std::vector<Span> offsets = {};           // bytes of the text or of the pair; {0, 0} for added tokens
  std::vector<std::int8_t> sequence = {};   // 0: of the text, 1: of the pair, -1: added around them
  bool replaced_invalid_utf8 = false;       // some bytes were not UTF-8 and were read as U+FFFD
  bool cut = false;                         // max_tokens left some tokens out
};

}  // namespace ATTN_ABI

// A WordPiece tokenizer, as tokenizer.json of the Hugging Face hub describes it. Its ids and offsets are those of their
// library `tokenizers` (compared in the tests), except that "truncation" and "padding" of the file are ignored: the
// caller knows how many tokens the model takes.
//
// Normalizers: BertNormalizer, Lowercase, StripAccents, NFC, NFD, NFKC, NFKD, and Sequence of them. Pre-tokenizers:
// BertPreTokenizer, Whitespace, WhitespaceSplit. Post-processors: TemplateProcessing, BertProcessing. Anything else is
// refused by name, never passed over. Besides WordPiece it reads the two numbers a token of the encoders that attn
// trains and exports (train::export_hub).
//
// Cheap to copy (copies share what was read). All members are const and may be called from several threads at once.
class ATTN_API Tokenizer {
 public:
  // Reads a file. Throws attn::Error, naming the file, when it cannot be read, and whatever parse
  // throws.
  static Tokenizer load(const std::filesystem::path& tokenizer_json);

  // `name` stands in messages in place of a file, as in `tokenizer.json: model type "BPE", expected "WordPiece"`.
  static Tokenizer parse(std::string_view json, std::string_view name);

  // The tokens of `text`, which is UTF-8 of less than 4 GiB. Bytes that are not UTF-8 are read as one U+FFFD for each
  // maximal ill-formed part. Throws attn::Error when max_tokens leaves no room for the added tokens. Takes time and
  // memory linear in the text (a word costs at most its length times that of the longest token).
  Encoding encode(std::string_view text, const EncodeOptions& options = {}) const;

  std::optional<std::int32_t> token_to_id(std::string_view token) const;
  std::optional<std::string> id_to_token(std::int32_t id) const;

  // How many different tokens there are, added ones included.
  std::size_t vocab_size() const noexcept;
  // The largest id that `encode` may give. Ids may have gaps, so that it can be vocab_size() or more.
  std::int32_t largest_id() const noexcept;

  // The ids of "[CLS]", "[SEP]" and "[PAD]", where the vocabulary has them.
  std::optional<std::int32_t> cls_id() const;
  std::optional<std::int32_t> sep_id() const;
  std::optional<std::int32_t> pad_id() const;

 private:
  struct Parts;
  explicit Tokenizer(std::shared_ptr<const Parts> parts);

  std::shared_ptr<const Parts> parts_;
};

}  // namespace attn::io
