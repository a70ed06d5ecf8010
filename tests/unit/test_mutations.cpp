// Tests documents with random faults, called mutants. A reader must read such a document, or say what is wrong with it.
// The reader must not crash. If it reads the document, the result is written as text and read again.
//
// A longer test has more mutants and another seed. Run it preferably under the sanitizers:
//   SLUICE_MUTATIONS=1000000 SLUICE_MUTATION_SEED=7 SLUICE_MUTANT=mutant.txt sluice_tests "[mutations]"
// Before a mutant is read, it is written to the file that SLUICE_MUTANT names. So after a crash, this file has the
// mutant that caused the crash.
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "base/error.hpp"
#include "fuzz/targets.hpp"
#include "plan/text.hpp"
#include "support/campaign.hpp"
#include "support/random_plan.hpp"
#include "support/source_folder.hpp"

using namespace sluice;
using namespace sluice::test;
namespace fs = std::filesystem;

namespace {

const fs::path root = test::source_folder();

struct Original {
  fs::path path;
  std::string text;
};

std::vector<Original> zoo(const std::string& folder) {
  std::vector<Original> files;
  if (!fs::exists(root / folder)) return files;
  for (const auto& entry : fs::directory_iterator(root / folder)) {
    const std::string ending = entry.path().extension().string();
    if (ending != ".yaml" && ending != ".json") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    files.push_back({entry.path(), text.str()});
  }
  std::sort(files.begin(), files.end(),
            [](const Original& a, const Original& b) { return a.path < b.path; });
  return files;
}

/// Puts one to four faults into a text. A seed gives the same mutants on every machine, because the class does not use
/// the distributions of the standard library, which differ between implementations.
class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  std::string mutant(std::string text) {
    for (std::size_t faults = 1 + below(4); faults > 0; --faults) mutate(text);
    return text;
  }

 private:
  void mutate(std::string& text) {
    const std::size_t at = below(text.size() + 1);
    switch (below(9)) {
      case 0:  // a bit flips
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 1:  // any byte
        if (at < text.size()) text[at] = static_cast<char>(below(256));
        break;
      case 2:
        text.resize(at);
        break;
      case 3:  // a part is lost
        text.erase(at, 1 + below(12));
        break;
      case 4:  // a copy of a part is inserted at another position
        text.insert(below(text.size() + 1), text.substr(at, 1 + below(40)));
        break;
      case 5:
        text.insert(at, token());
        break;
      case 6:
        replace_number(text, at);
        break;
      default:
        mutate_lines(text);
    }
  }

  /// Repeats, removes or moves a line.
  void mutate_lines(std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line + "\n");
    if (lines.empty()) return;
    const std::string line = lines[below(lines.size())];
    if (below(3) > 0) lines.erase(lines.begin() + static_cast<long>(below(lines.size())));
    if (below(3) > 0)
      lines.insert(lines.begin() + static_cast<long>(below(lines.size() + 1)), line);
    text.clear();
    for (const std::string& each : lines) text += each;
  }

  void replace_number(std::string& text, std::size_t from) {
    const std::size_t begin = text.find_first_of("0123456789", from);
    if (begin == std::string::npos) return;
    const std::size_t end = text.find_first_not_of("0123456789.", begin);
    text.replace(begin, (end == std::string::npos ? text.size() : end) - begin, token());
  }

  std::string token() {
    static const std::array<const char*, 44> tokens = {"0",
                                                       "-1",
                                                       "1e999",
                                                       "1e-999",
                                                       "nan",
                                                       ".nan",
                                                       "inf",
                                                       "-.inf",
                                                       "4294967296",
                                                       "\xff",
                                                       "\t",
                                                       "\n",
                                                       "\r\n",
                                                       "\x80",
                                                       "é",
                                                       "&a ",
                                                       "*a",
                                                       "!!int ",
                                                       "<<: ",
                                                       "---\n",
                                                       "...",
                                                       "{",
                                                       "}",
                                                       "[",
                                                       "]",
                                                       "\"",
                                                       "'",
                                                       "#",
                                                       ": ",
                                                       ",",
                                                       "|\n",
                                                       ">-\n",
                                                       "? ",
                                                       "%YAML 9",
                                                       "@",
                                                       "~",
                                                       "\\x0",
                                                       "$size",
                                                       "null",
                                                       "9223372036854775807",
                                                       "-9223372036854775808",
                                                       "0x10",
                                                       "file: a.yaml\n",
                                                       "18446744073709551616"};
    return tokens[below(tokens.size())];
  }

  std::mt19937 random_;
};

unsigned from_environment(const char* name, unsigned otherwise) {
  const char* text = std::getenv(name);
  return text ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : otherwise;
}

/// Makes `count` mutants, each from the next one of `originals`. Checks that `read` reads or refuses each mutant.
template <class Read>
void read_mutants(const std::vector<Original>& originals, unsigned count, unsigned seed,
                  Read&& read) {
  REQUIRE_FALSE(originals.empty());
  count = from_environment("SLUICE_MUTATIONS", test::cases_of(count));
  Mutator mutator(seed + 1000 * from_environment("SLUICE_MUTATION_SEED", 0));
  const char* const keep = std::getenv("SLUICE_MUTANT");
  unsigned taken = 0, refused = 0;
  for (unsigned i = 0; i < count; ++i) {
    const Original& original = originals[i % originals.size()];
    const std::string text = mutator.mutant(original.text);
    if (keep) std::ofstream(keep, std::ios::binary) << text;
    const auto begin = std::chrono::steady_clock::now();
    try {
      read(text, original.path.string());
      ++taken;
    } catch (const Error& error) {
      const std::string message = error.what();
      const bool ours = error.exit_code() == 70, mute = message.empty();
      if (ours || mute)
        FAIL("mutant " << i << " of " << original.path << ": " << message << "\n" << text);
      ++refused;
    } catch (const std::exception& error) {
      FAIL("mutant " << i << " of " << original.path << ": " << error.what() << "\n" << text);
    }
    const std::chrono::duration<double> taken_s = std::chrono::steady_clock::now() - begin;
    if (taken_s.count() > 2) WARN("mutant " << i << " took " << taken_s.count() << " s:\n" << text);
  }
  // Some mutants must be read, and at least a quarter must be refused. If all were read, no fault would be in a part
  // that the reader checks. If all were refused, the mutants would have too many faults.
  CHECK(taken > 0);
  CHECK(refused > count / 4);
}

const char* const scenario_text =
    "format: sluice-scenario/1\n"
    "question: Does it fit?\n"
    "model: {file: ../models/matmul_chain.yaml, layers: 4, size: 64}\n"
    "platform:\n  file: ../platforms/rx7900xtx_pcie4.yaml\n"
    "  devices: {gpu: {memory: {capacity: 1MB}}}\n"
    "workload: {batch: 8, micro_batch: 2, batches_per_step: 2, steps: 3}\n"
    "stages: {cut: explicit, after: [2, product.3]}\n"
    "policy: {name: streamed, in_flight: auto, prefetch: 1}\n"
    "fates: {strategy: offload_all}\nmemory: {capacity: enforced}\n";

}  // namespace

TEST_CASE("800 mutants of the models are read or refused", "[mutations][property]") {
  read_mutants(zoo("models"), 800, 1, read_model_text);
}

TEST_CASE("700 mutants of the platforms are read or refused", "[mutations][property]") {
  read_mutants(zoo("platforms"), 700, 2, read_platform_text);
}

TEST_CASE("700 mutants of the scenarios are read or refused", "[mutations][property]") {
  std::vector<Original> originals = zoo("scenarios");
  originals.push_back({root / "scenarios/mutant.yaml", scenario_text});
  read_mutants(originals, 700, 3, read_scenario_text);
}

TEST_CASE("800 mutants of plans are read or refused", "[mutations][property]") {
  std::vector<Original> originals;
  for (unsigned seed = 0; seed < 20; ++seed)
    originals.push_back(
        {"random" + std::to_string(seed) + ".plan", to_text(test::random_plan(seed))});
  read_mutants(originals, 800, 4, read_plan_text);
}
