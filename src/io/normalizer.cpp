// SPDX-License-Identifier: Apache-2.0
#include "io/normalizer.hpp"

#include <algorithm>

#include "base/concat.hpp"
#include "io/json.hpp"
#include "io/normal_form.hpp"
#include "io/unicode.hpp"

namespace attn::io {
namespace {

// Drops controls and makes every kind of white space a space.
void clean(Characters& text) {
  std::erase_if(text, [](const Character& c) { return c.code == 0 || c.code == kReplacement || is_control(c.code); });
  for (Character& c : text)
    if (is_whitespace(c.code)) c.code = ' ';
}

// Sets every ideograph between spaces.
void space_chinese(Characters& text) {
  const auto chinese = std::count_if(text.begin(), text.end(), [](const Character& c) { return is_chinese(c.code); });
  if (chinese == 0) return;
  Characters spaced;
  spaced.reserve(text.size() + 2 * static_cast<std::size_t>(chinese));
  for (const Character& c : text) {
    const bool apart = is_chinese(c.code);
    if (apart) spaced.push_back({' ', c.begin, c.end});
    spaced.push_back(c);
    if (apart) spaced.push_back({' ', c.begin, c.end});
  }
  text = std::move(spaced);
}

void lower(Characters& text) {
  constexpr char32_t kDottedI = 0x130, kDot = 0x307;
  bool dotted = false;
  for (Character& c : text) {
    dotted |= c.code == kDottedI;
    if (c.code != kDottedI) c.code = to_lower(c.code);
  }
  if (!dotted) return;
  Characters lowered;
  for (const Character& c : text) {
    lowered.push_back({c.code == kDottedI ? U'i' : c.code, c.begin, c.end});
    if (c.code == kDottedI) lowered.push_back({kDot, c.begin, c.end});
  }
  text = std::move(lowered);
}

}  // namespace

Normalizer::Normalizer(const JsonField& field) { add(field); }

void Normalizer::add(const JsonField& field) {
  const std::string type = field.at("type", "a string").string();
  if (type == "BertNormalizer") return add_bert(field);
  if (type == "Sequence") {
    const JsonField parts = field.at("normalizers", "an array");
    for (std::size_t i = 0; i < parts.array().size(); ++i) add(parts.element(i));
    return;
  }
  constexpr std::pair<const char*, Step> kSimple[] = {
      {"Lowercase", Step::lower}, {"StripAccents", Step::strip_combining},
      {"NFD", Step::nfd},         {"NFKD", Step::nfkd},
      {"NFC", Step::nfc},         {"NFKC", Step::nfkc}};
  for (const auto& [name, step] : kSimple)
    if (type == name) return steps_.push_back(step);
  field.fail(base::concat("type ", quote(type),
                          ", expected BertNormalizer, Sequence, Lowercase, StripAccents, NFC, NFD, NFKC or NFKD"));
}

void Normalizer::add_bert(const JsonField& field) {
  const auto flag = [&field](const char* key, bool absent) {
    const auto found = field.find(key);
    return found ? found->boolean() : absent;
  };
  const bool lowercase = flag("lowercase", true);
  if (flag("clean_text", true)) steps_.push_back(Step::clean);
  if (flag("handle_chinese_chars", true)) steps_.push_back(Step::space_chinese);
  // The original BERT strips accents exactly where it lowers case; null stands for that.
  if (flag("strip_accents", lowercase)) {
    steps_.push_back(Step::nfd);
    steps_.push_back(Step::strip_nonspacing);
  }
  if (lowercase) steps_.push_back(Step::lower);
}

void Normalizer::apply(Characters& text) const {
  for (const Step step : steps_) {
    switch (step) {
      case Step::clean:
        clean(text);
        break;
      case Step::space_chinese:
        space_chinese(text);
        break;
      case Step::strip_nonspacing:
        std::erase_if(text, [](const Character& c) { return is_nonspacing_mark(c.code); });
        break;
      case Step::strip_combining:
        std::erase_if(text, [](const Character& c) { return is_combining_mark(c.code); });
        break;
      case Step::lower:
        lower(text);
        break;
      case Step::nfd:
        to_normal_form(text, NormalForm::nfd);
        break;
      case Step::nfkd:
        to_normal_form(text, NormalForm::nfkd);
        break;
      case Step::nfc:
        to_normal_form(text, NormalForm::nfc);
        break;
      case Step::nfkc:
        to_normal_form(text, NormalForm::nfkc);
        break;
    }
  }
}

}  // namespace attn::io
