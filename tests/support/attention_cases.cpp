// SPDX-License-Identifier: Apache-2.0
#include "support/attention_cases.hpp"

#include <array>
#include <iterator>
#include <sstream>

#include "support/random.hpp"

namespace attn::test {
namespace {

// Sizes around the tiles and vectors that kernels are likely to have, long and short, and extents of zero.
constexpr BatchSize kSizes[] = {{1, 1, 1},   {1, 1, 130}, {2, 5, 5},    {3, 7, 40},   {1, 17, 17}, {2, 33, 20},
                                {1, 64, 64}, {2, 65, 63}, {1, 130, 70}, {1, 40, 150}, {2, 16, 48}, {1, 3, 257},
                                {1, 200, 3}, {4, 9, 9},   {0, 4, 4},    {2, 0, 5},    {2, 5, 0}};
// Head dims from 1 to 576, round and not; d_v other than d_qk.
constexpr HeadDims kDims[] = {{1, 1},   {3, 7},   {8, 8},     {16, 40},   {31, 33},   {32, 32},   {64, 64},  {64, 128},
                              {80, 80}, {96, 17}, {128, 128}, {192, 128}, {256, 256}, {576, 512}, {576, 576}};
constexpr HeadCounts kHeads[] = {{1, 1}, {2, 2}, {4, 2}, {3, 1}, {6, 3}};
constexpr DType kFloats[] = {DType::f32, DType::f64, DType::bf16, DType::f16};
constexpr Layout kLayouts[] = {Layout::dense, Layout::tokens_first, Layout::reversed, Layout::strided,
                               Layout::broadcast};
constexpr Align::Kind kAligns[] = {Align::Kind::unspecified, Align::Kind::top_left, Align::Kind::bottom_right,
                                   Align::Kind::positions};
constexpr std::optional<double> kSoftcaps[] = {std::nullopt, 30, 1.5};
constexpr double kDropouts[] = {0, 0.1, 0.5, 1};
constexpr double kMagnitudes[] = {1, 4};
constexpr int kMasks = static_cast<int>(MaskKind::nothing) + 1;
constexpr int kBiases = static_cast<int>(BiasKind::with_infinity) + 1;
constexpr int kPackings = static_cast<int>(PackingKind::packed_with_gaps) + 1;
constexpr int kScales = static_cast<int>(ScaleKind::negative) + 1;
constexpr int kOutputSets = static_cast<int>(OutputSet::everything) + 1;

enum Factor {
  kMask,
  kSize,
  kDim,
  kOutput,
  kBias,
  kHead,
  kQLayout,
  kKLayout,
  kVLayout,
  kOutLayout,  // outputs have no broadcast layout
  kOptionsLayout,
  kQType,
  kKType,
  kVType,
  kOutType,
  kOptionsType,
  kMapType,
  kAlign,
  kDropout,
  kScale,
  kPacking,
  kSoftcap,
  kSink,
  kAlibi,
  kMagnitude,
  kFactors
};

template <class T, std::size_t N>
constexpr int count(const T (&)[N]) {
  return static_cast<int>(N);
}

bool mask_needs_positions(MaskKind mask) {
  switch (mask) {
    case MaskKind::causal:
    case MaskKind::window:
    case MaskKind::window_left:
    case MaskKind::window_right:
    case MaskKind::prefix_lm:
    case MaskKind::documents:
    case MaskKind::causal_lengths:
    case MaskKind::causal_window:
    case MaskKind::prefix_keep:
    case MaskKind::window_documents:
      return true;
    default:
      return false;
  }
}

// The level that a row has for a factor, or that of a simple call where none is chosen yet.
struct Chosen {
  const LevelRow& row;
  int operator()(Factor factor) const { return row[factor] < 0 ? 0 : row[factor]; }
  template <class T, std::size_t N>
  const T& from(const T (&values)[N], Factor factor) const {
    return values[(*this)(factor)];
  }
};

std::vector<AttentionCase> make_cases() {
  std::vector<AttentionCase> cases;
  for (const LevelRow& row : pairwise_rows(attention_factor_levels(), attention_row_allowed)) {
    AttentionCase made = attention_case_of(row);
    made.number = static_cast<int>(cases.size());
    made.seed = base_seed() + static_cast<std::uint64_t>(made.number) + 1;
    cases.push_back(made);
  }
  return cases;
}

}  // namespace

std::vector<int> attention_factor_levels() {
  std::vector<int> levels(kFactors);
  levels[kMask] = kMasks;
  levels[kSize] = count(kSizes);
  levels[kDim] = count(kDims);
  levels[kOutput] = kOutputSets;
  levels[kBias] = kBiases;
  levels[kHead] = count(kHeads);
  for (const Factor f : {kQLayout, kKLayout, kVLayout, kOptionsLayout}) levels[f] = count(kLayouts);
  levels[kOutLayout] = count(kLayouts) - 1;
  for (const Factor f : {kQType, kKType, kVType, kOutType, kOptionsType, kMapType}) levels[f] = count(kFloats);
  levels[kAlign] = count(kAligns);
  levels[kDropout] = count(kDropouts);
  levels[kScale] = kScales;
  levels[kPacking] = kPackings;
  levels[kSoftcap] = count(kSoftcaps);
  levels[kSink] = levels[kAlibi] = 2;
  levels[kMagnitude] = count(kMagnitudes);
  return levels;
}

AttentionCase attention_case_of(const LevelRow& row) {
  const Chosen chosen{row};
  return {.size = chosen.from(kSizes, kSize),
          .heads = chosen.from(kHeads, kHead),
          .dims = chosen.from(kDims, kDim),
          .q = chosen.from(kFloats, kQType),
          .k = chosen.from(kFloats, kKType),
          .v = chosen.from(kFloats, kVType),
          .out = chosen.from(kFloats, kOutType),
          .options_dtype = chosen.from(kFloats, kOptionsType),
          .map_dtype = chosen.from(kFloats, kMapType),
          .q_layout = chosen.from(kLayouts, kQLayout),
          .k_layout = chosen.from(kLayouts, kKLayout),
          .v_layout = chosen.from(kLayouts, kVLayout),
          .out_layout = chosen.from(kLayouts, kOutLayout),
          .options_layout = chosen.from(kLayouts, kOptionsLayout),
          .mask = static_cast<MaskKind>(chosen(kMask)),
          .align = chosen.from(kAligns, kAlign),
          .bias = static_cast<BiasKind>(chosen(kBias)),
          .softcap = chosen.from(kSoftcaps, kSoftcap),
          .sink = chosen(kSink) == 1,
          .alibi = chosen(kAlibi) == 1,
          .scale = static_cast<ScaleKind>(chosen(kScale)),
          .dropout_p = chosen.from(kDropouts, kDropout),
          .packing = static_cast<PackingKind>(chosen(kPacking)),
          .outputs = static_cast<OutputSet>(chosen(kOutput)),
          .q_magnitude = chosen.from(kMagnitudes, kMagnitude)};
}

bool attention_row_allowed(const LevelRow& row) {
  if (row[kAlign] < 0 || row[kSize] < 0) return true;
  const AttentionCase made = attention_case_of(row);
  const bool positional = (row[kMask] >= 0 && mask_needs_positions(made.mask)) || made.alibi;
  return made.align != Align::Kind::unspecified || made.size.queries == made.size.keys || !positional;
}

const std::vector<AttentionCase>& attention_cases() {
  static const std::vector<AttentionCase> cases = make_cases();
  return cases;
}

Tolerance AttentionCase::tolerance() const {
  if (computes_f64()) {
    return {.out = 1e-13,
            .map = 1e-13,
            .rounded = 1.6,
            .reason = "sums of up to 576 terms in f64, in another order than the reference's"};
  }
  if (q_magnitude > 1) {
    return {.out = 1e-5,
            .map = 1e-5,
            .rounded = 1.6,
            .reason = "scores are f32: four times as large, so is their error, and exp() carries it into the weights"};
  }
  return {.out = 3e-6, .map = 3e-6, .rounded = 1.6, .reason = "sums of up to 576 terms in f32, scores around 1"};
}

std::string AttentionCase::name() const {
  const auto dim = [](std::ptrdiff_t n) { return std::to_string(n); };
  const auto level = [](auto e) { return std::to_string(static_cast<int>(e)); };
  std::ostringstream text;
  text << "case " << number << " (seed " << seed << "): size " << dim(size.batch) << 'x' << dim(size.queries) << 'x'
       << dim(size.keys) << ", heads " << heads.query << '/' << heads.kv << ", dims " << dims.qk << '/' << dims.v
       << ", q " << name_of(q) << " k " << name_of(k) << " v " << name_of(v) << " out " << name_of(out) << " options "
       << name_of(options_dtype) << " maps " << name_of(map_dtype) << ", layouts q " << level(q_layout) << " k "
       << level(k_layout) << " v " << level(v_layout) << " out " << level(out_layout) << " options "
       << level(options_layout) << ", mask " << level(mask) << ", align " << level(align) << ", bias " << level(bias)
       << ", softcap " << softcap.value_or(0) << ", sink " << sink << ", alibi " << alibi << ", scale " << level(scale)
       << ", dropout " << dropout_p << ", packing " << level(packing) << ", outputs " << level(outputs) << ", q times "
       << q_magnitude;
  return text.str();
}

}  // namespace attn::test
