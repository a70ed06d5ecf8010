#include "base/suggest.hpp"

#include <algorithm>
#include <array>

#include "base/letters.hpp"

namespace sluice {
namespace {

// Returns the least number of edits that turn `a` into `b`. The algorithm is called optimal string alignment. An edit
// inserts, deletes or replaces a letter, or swaps two neighbours.
std::size_t edits(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

struct Synonym {
  const char *written, *name;
};

/// Synonyms: words that people may use instead of Sluice's names.
constexpr std::array<Synonym, 17> synonyms = {{{"half", "float16"},
                                               {"fp16", "float16"},
                                               {"f16", "float16"},
                                               {"bf16", "bfloat16"},
                                               {"bfp16", "bfloat16"},
                                               {"float", "float32"},
                                               {"single", "float32"},
                                               {"fp32", "float32"},
                                               {"f32", "float32"},
                                               {"tf32", "tfloat32"},
                                               {"double", "float64"},
                                               {"fp64", "float64"},
                                               {"f64", "float64"},
                                               {"i8", "int8"},
                                               {"linear", "dense"},
                                               {"fc", "dense"},
                                               {"fully_connected", "dense"}}};

/// Returns the known name for which `wanted` is a synonym, or else the first known name that begins with `wanted`. If
/// there is none, returns null.
const std::string* plainly_meant(const std::string& wanted, const std::vector<std::string>& known) {
  for (const Synonym& synonym : synonyms)
    if (wanted == synonym.written)
      for (const std::string& name : known)
        if (name == synonym.name) return &name;
  constexpr std::size_t telling = 4;  // a name is guessed from at least this number of letters
  if (wanted.size() < telling) return nullptr;
  for (const std::string& name : known)
    if (lower_case(name).compare(0, wanted.size(), wanted) == 0) return &name;
  return nullptr;
}

}  // namespace

std::string did_you_mean(std::string_view given, const std::vector<std::string>& known) {
  // A word with more than `longest` letters is not a typing mistake.
  constexpr std::size_t longest = 64;
  if (given.empty() || given.size() > longest) return "";
  const std::string wanted = lower_case(given);
  const std::string* nearest = plainly_meant(wanted, known);
  if (nearest) return " (did you mean '" + *nearest + "'?)";
  // A known name may differ from `given` by one edit for each three letters of `given`. If `given` has two letters, one
  // edit is allowed. A single letter must match exactly, because one edit can turn a letter into any other letter.
  std::size_t best = given.size() < 2 ? 1 : std::max<std::size_t>(1, given.size() / 3) + 1;
  for (const std::string& name : known) {
    if (name.size() > 2 * longest) continue;
    const std::size_t distance = edits(wanted, lower_case(name));
    if (distance >= best) continue;
    best = distance;
    nearest = &name;
  }
  return nearest ? " (did you mean '" + *nearest + "'?)" : "";
}

std::string join(const std::vector<std::string>& words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty() || &word != words.data()) text += separator;
    text += word;
  }
  return text;
}

}  // namespace sluice
