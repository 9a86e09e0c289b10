// SPDX-License-Identifier: Apache-2.0
#include <attn/attention.hpp>
#include <optional>

#include "gtest/gtest.h"
#include "support/tensors.hpp"

namespace attn::test {
namespace {

// Which pairs a mask shows, as text: a row of # and . for each query of one head.
std::string picture(const Mask& mask, int queries, int keys, Align align = {}) {
  const Tensor q = Tensor::zeros(DType::f32, 1, 1, queries, 1), k = Tensor::zeros(DType::f32, 1, 1, keys, 1);
  Tensor weights = poisoned_tensor(DType::f32, 1, 1, queries, keys);
  attention(q, {k, k}, {.weights = weights}, {.mask = mask, .align = align});
  std::string text;
  for (int i = 0; i < queries; ++i) {
    for (int j = 0; j < keys; ++j) text += weights.view<float, 4>()(0, 0, i, j) > 0 ? '#' : '.';
    text += ' ';
  }
  return text;
}

TEST(Mask, ShowsWhatItsDefinitionSays) {
  EXPECT_EQ(picture({}, 2, 3), "### ### ");
  EXPECT_EQ(picture(Mask::causal(), 4, 4), "#... ##.. ###. #### ");
  EXPECT_EQ(picture(Mask::causal(), 2, 4, Align::top_left()), "#... ##.. ");
  EXPECT_EQ(picture(Mask::causal(), 2, 4, Align::bottom_right()), "###. #### ");
  EXPECT_EQ(picture(Mask::causal(), 4, 2, Align::bottom_right()), ".. .. #. ## ");
  EXPECT_EQ(picture(Mask::window(1, 0), 4, 4), "#... ##.. .##. ..## ");
  EXPECT_EQ(picture(Mask::window(0, 1), 4, 4), "##.. .##. ..## ...# ");
  EXPECT_EQ(picture(Mask::window(Mask::unbounded, 1), 4, 4), "##.. ###. #### #### ");
  EXPECT_EQ(picture(Mask::window(1, Mask::unbounded), 4, 4), "#### #### .### ..## ");
  // Sides near the end of 64 bits overflow nothing, wherever the query stands.
  constexpr std::int64_t kAlmost = Mask::unbounded - 1;
  EXPECT_EQ(picture(Mask::window(kAlmost, Mask::unbounded), 6, 2, Align::bottom_right()), "## ## ## ## ## ## ");
  EXPECT_EQ(picture(Mask::window(0, kAlmost), 4, 2, Align::top_left()), "## .# .. .. ");
  EXPECT_EQ(picture(Mask::prefix_lm(2), 4, 4), "##.. ##.. ###. #### ");
  EXPECT_EQ(picture(Mask::lengths({2}), 2, 4), "##.. ##.. ");
  EXPECT_EQ(picture(Mask::causal() & Mask::lengths({2}), 2, 4, Align::bottom_right()), "#... ##.. ");

  const std::int32_t p[]{3, -1, 9};
  EXPECT_EQ(picture(Mask::causal(), 3, 4, Align::positions(view(p, 1, 3))), "#### .... #### ");
  EXPECT_EQ(picture(Mask::window(6, 0), 3, 4, Align::positions(view(p, 1, 3))), "#### .... ...# ");
  const std::int64_t ids[]{5, 5, 8, 5};
  EXPECT_EQ(picture(Mask::documents(view(ids, 1, 4)), 4, 4), "##.# ##.# ..#. ##.# ");
  EXPECT_EQ(picture(Mask::documents(view(ids, 1, 4)), 3, 4, Align::positions(view(p, 1, 3))), "##.# .... .... ");
  const bool pairs[]{true, false, false, true};
  EXPECT_EQ(picture(Mask::keep(view(pairs, 1, 1, 2, 2)), 2, 2), "#. .# ");
  EXPECT_EQ(picture(Mask::drop(view(pairs, 1, 1, 2, 2)), 2, 2), ".# #. ");
  EXPECT_EQ(picture(Mask::keep(view(pairs, 1, 1, 1, 2)), 3, 2), "#. #. #. ");
  EXPECT_EQ(picture(Mask::keep(view(pairs, 1, 1, 2, 1)), 2, 3), "### ... ");
}

TEST(Mask, IntersectsAssociativelyAndCommutatively) {
  const bool pairs[]{true, true, false, true, true, true, true, true, true, true, false, true, true, true, true, true};
  const Mask parts[]{Mask::causal(),     Mask::window(2, 0), Mask::prefix_lm(2),
                     Mask::lengths({3}), Mask::window(1, 5), Mask::keep(view(pairs, 1, 1, 4, 4)),
                     Mask::lengths({4}), Mask::prefix_lm(3), Mask::none()};
  for (const Mask& a : parts) {
    EXPECT_EQ(picture(a & a, 4, 4), picture(a, 4, 4));
    for (const Mask& b : parts) {
      const std::string both = picture(a & b, 4, 4), one = picture(a, 4, 4), other = picture(b, 4, 4);
      EXPECT_EQ(both, picture(b & a, 4, 4));
      for (std::size_t i = 0; i < both.size(); ++i) {
        EXPECT_EQ(both[i] == '#', one[i] == '#' && other[i] == '#');
      }
      for (const Mask& c : parts) EXPECT_EQ(picture((a & b) & c, 4, 4), picture(a & (b & c), 4, 4));
    }
  }
}

TEST(Mask, OwnedOutlivesWhatItViewed) {
  std::optional<Mask> owned;
  std::string expected;
  {
    bool pairs[]{true, false, false, true, true, false};
    std::int32_t ids[]{1, 1, 2};
    const Mask viewed = Mask::keep(view(pairs, 1, 1, 2, 3)) & Mask::documents(view(ids, 1, 3)) &
                        Mask::drop(View<const bool, 4>(pairs + 1, {1, 1, 2, 3}, {0, 0, 0, 0}));
    owned = viewed.owned();
    expected = picture(viewed, 2, 3, Align::top_left());
    for (bool& x : pairs) x = !x;
    for (std::int32_t& x : ids) x = 7 - x;
    EXPECT_NE(picture(viewed, 2, 3, Align::top_left()), expected);
  }
  EXPECT_EQ(picture(*owned, 2, 3, Align::top_left()), expected);
}

TEST(Mask, RefusesWhatMakesNoSense) {
  EXPECT_EQ(message_of([] { (void)Mask::window(-1, 0); }),
            "Mask::window: left: -1, expected 0 or more, or Mask::unbounded");
  EXPECT_EQ(message_of([] { (void)Mask::window(0, -2); }),
            "Mask::window: right: -2, expected 0 or more, or Mask::unbounded");
  EXPECT_EQ(message_of([] { (void)Mask::prefix_lm(-3); }), "Mask::prefix_lm: n: -3, expected 0 or more");
  EXPECT_EQ(message_of([] { (void)Mask::lengths({4, -1}); }), "Mask::lengths: lengths[1]: -1, expected 0 or more");
  EXPECT_EQ(message_of([] {
              (void)(Mask::lengths({4, 1}) & Mask::lengths({3}));
            }),
            "Mask::operator&: lengths: 1 of them, expected 2 as on the left");
}

}  // namespace
}  // namespace attn::test
