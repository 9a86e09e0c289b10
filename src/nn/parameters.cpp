// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/error.hpp>
#include <attn/nn/parameters.hpp>
#include <cmath>
#include <numbers>
#include <set>

#include "base/concat.hpp"
#include "base/convert.hpp"

namespace attn::nn {
namespace {

// SplitMix64 (Steele, Lea & Flood 2014) from a state of the parameter's own.
class Numbers {
 public:
  Numbers(std::uint64_t seed, std::uint64_t parameter) : state_(mixed(seed) ^ mixed(~parameter)) {}

  // In [0, 1), of 53 bits.
  double uniform() {
    state_ += 0x9E3779B97F4A7C15u;
    return static_cast<double>(mixed(state_) >> 11) * 0x1p-53;
  }
  // Mean 0, variance 1 (Box & Muller 1958).
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  static std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
  }
  std::uint64_t state_;
};

Start start_of(std::span<const std::ptrdiff_t> shape, const Start& own, const InitOptions& options) {
  if (options.scheme == InitScheme::of_the_layer || own.kind == StartKind::ones) return own;
  if (shape.size() != 2) return {.kind = StartKind::zeros};
  const double in = static_cast<double>(shape[1]), out = static_cast<double>(shape[0]);
  switch (options.scheme) {
    case InitScheme::xavier_uniform:
      return {.kind = StartKind::uniform, .scale = std::sqrt(6 / (in + out))};
    case InitScheme::xavier_normal:
      return {.kind = StartKind::normal, .scale = std::sqrt(2 / (in + out))};
    case InitScheme::kaiming_uniform:
      return {.kind = StartKind::uniform, .scale = std::sqrt(6 / in)};
    case InitScheme::kaiming_normal:
      return {.kind = StartKind::normal, .scale = std::sqrt(2 / in)};
    default:
      return {.kind = StartKind::normal, .scale = options.deviation};
  }
}

class Initialiser : public ParameterVisitor {
 public:
  explicit Initialiser(const InitOptions& options) : options_(options) {}

 private:
  void on_parameter(const std::string&, Variable& variable, std::span<const std::ptrdiff_t> shape,
                    const Start& own) override {
    const Start start = start_of(shape, own, options_);
    Numbers numbers(options_.seed, count_++);
    Tensor t = Tensor::empty(options_.dtype, shape);
    for (std::ptrdiff_t i = 0; i < t.size(); ++i) {
      double x = start.kind == StartKind::ones ? 1 : 0;
      if (start.kind == StartKind::uniform) x = start.scale * (2 * numbers.uniform() - 1);
      if (start.kind == StartKind::normal) x = start.scale * numbers.normal();
      base::store_as(options_.dtype, t.data(), i, x);
    }
    variable = Variable(t, true);
  }

  InitOptions options_;
  std::uint64_t count_ = 0;
};

class Collector : public ParameterVisitor {
 public:
  ParameterList list;

 private:
  void on_parameter(const std::string& name, Variable& variable, std::span<const std::ptrdiff_t>,
                    const Start&) override {
    if (!variable.has_value()) {
      throw Error("parameters", name, "holds nothing, expected initialise or load_parameters first");
    }
    list.push_back({name, variable});
  }
};

// Reads in the first pass, and puts what it has read in place in the second.
class Loader : public ParameterVisitor {
 public:
  Loader(const StateDict& state, std::string prefix, DType dtype)
      : reader_(state, prefix), state_(state), prefix_(std::move(prefix)), dtype_(dtype) {}

  void finish() {
    std::string extra;
    for (const auto& [name, tensor] : state_) {
      if (name.compare(0, prefix_.size(), prefix_) == 0 && names_.count(name) == 0) {
        extra += base::concat(extra.empty() ? "" : "; ", name, ": not in the model");
      }
    }
    if (!extra.empty()) reader_.report(extra);
    reader_.finish();
    is_reading_ = false;
  }

 private:
  void on_parameter(const std::string& name, Variable& variable, std::span<const std::ptrdiff_t> shape,
                    const Start&) override {
    if (!is_reading_) {
      variable = Variable(read_[next_++], true);
      return;
    }
    names_.insert(prefix_ + name);
    const Tensor t = reader_.take(name, shape);
    read_.push_back(t.has_value() ? t.to(dtype_ == DType::none ? t.dtype() : dtype_) : t);
  }

  StateReader reader_;
  const StateDict& state_;
  std::string prefix_;
  DType dtype_;
  std::set<std::string> names_;
  std::vector<Tensor> read_;
  std::size_t next_ = 0;
  bool is_reading_ = true;
};

}  // namespace

ParameterVisitor::~ParameterVisitor() = default;

void ParameterVisitor::parameter(std::string_view name, Variable& variable, std::initializer_list<std::ptrdiff_t> shape,
                                 const Start& start) {
  on_parameter(prefix_ + std::string(name), variable, std::span<const std::ptrdiff_t>(shape.begin(), shape.size()),
               start);
}

namespace detail {

void initialise(const VisitRef& layer, const InitOptions& options) {
  if (!is_floating(options.dtype)) {
    throw Error("initialise", "dtype", base::concat(name_of(options.dtype), ", expected f32, f64, bf16 or f16"));
  }
  Initialiser initialiser(options);
  layer(initialiser);
}

ParameterList parameters(const VisitRef& layer) {
  Collector collector;
  layer(collector);
  return std::move(collector.list);
}

void load_parameters(const VisitRef& layer, const StateDict& state, const std::string& prefix, DType dtype) {
  if (dtype != DType::none && !is_floating(dtype)) {
    throw Error("load_parameters", "dtype", base::concat(name_of(dtype), ", expected f32, f64, bf16 or f16"));
  }
  Loader loader(state, prefix, dtype);
  layer(loader);
  loader.finish();
  layer(loader);
}

}  // namespace detail
}  // namespace attn::nn
