// listed: a fate for each stage, as the scenario says.
#include "fates/strategy.hpp"

#include <charconv>
#include <optional>

#include "base/error.hpp"
#include "base/suggest.hpp"

namespace sluice {
namespace {

struct Range {
  std::size_t first = 0, last = 0;
};

/// A number from 1 to the number of stages.
std::optional<std::size_t> number_of(std::string_view text, std::size_t stages) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  if (number < 1 || number > stages) return {};
  return number - 1;
}

/// "6", "6..14" (both counted from 1), or the name of a stage.
Range range_of(const Value& item, const Chain& chain) {
  const std::string text = item.is_scalar() ? item.text() : "";
  std::vector<std::string> names;
  for (std::size_t s = 0; s < chain.stages.size(); ++s) {
    if (chain.stages[s].name == text) return {s, s};
    names.push_back(chain.stages[s].name);
  }
  const std::size_t dots = text.find("..");
  const auto first = number_of(text.substr(0, dots), names.size());
  const auto last =
      dots == std::string::npos ? first : number_of(text.substr(dots + 2), names.size());
  if (first && last && *first <= *last) return {*first, *last};
  fail_at(item, "'" + text + "' is no stage" + did_you_mean(text, names) +
                    "; expected a number from 1 to " + std::to_string(names.size()) +
                    ", a range like 1..2, or one of the names: " + join(names));
}

FateChoice choose(const FateRequest& request, const Reader& parameters) {
  std::vector<std::optional<Fate>> fates(request.chain.stages.size());
  const auto read = [&](const char* key, Fate fate) {
    const Value* list = parameters.value(key);
    if (!list) return;
    for (const Value& item : list->items()) {
      const Range range = range_of(item, request.chain);
      for (std::size_t s = range.first; s <= range.last; ++s) {
        if (fates[s])
          fail_at(item, "stage '" + request.chain.stages[s].name + "' has a fate already");
        fates[s] = fate;
      }
    }
  };
  read("keep", Fate::keep);
  read("recompute", Fate::recompute);
  read("offload", Fate::offload);
  std::vector<Fate> all;
  for (const std::optional<Fate>& fate : fates) all.push_back(fate.value_or(Fate::keep));
  return {tape_of(request.chain, all), {}};
}

Field list_of(const char* name, const char* summary) {
  return {.name = name, .type = Type::list, .summary = summary, .optional = true};
}

}  // namespace

extern const FateStrategy listed_fates;
const FateStrategy listed_fates = {
    .name = "listed",
    .summary = "A fate for each stage as listed; stages that are not listed are kept.",
    .source = "seed 000, the combined strategy",
    .parameters = {list_of("keep", "stages that are kept: numbers from 1, ranges 6..14, names"),
                   list_of("recompute", "stages that are recomputed from what is kept before them"),
                   list_of("offload", "stages that go to host memory and come back")},
    .choose = choose,
};

}  // namespace sluice
