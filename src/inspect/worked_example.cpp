// SPDX-License-Identifier: Apache-2.0
#include <attn/inspect/explain.hpp>

namespace attn::inspect {

Example worked_example() {
  Example example;
  example.x = Tensor::of<double>({1, 0, 1, 0, 0, 1, 0, 1, 1, 1, 0, 0}, 3, 4);
  example.w_q = Tensor::of<double>({1, 0, 0, 1, 1, 1, 0, 0}, 4, 2);
  example.w_k = Tensor::of<double>({0, 1, 1, 0, 0, 1, 1, 0}, 4, 2);
  example.w_v = Tensor::of<double>({1, 0, 0, 1, 0, 0, 1, 1}, 4, 2);
  example.tokens = {"token 1", "token 2", "token 3"};
  example.note =
      "A widely copied tutorial prints this example with the second row of Q as (0, 2), with rows of weights that do "
      "not sum to 1, and with other outputs; the second row of X times W_Q is (0, 1), and the numbers here follow from "
      "it.";
  return example;
}

}  // namespace attn::inspect
