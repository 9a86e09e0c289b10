// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/autograd/variable.hpp>
#include <attn/nn/state_dict.hpp>
#include <attn/version.hpp>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace attn::nn {

using autograd::Variable;

// The numbers that a parameter starts from.
enum class StartKind : std::uint8_t {
  zeros,
  ones,
  uniform,  // in -scale ... scale
  normal,   // of mean 0 and deviation `scale`
};

// Which weights, parameters of rank 2, start from what in place of their layer's own choice. fan_in and fan_out are the
// last and the first extent; biases then start from zeros.
enum class InitScheme : std::uint8_t {
  of_the_layer,     // as PyTorch's layers do
  xavier_uniform,   // uniform, bound sqrt(6 / (fan_in + fan_out)) (Glorot & Bengio 2010)
  xavier_normal,    // normal, deviation sqrt(2 / (fan_in + fan_out))
  kaiming_uniform,  // uniform, bound sqrt(6 / fan_in) (He et al. 2015)
  kaiming_normal,   // normal, deviation sqrt(2 / fan_in)
  normal,           // normal, deviation InitOptions::deviation
};

inline namespace ATTN_ABI {

struct Start {
  StartKind kind = StartKind::zeros;
  double scale = 0;  // bound or deviation
};

struct InitOptions {
  std::uint64_t seed = 0;  // the same seed gives the same numbers, whatever the threads
  DType dtype = DType::f32;
  InitScheme scheme = InitScheme::of_the_layer;
  double deviation = 0.02;  // of InitScheme::normal (GPT-2, BERT)
};

// A parameter under the name that state_dict() gives it.
struct NamedParameter {
  std::string name = {};
  Variable variable = {};
};

}  // namespace ATTN_ABI

using ParameterList = std::vector<NamedParameter>;

// Goes through the parameters of a layer and the layers in it, each under its full name. A model of the user's own says
// what it consists of, and everything below works with it:
//
//   struct Tagger {
//     nn::Embedding embed; nn::Linear head;
//     void visit(nn::ParameterVisitor& v) { v.within("embed", embed); v.within("head", head); }
//   };
class ATTN_API ParameterVisitor {
 public:
  virtual ~ParameterVisitor();

  // One parameter: its name in the layer, where it is held, its shape, and what it starts from.
  void parameter(std::string_view name, Variable& variable, std::initializer_list<std::ptrdiff_t> shape,
                 const Start& start);
  // The parameters of a layer in this one, behind "name.".
  template <class Layer>
  void within(std::string_view name, Layer& layer) {
    const std::size_t length = prefix_.size();
    prefix_.append(name).append(".");
    layer.visit(*this);
    prefix_.resize(length);
  }

 protected:
  virtual void on_parameter(const std::string& name, Variable& variable, std::span<const std::ptrdiff_t> shape,
                            const Start& start) = 0;

 private:
  std::string prefix_;
};

namespace detail {

// Anything with visit(ParameterVisitor&), without its type.
class VisitRef {
 public:
  template <class Layer>
  explicit VisitRef(Layer& layer)
      : layer_(&layer), call_([](void* l, ParameterVisitor& v) { static_cast<Layer*>(l)->visit(v); }) {}
  void operator()(ParameterVisitor& visitor) const { call_(layer_, visitor); }

 private:
  void* layer_;
  void (*call_)(void*, ParameterVisitor&);
};

// The functions of the same names below.
ATTN_API void initialise(const VisitRef& layer, const InitOptions& options);
ATTN_API ParameterList parameters(const VisitRef& layer);
ATTN_API void load_parameters(const VisitRef& layer, const StateDict& state, const std::string& prefix, DType dtype);

}  // namespace detail

// Gives every parameter of `layer` random numbers and a gradient. Until then, and until load_parameters, a layer cannot
// be called with variables.
template <class Layer>
void initialise(Layer& layer, const InitOptions& options = {}) {
  detail::initialise(detail::VisitRef(layer), options);
}

// The parameters, for an optimiser, in a fixed order. They share the layer's memory.
template <class Layer>
ParameterList parameters(Layer& layer) {
  return detail::parameters(detail::VisitRef(layer));
}

// The parameters by name, sharing the layer's memory: what io::write_safetensors writes and layer.load() reads.
template <class Layer>
StateDict state_dict(Layer& layer) {
  StateDict state;
  for (const NamedParameter& p : parameters(layer)) state[p.name] = p.variable.value();
  return state;
}

// Makes the layer trainable from these numbers, which are copied, as `dtype` unless that is none. Throws Error, and
// changes nothing, with the name of every tensor that is missing, misshapen or (behind `prefix`) not the layer's.
template <class Layer>
void load_parameters(Layer& layer, const StateDict& state, const std::string& prefix = {}, DType dtype = DType::none) {
  detail::load_parameters(detail::VisitRef(layer), state, prefix, dtype);
}

}  // namespace attn::nn
