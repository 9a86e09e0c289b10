// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/error.hpp>
#include <attn/inspect/record.hpp>
#include <attn/observer.hpp>
#include <cstddef>
#include <string>
#include <thread>

#include "base/concat.hpp"

namespace attn::inspect {
namespace {

using base::concat;

// The numbers chosen, ascending and once each; all of them when none is.
std::vector<std::ptrdiff_t> chosen(std::vector<std::ptrdiff_t> wanted, std::ptrdiff_t count, std::string_view name) {
  if (wanted.empty()) {
    for (std::ptrdiff_t i = 0; i < count; ++i) wanted.push_back(i);
  }
  for (const std::ptrdiff_t i : wanted) {
    if (i < 0 || i >= count) throw Error("inspect::record", name, concat(i, ", expected 0 to ", count - 1));
  }
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  return wanted;
}

// One head of q, k or v: an encoder has as many heads of each.
In<4> head_of(const In<4>& all, std::ptrdiff_t head) {
  Extents<4> extents = all.extents();
  extents[1] = 1;
  const std::ptrdiff_t bytes = head * all.stride(1) * static_cast<std::ptrdiff_t>(size_of(all.dtype()));
  return In<4>(all.dtype(), static_cast<const std::byte*>(all.data()) + bytes, extents, all.strides());
}

// Sees the model's attention calls, one a layer, and adds the weights of chosen ones to a record.
class Recorder final : public AttentionObserver {
 public:
  Recorder(Record& record, Context& context) : record_(record), context_(context), previous_(context.observer()) {
    context_.set_observer(this);
  }
  ~Recorder() override { context_.set_observer(previous_); }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void on_attention(const AttentionCall& call) override {
    // Other threads may share the context, and asking for the weights is a call itself.
    if (std::this_thread::get_id() != thread_ || is_asking_) return;
    const std::ptrdiff_t layer = layer_++;
    if (!std::binary_search(record_.layers.begin(), record_.layers.end(), layer)) return;
    is_asking_ = true;
    record_.weights.push_back(weights_of(call));
    is_asking_ = false;
  }

 private:
  Record& record_;
  Context& context_;
  AttentionObserver* previous_;
  std::thread::id thread_ = std::this_thread::get_id();
  bool is_asking_ = false;
  std::ptrdiff_t layer_ = 0;

  // Each chosen head is a call of its own: no option of an encoder's call differs from head to head.
  Tensor weights_of(const AttentionCall& call) const {
    const std::ptrdiff_t heads = static_cast<std::ptrdiff_t>(record_.heads.size()), length = call.q.extent(2);
    const std::ptrdiff_t shape[] = {heads, length, length};
    Tensor weights = Tensor::empty(DType::f32, shape, context_.memory());
    const View<float, 3> all = weights.view<float, 3>();
    for (std::ptrdiff_t i = 0; i < heads; ++i) {
      const std::ptrdiff_t h = record_.heads[static_cast<std::size_t>(i)];
      const AttentionOutputs one{.weights = all.select(0, i).unsqueeze(0).unsqueeze(0)};
      attention(head_of(call.q, h), KeyValue(head_of(call.kv.k(), h), head_of(call.kv.v(), h)), one, call.options,
                context_);
    }
    return weights;
  }
};

}  // namespace

Record record(const models::BertModel& model, std::string_view text, const RecordOptions& options, Context& context) {
  const std::ptrdiff_t limit = options.max_tokens.value_or(model.max_positions());
  if (limit < 1 || limit > model.max_positions()) {
    throw Error("inspect::record", "max_tokens", concat(limit, ", expected 1 to ", model.max_positions()));
  }
  const auto encoding =
      model.tokenizer().encode(text, {.pair = options.pair, .max_tokens = static_cast<std::size_t>(limit)});
  return record(model, encoding, options, context);
}

Record record(const models::BertModel& model, const io::Encoding& encoding, const RecordOptions& options,
              Context& context) {
  Record result;
  result.encoding = encoding;
  result.config = model.config();
  result.layers = chosen(options.layers, model.config().num_hidden_layers, "layers");
  result.heads = chosen(options.heads, model.config().num_attention_heads, "heads");
  const Recorder recorder(result, context);
  result.last_hidden = model.forward(models::TokenBatch(encoding), context);
  return result;
}

}  // namespace attn::inspect
