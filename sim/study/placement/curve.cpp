#include "study/placement/curve.hpp"

#include <charconv>
#include <cmath>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "study/placement/of_scenario.hpp"

namespace sluice {
namespace {

constexpr double most_sizes = 1000;

[[noreturn]] void refuse(const std::string& text) {
  throw UsageError("'" + text +
                   "' says no size of fast memory; expected bytes (16GB), a share of what is "
                   "needed (40%), fast to slow memory (1:8), or shares in steps (10%..100%:5)");
}

double number(const std::string& part, const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
  if (error != std::errc() || end != part.data() + part.size() || !std::isfinite(value) ||
      value < 0)
    refuse(text);
  return value;
}

double percentage(std::string part, const std::string& text) {
  if (part.empty() || part.back() != '%') refuse(text);
  part.pop_back();
  return number(part, text);
}

void add_one(std::vector<double>& shares, const std::string& part, const std::string& text,
             std::int64_t needed) {
  if (!part.empty() && part.back() == '%') {
    shares.push_back(percentage(part, text) / 100 * static_cast<double>(needed));
  } else if (const std::size_t colon = part.find(':'); colon != std::string::npos) {
    const double fast = number(part.substr(0, colon), text);
    const double slow = number(part.substr(colon + 1), text);
    if (!(fast + slow > 0)) refuse(text);
    shares.push_back(fast / (fast + slow) * static_cast<double>(needed));
  } else {
    try {
      shares.push_back(static_cast<double>(parse_bytes(part, "fast")));
    } catch (const Error&) {
      refuse(text);
    }
  }
}

void add_range(std::vector<double>& sizes, const std::string& part, std::size_t dots,
               const std::string& text, std::int64_t needed) {
  std::string last = part.substr(dots + 2);
  double step = 10;
  if (const std::size_t colon = last.find(':'); colon != std::string::npos) {
    step = number(last.substr(colon + 1), text);
    last.resize(colon);
  }
  const double low = percentage(part.substr(0, dots), text), high = percentage(last, text);
  if (!(step > 0) || high < low || (high - low) / step > most_sizes) refuse(text);
  for (int n = 0; low + n * step <= high + 1e-9; ++n)
    sizes.push_back((low + n * step) / 100 * static_cast<double>(needed));
}

}  // namespace

std::vector<std::int64_t> fast_sizes(const std::string& text, std::int64_t needed) {
  std::vector<double> sizes;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const std::size_t dots = part.find("..");
    if (dots != std::string::npos)
      add_range(sizes, part, dots, text, needed);
    else
      add_one(sizes, part, text, needed);
    begin = end + 1;
  }
  std::vector<std::int64_t> bytes;
  for (const double size : sizes) {
    if (!(size <= 9e18)) refuse(text);
    bytes.push_back(static_cast<std::int64_t>(std::llround(size)));
  }
  return bytes;
}

double PlacementCurve::fraction(const PlacementResult& result) const {
  return static_cast<double>(result.capacity) / static_cast<double>(needed);
}

PlacementCurve placement_curve(const Scenario& scenario, const CurveRequest& request) {
  const TwoMemories memories = two_memories(scenario.platform, request.device);
  PlacementCurve curve{.scenario = scenario.name,
                       .question = PlacementQuestion(placement_problem(scenario, memories))};
  curve.needed = curve.question.peak();
  curve.all_fast_s = curve.question.all_fast_seconds();
  curve.results = place_by_all(curve.question, fast_sizes(request.fast, curve.needed), request.ways,
                               request.time_limit_s);
  return curve;
}

}  // namespace sluice
