// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <attn/error.hpp>
#include <attn/train/metrics.hpp>
#include <cmath>
#include <map>

#include "base/concat.hpp"

namespace attn::train {
namespace {

constexpr std::size_t kLongest = 4;  // n-grams

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The characters that mteval-v13a sets apart wherever they stand.
bool is_symbol(char c) {
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= '!' && c <= '&') || (c >= '(' && c <= '+') ||
         (c >= ':' && c <= '@') || c == '/';
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// Each pass goes over the text once, from the left, two characters at a time, and what it has set apart is not looked
// at again: that is what the substitutions of mteval-v13a do.
template <class Matches, class Write>
std::string pass(const std::string& text, Matches matches, Write write) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    if (i + 1 < text.size() && matches(text[i], text[i + 1])) {
      write(result, text[i], text[i + 1]);
      i += 2;
    } else {
      result += text[i++];
    }
  }
  return result;
}

using Ngrams = std::map<std::vector<std::string>, std::int64_t>;

Ngrams ngrams(const std::vector<std::string>& tokens, std::size_t n) {
  Ngrams counts;
  for (std::size_t i = 0; i + n <= tokens.size(); ++i) {
    const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(i);
    ++counts[std::vector<std::string>(first, first + static_cast<std::ptrdiff_t>(n))];
  }
  return counts;
}

struct BleuCounts {
  std::array<std::int64_t, kLongest> matches{}, totals{};
  std::int64_t length = 0, wanted = 0;

  void add(const std::string& hypothesis, const std::string& reference) {
    const std::vector<std::string> found = bleu_tokens(hypothesis), expected = bleu_tokens(reference);
    length += std::ssize(found);
    wanted += std::ssize(expected);
    for (std::size_t n = 0; n < kLongest; ++n) {
      const Ngrams theirs = ngrams(expected, n + 1);
      for (const auto& [ngram, count] : ngrams(found, n + 1)) {
        const auto there = theirs.find(ngram);
        totals[n] += count;
        matches[n] += there == theirs.end() ? 0 : std::min(count, there->second);
      }
    }
  }

  double score() const {
    if (matches[0] == 0 || totals[kLongest - 1] == 0) return 0;
    double smooth = 1, logs = 0;
    for (std::size_t n = 0; n < kLongest; ++n) {
      if (matches[n] == 0) smooth *= 2;
      const double share = matches[n] == 0 ? 1 / smooth : static_cast<double>(matches[n]);
      logs += std::log(share / static_cast<double>(totals[n]));
    }
    const double penalty = std::min(0.0, 1 - static_cast<double>(wanted) / static_cast<double>(length));
    return 100 * std::exp(penalty + logs / kLongest);
  }
};

}  // namespace

std::vector<std::string> bleu_tokens(std::string_view line) {
  std::string text(line);
  text = replaced(replaced(std::move(text), "<skipped>", ""), "-\n", "");
  std::replace(text.begin(), text.end(), '\n', ' ');
  text = replaced(replaced(std::move(text), "&quot;", "\""), "&amp;", "&");
  text = replaced(replaced(std::move(text), "&lt;", "<"), "&gt;", ">");
  std::string apart = " ";
  for (const char c : text) apart += is_symbol(c) ? std::string{' ', c, ' '} : std::string{c};
  apart += ' ';
  const auto is_mark = [](char c) { return c == '.' || c == ','; };
  apart = pass(
      apart, [&](char a, char b) { return !is_digit(a) && is_mark(b); },
      [](std::string& to, char a, char b) {
        to += {a, ' ', b, ' '};
      });
  apart = pass(
      apart, [&](char a, char b) { return is_mark(a) && !is_digit(b); },
      [](std::string& to, char a, char b) {
        to += {' ', a, ' ', b};
      });
  apart = pass(
      apart, [](char a, char b) { return is_digit(a) && b == '-'; },
      [](std::string& to, char a, char b) {
        to += {a, ' ', b, ' '};
      });
  std::vector<std::string> tokens;
  for (std::size_t at = apart.find_first_not_of(" \t\r"); at != std::string::npos;) {
    const std::size_t end = std::min(apart.find_first_of(" \t\r", at), apart.size());
    tokens.push_back(apart.substr(at, end - at));
    at = apart.find_first_not_of(" \t\r", end);
  }
  return tokens;
}

double bleu(std::span<const std::string> hypotheses, std::span<const std::string> references) {
  if (hypotheses.size() != references.size()) {
    throw Error("bleu", "hypotheses",
                base::concat(hypotheses.size(), " texts, expected ", references.size(), " as references"));
  }
  BleuCounts counts;
  for (std::size_t i = 0; i < references.size(); ++i) counts.add(hypotheses[i], references[i]);
  return counts.score();
}

}  // namespace attn::train
