// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <attn/attention.hpp>
#include <attn/io/atomic_file.hpp>
#include <attn/io/npy.hpp>
#include <attn/io/safetensors.hpp>
#include <deque>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.hpp"
#include "mask_text.hpp"
#include "progress.hpp"
#include "run_inputs.hpp"

namespace attn::app {
namespace {

struct RunOptions {
  CommonOptions common;
  std::vector<std::filesystem::path> inputs;
  std::filesystem::path output;
  bool causal = false, weights = false, lse = false;
  std::string align, window;
  std::optional<double> softcap, scale;
};

Mask lengths_of(const RunInputs& inputs) {
  const Tensor& t = inputs.at("lengths");
  const bool is_integer = t.dtype() == DType::i32 || t.dtype() == DType::i64;
  if (t.rank() > 1 || !is_integer) {
    throw Error(inputs.files.at("lengths"), "\"lengths\"",
                fmt::format("rank {} of dtype {}, expected rank 1 of i32 or i64", t.rank(), name_of(t.dtype())));
  }
  const Tensor contiguous = t.clone();
  return t.dtype() == DType::i32 ? Mask::lengths(contiguous.values<std::int32_t>())
                                 : Mask::lengths(contiguous.values<std::int64_t>());
}

AttentionOptions attention_options(const RunOptions& run, const RunInputs& inputs) {
  AttentionOptions options{.scale = run.scale, .softcap = run.softcap};
  if (run.causal) options.mask = options.mask & Mask::causal();
  if (!run.window.empty()) {
    const Window window = parse_window(run.window);
    options.mask = options.mask & Mask::window(window.left, window.right);
  }
  if (inputs.has("mask")) options.mask = options.mask & Mask::keep(as_rank_4(inputs, "mask"));
  if (inputs.has("lengths")) options.mask = options.mask & lengths_of(inputs);
  if (inputs.has("bias")) options.bias = as_rank_4(inputs, "bias");
  if (inputs.has("sink")) options.sink = inputs.at("sink");
  if (run.align == "top_left") options.align = Align::top_left();
  if (run.align == "bottom_right") options.align = Align::bottom_right();
  return options;
}

struct RunResults {
  Tensor out = {}, lse = {}, weights = {};
};

RunResults compute(const RunOptions& run, const RunInputs& inputs) {
  const In<4> q = as_rank_4(inputs, "q"), k = as_rank_4(inputs, "k"), v = as_rank_4(inputs, "v");
  const std::ptrdiff_t rank = inputs.at("q").rank();
  const bool is_f64 = q.dtype() == DType::f64 || k.dtype() == DType::f64 || v.dtype() == DType::f64;
  RunResults r{.out = Tensor::empty(q.dtype(), q.extent(0), q.extent(1), q.extent(2), v.extent(3))};
  AttentionOutputs outs{.out = r.out};
  if (run.lse) {
    r.lse = Tensor::empty(is_f64 ? DType::f64 : DType::f32, q.extent(0), q.extent(1), q.extent(2));
    outs.lse = r.lse;
  }
  if (run.weights) {
    r.weights = Tensor::empty(q.dtype(), q.extent(0), q.extent(1), q.extent(2), k.extent(2));
    outs.weights = r.weights;
  }
  Context context(context_options(run.common));
  attention(q, KeyValue(k, v), outs, attention_options(run, inputs), context);
  // Results have the rank of q: leading dimensions of extent 1 that were added above go again.
  const auto with_rank = [](Tensor& t, std::ptrdiff_t wanted) {
    if (!t.has_value()) return;
    t = t.reshape(t.shape().subspan(static_cast<std::size_t>(t.rank() - wanted)));
  };
  with_rank(r.out, rank);
  with_rank(r.lse, rank - 1);
  with_rank(r.weights, rank);
  return r;
}

std::map<std::string, Tensor> tensors_of(const RunResults& r) {
  std::map<std::string, Tensor> tensors{{"out", r.out}};
  if (r.lse.has_value()) tensors.emplace("lse", r.lse);
  if (r.weights.has_value()) tensors.emplace("weights", r.weights);
  return tensors;
}

// What is written where: one safetensors or npz file, or one npy file a tensor.
std::vector<std::filesystem::path> write(const std::filesystem::path& output, const RunResults& r) {
  const std::map<std::string, Tensor> tensors = tensors_of(r);
  const std::string extension = output.extension().string();
  if (extension == ".safetensors") {
    io::write_safetensors(output, tensors);
    return {output};
  }
  if (extension == ".npz") {
    io::write_npz(output, tensors);
    return {output};
  }
  std::vector<std::filesystem::path> written;
  std::deque<io::AtomicFile> files;
  for (const auto& [name, tensor] : tensors) {
    std::filesystem::path path = output;
    if (name != "out") path.replace_extension("." + name + ".npy");
    io::write_npy(files.emplace_back(path), tensor);
    written.push_back(path);
  }
  for (io::AtomicFile& file : files) file.commit();
  return written;
}

void check_output_name(const std::filesystem::path& output) {
  const std::string extension = output.extension().string();
  if (extension != ".safetensors" && extension != ".npz" && extension != ".npy") {
    throw Error(output.string(), "", "expected a name that ends in .safetensors, .npz or .npy");
  }
}

void run(const RunOptions& options) {
  check_output_name(options.output);
  const RunInputs inputs = read_run_inputs(options.inputs);
  for (const auto& [name, tensor] : inputs.tensors) {
    const std::string found = first_non_finite(name, tensor);
    if (!found.empty()) notice(options.common, inputs.files.at(name), found + ", expected finite numbers");
  }
  check_writable(options.output);
  Progress progress(shows_progress(options.common));
  progress.stage("computing attention");
  const RunResults results = compute(options, inputs);
  progress.hide();
  const auto written = write(options.output, results);
  if (options.common.json) {
    nlohmann::json json;
    for (const auto& [name, tensor] : tensors_of(results)) {
      json[name] = {{"shape", tensor.shape()}, {"dtype", name_of(tensor.dtype())}};
    }
    for (const std::filesystem::path& file : written) json["files"].push_back(file.string());
    print_json(json);
  } else if (!options.common.quiet) {
    for (const std::filesystem::path& file : written) fmt::print("{}\n", file.string());
  }
}

}  // namespace

void add_run(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* verb = app.add_subcommand("run", "Compute attention on your own tensors q, k and v");
  verb->add_option("inputs", options->inputs,
                   "One .safetensors or .npz file with q, k, v and perhaps mask, bias, lengths, sink;\n"
                   "or one .npy file for each. Rank 2 to 4: (batch, head,) token, dim")
      ->required()
      ->check(not_empty())
      ->option_text("FILE...");
  verb->add_option("-o,--output", options->output, "Where to write: .safetensors, .npz or .npy")
      ->required()
      ->check(not_empty())
      ->option_text("FILE");
  verb->add_flag("--causal", options->causal, "A query sees no later key");
  verb->add_option("--align", options->align,
                   "top_left or bottom_right: where the queries stand among the keys, when their\nnumbers differ")
      ->check(CLI::IsMember({"top_left", "bottom_right"}))
      ->option_text("WHERE");
  verb->add_option("--window", options->window, "Tokens that a query sees on each side of its own; inf opens a side")
      ->option_text("LEFT,RIGHT");
  verb->add_option("--softcap", options->softcap, "Cap the scores at X * tanh(score / X)")->option_text("X");
  verb->add_option("--scale", options->scale, "Factor of the scores; 1 / sqrt(dim) by default")->option_text("X");
  verb->add_flag("--weights", options->weights, "Also write the attention weights (queries x keys)");
  verb->add_flag("--lse", options->lse, "Also write the log of each row's softmax denominator");
  add_common_options(*verb, options->common,
                     "attn run examples/qkv.safetensors -o out.safetensors --causal --weights --lse");
  verb->callback([options] { run(*options); });
}

}  // namespace attn::app
