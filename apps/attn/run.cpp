// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <attn/attention.hpp>
#include <attn/io/npy.hpp>
#include <attn/io/safetensors.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.hpp"
#include "mask_text.hpp"
#include "outputs.hpp"
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
  if ((run.causal || !run.window.empty()) && run.align.empty() && q.extent(2) != k.extent(2)) {
    throw Error("--align", "",
                fmt::format("not given, expected top_left or bottom_right for {} queries and {} keys", q.extent(2),
                            k.extent(2)));
  }
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

std::vector<std::string> names_of(const RunOptions& options) {
  std::vector<std::string> names;
  if (options.lse) names.push_back("lse");
  names.push_back("out");
  if (options.weights) names.push_back("weights");
  return names;
}

// One safetensors or npz file, or one npy file a tensor, in the order of their names.
std::vector<std::filesystem::path> output_files(const RunOptions& options) {
  const std::string extension = options.output.extension().string();
  if (extension == ".safetensors" || extension == ".npz") return {options.output};
  if (extension != ".npy") {
    throw Error(options.output.string(), "", "expected a name that ends in .safetensors, .npz or .npy");
  }
  std::vector<std::filesystem::path> files;
  for (const std::string& name : names_of(options)) {
    files.push_back(options.output);
    if (name != "out") files.back().replace_extension("." + name + ".npy");
  }
  return files;
}

void write(const std::vector<std::filesystem::path>& files, const std::map<std::string, Tensor>& tensors,
           OutputFiles& outputs) {
  const std::string extension = files.front().extension().string();
  if (extension == ".safetensors") return io::write_safetensors(outputs.add(files.front()), tensors);
  if (extension == ".npz") return io::write_npz(outputs.add(files.front()), tensors);
  auto file = files.begin();
  for (const auto& named : tensors) io::write_npy(outputs.add(*file++), named.second);
}

void report(const RunOptions& options, const std::vector<std::filesystem::path>& files,
            const std::map<std::string, Tensor>& tensors) {
  if (options.common.json) {
    nlohmann::json json;
    for (const auto& [name, tensor] : tensors) {
      json[name] = {{"shape", tensor.shape()}, {"dtype", name_of(tensor.dtype())}};
    }
    for (const std::filesystem::path& file : files) json["files"].push_back(file.string());
    print_json(json);
  } else if (!options.common.quiet) {
    for (const std::filesystem::path& file : files) fmt::print("{}\n", file.string());
  }
}

void run(const RunOptions& options) {
  const std::vector<std::filesystem::path> files = output_files(options);
  const RunInputs inputs = read_run_inputs(options.inputs);
  for (const auto& [name, tensor] : inputs.tensors) {
    const std::string found = first_non_finite(name, tensor);
    if (!found.empty()) notice(options.common, inputs.files.at(name), found + ", expected finite numbers");
  }
  for (const std::filesystem::path& file : files) check_output(file, options.inputs);
  Progress progress(shows_progress(options.common));
  progress.stage("computing attention");
  const std::map<std::string, Tensor> results = tensors_of(compute(options, inputs));
  progress.hide();
  OutputFiles outputs;
  write(files, results, outputs);
  report(options, files, results);
  outputs.commit();
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
                     "attn run examples/qkv.safetensors -o out.safetensors --causal --weights --lse",
                     "from the project's folder");
  verb->callback([options] { run(*options); });
}

}  // namespace attn::app
