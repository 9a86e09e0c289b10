// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <attn/error.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "command.hpp"
#include "joined.hpp"
#include "outputs.hpp"

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

// "look, embed, ..."
std::string verbs_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(verb->get_name());
  }
  return attn::app::joined(names, ", ");
}

// Of "--window=" the parser would make the next word the value.
void check_values(int argc, char** argv) {
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    const std::string_view word = argv[i];
    if (word.starts_with("--") && word.find('=') == word.size() - 1) {
      throw attn::Error(word.substr(0, word.size() - 1), "", "nothing after =, expected a value");
    }
  }
}

// A file that is opened must not get the number of a standard stream that is closed: what is printed would go into it.
void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // Writing to it fails as it would have; the lowest free number is the stream's own.
    if (::fcntl(stream, F_GETFD) == -1) (void)::open("/dev/null", O_RDONLY);
  }
}

int run(int argc, char** argv) {
  CLI::App app("Attention: compute it, look inside it.", "attn");
  app.set_version_flag("--version", "attn " ATTN_VERSION);
  app.require_subcommand(0, 1);
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
    check_values(argc, argv);
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) return fail(kBadInput, "no verb, expected one of " + verbs_of(app));
  } catch (const CLI::Success& e) {  // --help and --version
    std::ostringstream text;
    app.exit(e, text);
    fmt::print("{}", text.str());
  } catch (const CLI::ParseError& e) {
    return fail(kBadInput, std::string(e.what()) + " (attn --help tells more)");
  }
  attn::app::flush_output();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    open_standard_streams();
    return run(argc, argv);
  } catch (const attn::Error& e) {
    return fail(kBadInput, e.what());
  } catch (const std::filesystem::filesystem_error& e) {
    return fail(kBadInput, e.what());
  } catch (const std::system_error& e) {
    // What fmt throws does not name the stream that it could not write to.
    if (std::ferror(stdout) == 0) return fail(kBroken, e.what());
    return fail(kBadInput, "standard output: cannot be written: " + e.code().message());
  } catch (const std::bad_alloc&) {
    return fail(kBroken, "out of memory");
  } catch (const std::exception& e) {
    return fail(kBroken, e.what());
  }
}
