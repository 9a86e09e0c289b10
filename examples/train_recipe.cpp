// SPDX-License-Identifier: Apache-2.0
// What `attn train` and `attn eval` do, in a program of one's own: any of the tasks, by its recipe.
//   script/data tagging && train_recipe examples/recipes/tagging.json runs/tagging
#include <attn/train.hpp>
#include <cstdio>

int main(int argc, char** argv) try {
  if (argc != 3) throw attn::Error("train_recipe", "", "expected a recipe and a folder for the run");
  const std::filesystem::path folder = argv[2];
  const attn::train::Recipe recipe = attn::train::load_recipe(argv[1]);

  // Tokens and labels come from the training part alone.
  const auto task = attn::train::make_task(recipe, attn::train::learn_lexicon(recipe));

  attn::train::FitOptions options{.training = recipe.training, .folder = folder, .resume = true};
  options.on_step = [&](const attn::train::StepReport& report) {
    if (report.step != 1 && report.step % 20 != 0) return;
    std::printf("step %lld: loss %.4f\n", static_cast<long long>(report.step), report.loss);
    std::fflush(stdout);
  };
  attn::train::fit(*task, options);

  // The weights that did best on the validation part, judged on data that nothing was chosen by.
  attn::train::load_weights(folder / "best.safetensors", task->parameters());
  for (const attn::train::Score& score : task->evaluate(attn::train::Part::test, attn::default_context())) {
    std::printf("%s on held-out data: %.4f\n", score.name.c_str(), score.value);
  }
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
