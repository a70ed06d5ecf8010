#include "planning/streaming/choices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/quantity.hpp"
#include "planning/run_seconds.hpp"
#include "planning/streaming/listing.hpp"

namespace sluice {

namespace {

constexpr std::int64_t steps_of_ahead = 32;     ///< of the weights' bytes
constexpr std::int64_t few_steps_of_ahead = 8;  ///< … where they pass `many_passes` times or more
constexpr double many_passes = 8;
constexpr std::int64_t pieces_of_model = 192;
constexpr double pieces_of_step = 768;  ///< in which the weights may pass several times

std::string gb(std::int64_t bytes) {
  return format_quantity(static_cast<double>(bytes), Dimension::bytes);
}

/// Large enough that what each transfer costs besides its bytes is a hundredth at most.
std::int64_t small_piece(const StreamedCase& streamed) {
  const double fixed = 100 * streamed.down.setup_s * streamed.down.bandwidth;
  return std::max(
      {streamed.weights() / pieces_of_model, static_cast<std::int64_t>(fixed), std::int64_t{4096}});
}

/// Everything that the candidates of one cut share.
struct Shared {
  const PolicyRequest& request;
  Common common;
  StreamedKeys keys;
  StreamedCase streamed;
  std::optional<std::int64_t> capacity;
};

/// The ways to run so many micro-batches in flight under one fate of the boundaries.
class Ways {
 public:
  Ways(std::shared_ptr<const Shared> shared, std::int64_t in_flight, bool offload)
      : shared_(std::move(shared)), in_flight_(in_flight), offload_(offload) {}

  std::int64_t count() const {
    return static_cast<std::int64_t>(buffers().size() * pieces().size() * aheads().size());
  }

  /// From what every way of them has to compute and to copy.
  double at_least() const {
    const StreamedCase& streamed = shared_->streamed;
    const double passes = this->passes();
    const std::vector<std::int64_t> buffers = this->buffers();
    const std::int64_t most_buffers = *std::max_element(buffers.begin(), buffers.end());
    const double waits = std::max<double>(
        0, static_cast<double>(streamed.micro_batches) -
               passes * static_cast<double>(most_buffers));  // for copies, within a step
    double compute = 0, weights = 0, down = 0, up = 0, runs = 0;
    for (std::size_t g = 0; g < streamed.groups.size(); ++g) {
      const StreamedCase::Group& group = streamed.groups[g];
      const bool last = g + 1 == streamed.groups.size();
      const bool loads = g == 0 || offload_, saves = last ? streamed.returns_answers : offload_;
      const double in = loads ? streamed.down.seconds(group.bytes.input) : 0;
      const double out = saves ? streamed.up.seconds(group.bytes.output) : 0;
      compute += group.compute_s;
      if (group.bytes.weights > 0) weights += streamed.down.seconds(group.bytes.weights);
      down += in;
      up += out;
      runs += std::max(
          {static_cast<double>(streamed.micro_batches) * group.compute_s, waits * in, waits * out});
    }
    const auto steps = static_cast<double>(streamed.steps);
    const double all = steps * static_cast<double>(streamed.micro_batches);
    const double turns = streamed.groups.size() == 1 ? 1 : passes * steps;
    if (!streamed.overlap) return turns * weights + all * (compute + down + up);
    return std::max({steps * runs, turns * weights + all * down, all * up});
  }

  void simulate(double worth, const std::function<void(const Settled&)>& settled) const {
    for (const std::int64_t buffers : this->buffers())
      for (const std::int64_t piece : pieces()) {
        Rehearsal rehearsal(shared_->streamed,
                            {in_flight_, buffers, offload_, shared_->keys.prefetch, piece, 0});
        simulate(rehearsal, worth, settled);
      }
  }

 private:
  /// From the most bytes ahead to none: with fewer the lower bound rises, and where the loads do
  /// not use them all the order is one that was simulated before.
  void simulate(Rehearsal& rehearsal, double& worth,
                const std::function<void(const Settled&)>& settled) const {
    std::int64_t same_from = std::numeric_limits<std::int64_t>::max();
    const std::vector<std::int64_t> aheads = this->aheads();
    for (auto ahead = aheads.rbegin(); ahead != aheads.rend(); ++ahead) {
      rehearsal.set_ahead(*ahead);
      const bool fits = !shared_->capacity || rehearsal.bytes() <= *shared_->capacity;
      if (!fits || rehearsal.bytes() >= same_from) continue;
      if (!(rehearsal.at_least() < worth * (1 - 1e-12))) return;
      const RehearsedOrder order = rehearsal.order();
      same_from = order.used;
      const double seconds = seconds_of(rehearsal, order);
      worth = std::min(worth, seconds);
      settled({seconds, text(rehearsal),
               [shared = shared_, choice = rehearsal.choice(), limited = replayed()] {
                 const Rehearsal again(shared->streamed, choice);
                 Plan plan = list_rehearsed(shared->request, shared->common, again);
                 if (limited) stay_within(plan, shared->common.device.name, again.bytes());
                 return plan;
               }});
    }
  }

  /// A rehearsal knows neither how copies up and down share a link nor whether host memory has
  /// room; the plan's replay does.
  bool replayed() const {
    const StreamedCase& streamed = shared_->streamed;
    return (streamed.shared_link && streamed.overlap) || (streamed.host_limited && offload_);
  }

  double seconds_of(const Rehearsal& rehearsal, const RehearsedOrder& order) const {
    if (!replayed()) return rehearsal.seconds(order.loads);
    Plan plan = list_rehearsed(shared_->request, shared_->common, rehearsal);
    stay_within(plan, shared_->common.device.name, rehearsal.bytes());
    return run_seconds(plan);
  }

  /// Of all weights, in a step.
  double passes() const {
    return std::ceil(static_cast<double>(shared_->streamed.micro_batches) /
                     static_cast<double>(in_flight_));
  }
  std::vector<std::int64_t> buffers() const {
    if (!shared_->streamed.overlap) return {1};
    std::vector<std::int64_t> counts = {3, 8, 1};
    if (const auto most = shared_->keys.buffers) {  // what is asked for is the most there may be
      const std::int64_t useful = std::min(*most, shared_->streamed.micro_batches + 1);
      std::erase_if(counts, [&](std::int64_t some) { return some >= useful; });
      counts.insert(counts.begin(), useful);
    }
    return counts;
  }
  std::vector<std::int64_t> pieces() const {
    if (shared_->keys.piece) return {*shared_->keys.piece};
    if (!shared_->streamed.overlap) return {0};
    const StreamedCase& streamed = shared_->streamed;
    const double in_step = static_cast<double>(streamed.weights()) * passes() / pieces_of_step;
    const std::int64_t piece = std::max(small_piece(streamed), static_cast<std::int64_t>(in_step));
    const auto divided = [&](const StreamedCase::Group& group) {
      return group.bytes.weights > piece;
    };
    const auto& groups = streamed.groups;
    if (std::none_of(groups.begin(), groups.end(), divided)) return {0};
    if (streamed.down.setup_s > 0) return {piece, 0};
    return {piece};
  }
  std::vector<std::int64_t> aheads() const {
    if (!shared_->streamed.overlap || shared_->streamed.groups.size() == 1) return {0};
    const std::int64_t all = shared_->streamed.weights();
    // Replays cost more than rehearsals, and rehearsals of many passes more than those of few.
    const std::int64_t steps = replayed()               ? 4
                               : passes() < many_passes ? steps_of_ahead
                                                        : few_steps_of_ahead;
    std::vector<std::int64_t> bytes;
    for (std::int64_t i = 0; i <= steps; ++i)
      bytes.push_back(static_cast<std::int64_t>(static_cast<double>(all) * static_cast<double>(i) /
                                                static_cast<double>(steps)));
    if (const auto most = shared_->keys.ahead) {  // what is asked for is the most there may be
      std::erase_if(bytes, [&](std::int64_t some) { return some >= *most; });
      bytes.push_back(std::min(*most, all));
    }
    bytes.erase(std::unique(bytes.begin(), bytes.end()), bytes.end());
    return bytes;
  }

  std::string text(const Rehearsal& rehearsal) const {
    const StreamedChoice& choice = rehearsal.choice();
    const std::size_t groups = shared_->streamed.groups.size();
    std::string text = std::to_string(groups) + (groups == 1 ? " stage" : " stages");
    text += ", in_flight: " + std::to_string(choice.in_flight) +
            ", buffers: " + std::to_string(choice.buffers);
    text += ", pieces: " + (choice.piece == 0 ? "whole" : gb(choice.piece));
    if (choice.prefetch) text += ", prefetch: " + std::to_string(*choice.prefetch);
    text += ", ahead: " + gb(choice.ahead);
    if (groups > 1) text += choice.offload ? ", strategy: offload_all" : ", strategy: keep_all";
    return text + "; stays within " + gb(rehearsal.bytes());
  }

  std::shared_ptr<const Shared> shared_;
  std::int64_t in_flight_;
  bool offload_;
};

}  // namespace

std::vector<Candidate> streamed_candidates(const PolicyRequest& request, const Common& common,
                                           const StreamedKeys& keys) {
  auto shared = std::make_shared<const Shared>(
      Shared{request, common, keys, streamed_case(request, common),
             request.capacity_enforced ? common.device.capacity : std::nullopt});
  const StreamedCase& streamed = shared->streamed;
  std::vector<std::int64_t> counts;
  if (keys.in_flight)
    counts = {*keys.in_flight};
  else if (streamed.groups.size() == 1)
    counts = {streamed.micro_batches};
  else
    counts = in_flight_choices(streamed.micro_batches, 3);
  std::vector<bool> fates;
  if (keys.offload)
    fates = {*keys.offload};
  else
    fates = {false, true};
  if (streamed.groups.size() == 1) fates = {false};
  std::vector<Candidate> candidates;
  for (const bool offload : fates)
    for (const std::int64_t in_flight : counts) {
      const auto ways = std::make_shared<const Ways>(shared, in_flight, offload);
      candidates.push_back(
          {ways->at_least(), ways->count(),
           [ways](double worth, const auto& settled) { ways->simulate(worth, settled); }});
    }
  return candidates;
}

StreamedKeys streamed_keys(const PolicyRequest& request, const Common& common,
                           const Reader& parameters) {
  const auto open = [&](const char* key) {
    return !parameters.has(key) || parameters.is_word(key, "auto");
  };
  StreamedKeys keys;
  if (!open("in_flight"))
    keys.in_flight =
        std::min(parameters.integer("in_flight"), request.workload.micro_batches_per_step());
  if (!open("prefetch")) keys.prefetch = parameters.integer("prefetch");
  if (keys.prefetch.value_or(0) > 0 && !common.overlap)
    parameters.fail("prefetch", "'" + std::to_string(*keys.prefetch) +
                                    "' for 'prefetch': without overlap nothing is loaded ahead, "
                                    "it must be 0");
  if (!open("buffers")) keys.buffers = parameters.integer("buffers");
  if (!open("pieces"))
    keys.piece = parameters.is_word("pieces", "whole") ? 0 : parameters.bytes("pieces");
  constexpr std::int64_t most_pieces = 1'000'000;
  std::int64_t weights = 0;
  for (const Stage& stage : request.pricing.stages)
    weights = checked_add(weights, stage.weight_bytes, "bytes of all weights");
  if (keys.piece.value_or(0) > 0 && weights / *keys.piece > most_pieces)
    parameters.fail("pieces", "'" + parameters.text("pieces") + "' for 'pieces': weights of " +
                                  gb(weights) + " would be more than " +
                                  std::to_string(most_pieces) + " transfers");
  if (!open("ahead")) keys.ahead = parameters.bytes("ahead");
  if (!common.overlap) {  // one thing at a time: nothing of this makes a difference
    keys.buffers = 1;
    keys.prefetch = 0;
    if (!keys.piece) keys.piece = 0;
  }
  if (request.fates) keys.offload = request.strategy().offloads_boundaries;
  return keys;
}

std::vector<Field> streamed_parameters() {
  return {
      {.name = "in_flight",
       .type = Type::integer,
       .summary = "micro-batches that run through each group between two loads of its weights, at "
                  "most those of a step; in training auto takes equal shares of few passes",
       .default_text = "auto",
       .choices = {"auto"},
       .minimum = 1,
       .maximum = 1e9},
      {.name = "prefetch",
       .type = Type::integer,
       .summary = "groups whose weights may be loaded ahead; auto: as many as `ahead` has room for",
       .default_text = "auto",
       .choices = {"auto"},
       .maximum = 1e6},
      {.name = "pieces",
       .type = Type::quantity,
       .summary = "bytes of one transfer of weights at most; whole: a group at a time",
       .default_text = "auto",
       .dimension = Dimension::bytes,
       .choices = {"auto", "whole"},
       .minimum = 1},
      {.name = "ahead",
       .type = Type::quantity,
       .summary = "bytes of memory for weights that are loaded ahead, beside the most that the run "
                  "needs at any moment without them",
       .default_text = "auto",
       .dimension = Dimension::bytes,
       .choices = {"auto"}},
  };
}

}  // namespace sluice
