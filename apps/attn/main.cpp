// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <attn/error.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>

#include "command.hpp"

namespace {

// Exit codes: what a script can tell apart.
constexpr int kBadInput = 2;  // arguments or files; one sentence says which
constexpr int kBroken = 1;    // lack of memory, or a fault of ours

// One line, whatever names of files and tensors the sentence quotes.
int fail(int code, std::string sentence) {
  std::replace_if(
      sentence.begin(), sentence.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  attn::app::say("attn: " + sentence + "\n");
  return code;
}

int run(int argc, char** argv) {
  CLI::App app("Attention: compute it, look inside it.", "attn");
  app.set_version_flag("--version", "attn " ATTN_VERSION);
  app.require_subcommand(0, 1);
  app.callback([&app] {
    if (app.get_subcommands().empty())
      throw attn::Error("expected a verb", "", "look, embed, run, explain, info, bench");
  });
  attn::app::add_look(app);
  attn::app::add_embed(app);
  attn::app::add_run(app);
  attn::app::add_explain(app);
  attn::app::add_info(app);
  attn::app::add_train(app);
  attn::app::add_eval(app);
  attn::app::add_predict(app);
  attn::app::add_export(app);
  attn::app::add_bench(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForAllHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForVersion& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    return fail(kBadInput, std::string(e.what()) + " (attn --help tells more)");
  }
  // What was printed may still be in a buffer, and the disk behind it full.
  if (std::fflush(stdout) != 0) throw attn::Error("standard output", "", std::strerror(errno));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const attn::Error& e) {
    return fail(kBadInput, e.what());
  } catch (const std::system_error& e) {  // folders that cannot be read, a standard output that cannot be written
    return fail(kBadInput, e.what());
  } catch (const std::bad_alloc&) {
    return fail(kBroken, "out of memory");
  } catch (const std::exception& e) {
    return fail(kBroken, e.what());
  }
}
