// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/autograd/linear.hpp>
#include <attn/models/encoder_decoder.hpp>

namespace attn::models {
namespace {

// (batch, tokens), true at what does not count.
Tensor padding_of(std::span<const std::int32_t> lengths, std::ptrdiff_t tokens) {
  Tensor padding = Tensor::zeros(DType::u8, std::ssize(lengths), tokens);
  std::uint8_t* row = padding.values<std::uint8_t>().data();
  for (const std::int32_t length : lengths) {
    std::fill(row + std::min<std::ptrdiff_t>(length, tokens), row + tokens, std::uint8_t{1});
    row += tokens;
  }
  return padding;
}

}  // namespace

EncoderDecoder::EncoderDecoder(const EncoderDecoderShape& shape)
    : shape_(shape),
      embeddings_({shape.vocabulary, shape.max_tokens, shape.transformer.width}),
      encoder_(shape.transformer),
      decoder_(shape.transformer) {}

nn::Variable EncoderDecoder::encode(const Tensor& source, std::span<const std::int32_t> lengths,
                                    nn::DropoutStream* dropout, Context& context) const {
  const nn::Variable x = nn::dropout(embeddings_(source, context), shape_.transformer.dropout, dropout, context);
  return encoder_(x, {.attention = {.mask = Mask::lengths(lengths)}, .dropout = dropout}, context);
}

nn::Variable EncoderDecoder::decode(const Tensor& target, const nn::Variable& memory,
                                    std::span<const std::int32_t> lengths, nn::DropoutStream* dropout,
                                    Context& context) const {
  const Tensor padding = padding_of(lengths, memory.extent(1));
  const nn::Variable x = nn::dropout(embeddings_(target, context), shape_.transformer.dropout, dropout, context);
  const nn::Variable decoded =
      decoder_(x, memory, {.tgt_is_causal = true, .memory_key_padding_mask = padding, .dropout = dropout}, context);
  return autograd::linear(decoded, embeddings_.table(), {}, context);
}

void EncoderDecoder::visit(nn::ParameterVisitor& visitor) {
  visitor.within("embeddings", embeddings_);
  visitor.within("encoder", encoder_);
  visitor.within("decoder", decoder_);
}

}  // namespace attn::models
