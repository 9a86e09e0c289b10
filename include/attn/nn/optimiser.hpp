// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/nn/parameters.hpp>

namespace attn::nn {

// Changes parameters by their gradients. bf16 and f16 parameters get f32 masters, which are what is changed; they are
// rounded into the parameter after each step. Parameters without a gradient are left alone.
class ATTN_API Optimiser {
 public:
  virtual ~Optimiser();

  // One step. Throws Error for a gradient that is on no parameter's shape.
  void step(Context& context = default_context());
  void zero_grad();

  double learning_rate() const { return learning_rate_; }
  void set_learning_rate(double rate) { learning_rate_ = rate; }
  std::int64_t steps() const { return steps_; }
  const ParameterList& parameters() const { return parameters_; }

  // Everything that the next steps depend on besides parameters and learning rate, by name ("step", "NAME.exp_avg",
  // "NAME.master", ...): read back by load_state, training goes on with the same bits. Copies.
  StateDict state() const;
  // Throws Error, and changes nothing, with the name of every tensor that is missing, misshapen or unknown.
  void load_state(const StateDict& state);

 protected:
  // `moments`: the names of the tensors that are kept for each parameter.
  Optimiser(ParameterList parameters, double learning_rate, std::vector<std::string> moments);

  // One parameter, in the dtype that it is changed in, with its gradient in that dtype and its moments.
  struct Update {
    Tensor& parameter;
    const Tensor& grad;
    std::vector<Tensor>& moments;
    std::int64_t step;  // from 1
    bool is_first;      // the moments are zeros that no step has changed
  };
  virtual void update(const Update& update, Context& context) = 0;

 private:
  struct Slot {
    Tensor master;  // holds nothing where the parameter itself is changed
    std::vector<Tensor> moments;
  };

  ParameterList parameters_;
  double learning_rate_;
  std::vector<std::string> names_;
  std::vector<Slot> slots_;
  std::int64_t steps_ = 0;
};

inline namespace ATTN_ABI {

// The arguments of PyTorch's SGD, under its names.
struct SgdOptions {
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;  // added to the gradient, times the parameter
  bool nesterov = false;
};

// The arguments of PyTorch's Adam and AdamW, under its names.
struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9, beta2 = 0.999;  // of the mean and the mean square of gradients
  double eps = 1e-8;                  // added to the root of the mean square
  double weight_decay = 0;            // Adam adds it to the gradient; AdamW shrinks the parameter by lr times it
};

}  // namespace ATTN_ABI

// Gradient descent with momentum, as PyTorch's SGD.
class ATTN_API Sgd : public Optimiser {
 public:
  explicit Sgd(ParameterList parameters, const SgdOptions& options = {});

 private:
  void update(const Update& update, Context& context) override;
  SgdOptions options_;
};

// Adam (Kingma & Ba 2015), as PyTorch's.
class ATTN_API Adam : public Optimiser {
 public:
  explicit Adam(ParameterList parameters, const AdamOptions& options = {});

 private:
  void update(const Update& update, Context& context) override;
  AdamOptions options_;
};

// Adam with decoupled weight decay (Loshchilov & Hutter 2019), as PyTorch's, whose default decay is 0.01; here it is
// said.
class ATTN_API AdamW : public Optimiser {
 public:
  explicit AdamW(ParameterList parameters, const AdamOptions& options = {});

 private:
  void update(const Update& update, Context& context) override;
  AdamOptions options_;
};

}  // namespace attn::nn
