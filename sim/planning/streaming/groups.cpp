#include "planning/streaming/groups.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

#include "base/quantity.hpp"
#include "planning/builder.hpp"
#include "workload/rounds.hpp"

namespace sluice {

std::vector<GroupRun> group_runs(std::size_t groups, std::int64_t per_step,
                                 std::int64_t in_flight) {
  // Each run of a group has at least one action. So a step has at least as many actions as runs.
  refuse_long_plan(checked_mul(passes_per_step(per_step, in_flight),
                               static_cast<std::int64_t>(groups), "actions"));
  std::vector<GroupRun> runs;
  std::int64_t slot = 0, pass = 0;
  for (std::int64_t first = 0; first < per_step; first += in_flight, ++pass)
    for (std::size_t g = 0; g < groups; ++g) {
      const std::int64_t count = std::min(in_flight, per_step - first);
      runs.push_back({g, pass, first, count, slot});
      slot += count;
    }
  return runs;
}

std::vector<GroupRun> group_runs_short_first(std::size_t groups, std::int64_t micro_batches,
                                             std::int64_t in_flight) {
  std::vector<GroupRun> runs = group_runs(groups, micro_batches, in_flight);
  const std::int64_t first = runs.back().count;
  std::int64_t slot = 0;
  for (GroupRun& run : runs) {
    run.count = run.pass == 0 ? first : in_flight;
    run.first_micro_batch = run.pass == 0 ? 0 : first + (run.pass - 1) * in_flight;
    run.first_slot = slot;
    slot += run.count;
  }
  return runs;
}

std::int64_t passes_per_step(std::int64_t per_step, std::int64_t in_flight) {
  return (per_step + in_flight - 1) / in_flight;
}

// If the first pass is short instead of the last, its computations may not hide the loads of the second pass. In a step
// of many passes, this hardly matters.
bool StreamedCase::repeats_passes(std::int64_t in_flight) const {
  constexpr std::int64_t many_passes = 256, many_passes_of_very_long = 64;
  if (!may_repeat || micro_batches <= longest_round) return false;
  const std::int64_t passes = passes_per_step(micro_batches, in_flight),
                     left = micro_batches - (passes - 1) * in_flight;
  return passes > many_passes ||
         (is_very_long() && (passes > many_passes_of_very_long || left >= in_flight / 2));
}

bool StreamedCase::is_very_long() const {
  return may_repeat && micro_batches > 8 * longest_round;
}

std::int64_t StreamedCase::in_first_pass(std::int64_t in_flight) const {
  if (!repeats_passes(in_flight)) return std::min(in_flight, micro_batches);
  return micro_batches - (passes_per_step(micro_batches, in_flight) - 1) * in_flight;
}

std::int64_t StreamedCase::in_last_pass(std::int64_t in_flight) const {
  if (repeats_passes(in_flight)) return std::min(in_flight, micro_batches);
  return micro_batches - (passes_per_step(micro_batches, in_flight) - 1) * in_flight;
}

std::int64_t StreamedCase::answer_bytes(std::size_t group) const {
  const StageBytes& bytes = groups[group].bytes;
  return group + 1 == groups.size() ? bytes.output : bytes.answer;
}

double StreamedCase::save_s(std::size_t group) const {
  const std::int64_t bytes = answer_bytes(group);
  return returns_answers && bytes > 0 ? answer_copy().seconds(bytes) : 0;
}

std::int64_t StreamedCase::weights() const {
  std::int64_t bytes = 0;
  for (const Group& group : groups)
    bytes = checked_add(bytes, group.bytes.weights, "bytes of all weights");
  return bytes;
}

std::vector<StageInput> group_tensors(const PolicyRequest& request, bool offload) {
  std::vector<StageInput> tensors;
  for (StageInput& tensor :
       stage_inputs(request.pricing.model, request.pricing.stages,
                    offload ? EarlierAnswers::read_in_last_stage : EarlierAnswers::left_out)) {
    if (tensor.of_model) {
      std::erase(tensor.read_in, std::size_t{0});
      tensor.of_model = false;
      if (tensor.name.empty()) tensor.name = "input";
    }
    if (!tensor.read_in.empty()) tensors.push_back(std::move(tensor));
  }
  return tensors;
}

std::vector<StageBytes> streamed_bytes(const PolicyRequest& request, bool offload) {
  std::vector<StageBytes> all = stage_bytes(request);
  const std::int64_t samples = request.workload.micro_batch;
  for (std::size_t g = 0; g + 1 < all.size(); ++g) all[g].output = all[g + 1].input = 0;
  for (const StageInput& tensor : group_tensors(request, offload)) {
    const std::int64_t bytes = tensor.bytes * samples;
    const std::size_t last = tensor.read_in.back();
    all[tensor.made_in].output += bytes;
    if (offload)
      for (const std::size_t g : tensor.read_in) all[g].input += bytes;
    else
      all[last].input += bytes;
    for (std::size_t g = tensor.made_in + 1; !offload && g < last; ++g) all[g].around += bytes;
  }
  for (std::size_t g = 0; !offload && g + 1 < all.size(); ++g) {
    all[g].answer = request.pricing.stages[g].answer_bytes * samples;
    all.back().output -= all[g].answer;
  }
  return all;
}

namespace {

/// If the platform of the request is a shown machine, returns the copies on the real machine. On a shown machine, host
/// memory stands for the second memory of the device.
std::optional<RealCopies> real_copies(const PolicyRequest& request,
                                      const CommonParameters& common) {
  if (!request.real_machine) return {};
  const Platform& machine = *request.real_machine;
  const std::string &host = machine.host().name, &second = common.host,
                    &device = common.device.name;
  RealCopies real{copy_time(machine, host, device), copy_time(machine, device, host),
                  copy_time(machine, host, second)};
  std::vector<std::string> streams = {machine.path(second, device).stream,
                                      machine.path(device, second).stream};
  const auto engine_of = [&](const Path& path) {
    const auto known = std::find(streams.begin(), streams.end(), path.stream);
    const auto engine = static_cast<std::size_t>(known - streams.begin());
    if (known == streams.end()) streams.push_back(path.stream);
    return engine;
  };
  const Path &inputs = machine.path(host, device), &begins = machine.path(host, second);
  real.inputs_engine = engine_of(inputs);
  real.answers_engine = engine_of(machine.path(device, host));
  real.begins_engine = engine_of(begins);
  real.shared_s_per_byte = within_accuracy / narrowest(machine, common_channels(inputs, begins));
  const std::array<const Path*, 5> paths = {&machine.path(second, device),
                                            &machine.path(device, second), &inputs,
                                            &machine.path(device, host), &begins};
  for (const Path* one : paths)
    for (const Path* other : paths)
      if (one->stream != other->stream && !common_channels(*one, *other).empty())
        real.share_links = true;
  return real;
}

/// Returns whether another device reaches host memory over a link that this device uses. If so, replicas on the two
/// devices slow each other down.
bool shares_links_with_devices(const Platform& platform, const CommonParameters& common) {
  const std::string &host = common.host, &own = common.device.name;
  for (const Device& device : platform.devices) {
    if (device.name == own) continue;
    for (const auto& [mine, other] :
         {std::pair{&platform.path(host, own), platform.path_or_null(host, device.name)},
          std::pair{&platform.path(own, host), platform.path_or_null(device.name, host)}})
      if (other && !common_channels(*mine, *other).empty()) return true;
  }
  return false;
}

}  // namespace

namespace {

/// Clears StreamedCase::Group::hands_over wherever a shortcut around the next group crosses the cut.
void find_shortcuts(const PolicyRequest& request, std::vector<StreamedCase::Group>& groups) {
  for (const StageInput& tensor : group_tensors(request, /*offload=*/true)) {
    const std::size_t last = tensor.read_in.back();
    for (std::size_t g = tensor.made_in; g < last; ++g)
      if (last > tensor.made_in + 1) groups[g].hands_over = false;
  }
}

}  // namespace

StreamedCase streamed_case(const PolicyRequest& request, const CommonParameters& common,
                           bool offload) {
  StreamedCase made;
  const std::vector<StageBytes> bytes = streamed_bytes(request, offload);
  for (std::size_t g = 0; g < bytes.size(); ++g)
    made.groups.push_back(
        {bytes[g], price_of(request.pricing, {ActionKind::forward, request.pricing.stages[g],
                                              common.device, request.workload.micro_batch})
                       .seconds});
  if (offload) find_shortcuts(request, made.groups);
  const Platform& platform = request.pricing.platform;
  made.down = copy_time(platform, common.host, common.device.name);
  made.up = copy_time(platform, common.device.name, common.host);
  const std::vector<std::uint32_t> down = platform.path(common.host, common.device.name).channels;
  for (const std::uint32_t up : platform.path(common.device.name, common.host).channels)
    if (std::find(down.begin(), down.end(), up) != down.end()) made.shared_link = true;
  made.shared_with_devices = shares_links_with_devices(platform, common);
  made.host_limited = request.capacity_enforced && platform.host().capacity.has_value();
  made.caches = cache_bytes(request);
  made.micro_batches = request.workload.micro_batches_per_step();
  made.steps = request.workload.steps;
  made.may_repeat = made.steps == 1 && platform.devices.size() == 1 &&
                    common.device.memories.size() == 1 && !request.real_machine &&
                    !request.made_to_change;
  made.returns_answers = common.return_outputs;
  made.overlap = common.overlap;
  made.real = real_copies(request, common);
  return made;
}

std::vector<std::int64_t> pieces_of(std::int64_t weights, std::int64_t piece) {
  if (weights == 0) return {};
  const std::int64_t count = piece == 0 ? 1 : (weights + piece - 1) / piece;
  std::vector<std::int64_t> pieces;
  for (std::int64_t i = 0; i < count; ++i)
    pieces.push_back(weights / count + (i < weights % count ? 1 : 0));
  return pieces;
}

namespace {

/// Approximate limits: for the number of pieces into which the weights of the model are divided, and for the number of
/// pieces that all passes of a step together load.
constexpr std::int64_t pieces_of_model = 192;
constexpr double pieces_of_step = 768;

/// Returns the smallest size of a piece with which the model has about `pieces_of_model` pieces or fewer, and a piece's
/// set-up takes at most 1 % of the time of its transfer.
std::int64_t small_piece(const StreamedCase& streamed) {
  const double fixed = 100 * streamed.down.setup_s * streamed.down.bandwidth;
  return std::max(
      {streamed.weights() / pieces_of_model, static_cast<std::int64_t>(fixed), std::int64_t{4096}});
}

}  // namespace

std::vector<std::int64_t> piece_sizes(const StreamedCase& streamed, double passes) {
  if (!streamed.overlap) return {0};
  const double in_step = static_cast<double>(streamed.weights()) * passes / pieces_of_step;
  const std::int64_t piece = std::max(small_piece(streamed), static_cast<std::int64_t>(in_step));
  const auto divides = [&](std::int64_t bytes) {
    const auto& groups = streamed.groups;
    return std::any_of(groups.begin(), groups.end(),
                       [&](const auto& group) { return group.bytes.weights > bytes; });
  };
  if (divides(piece) && streamed.down.setup_s == 0) return {piece};
  if (divides(piece)) return {piece, 0};
  // No group is larger than `piece`, so smaller pieces are tried. All set-ups together then take longer. But a small
  // piece needs less room, so a group's loads may begin sooner and end sooner.
  for (const std::int64_t part : {4, 16})
    if (divides(piece / part) && piece / part >= 4096) return {piece / part, 0};
  return {0};
}

std::int64_t StreamedChoice::resident_bytes() const {
  return std::accumulate(resident.begin(), resident.end(), std::int64_t{0});
}

std::string StreamedChoice::text(std::size_t groups) const {
  std::string text = std::to_string(groups) + (groups == 1 ? " stage" : " stages");
  text += ", in_flight: " + std::to_string(in_flight) + ", buffers: " + (spares ? "at most " : "") +
          std::to_string(buffers);
  text += ", pieces: " + (piece == 0 ? "whole" : format_bytes(piece));
  if (prefetch) text += ", prefetch: " + std::to_string(*prefetch);
  text += ", ahead: " + format_bytes(ahead);
  if (resident_bytes() > 0) text += ", resident: " + format_bytes(resident_bytes());
  if (groups > 1) text += offload ? ", strategy: offload_all" : ", strategy: keep_all";
  // No key of a scenario gives the following choices: Sluice makes them by itself.
  if (!boundaries_stay.empty())
    text += "; " + std::to_string(std::ranges::count(boundaries_stay, true)) + " of " +
            std::to_string(groups - 1) + " boundaries stay on the device";
  if (!inputs_cross) text += "; before a group begins, only the first of its inputs is loaded";
  if (inputs_first) text += "; weights wait for all inputs of earlier groups";
  return text;
}

GroupPieces group_pieces(const StreamedCase& streamed, const StreamedChoice& choice,
                         std::size_t group) {
  const std::int64_t weights = streamed.groups[group].bytes.weights;
  // If there is only one group, all its weights stay.
  const std::int64_t stays = streamed.groups.size() == 1 ? weights : choice.resident_of(group);
  GroupPieces pieces{pieces_of(stays, choice.piece), 0};
  pieces.kept = pieces.bytes.size();
  for (const std::int64_t bytes : pieces_of(weights - stays, choice.piece))
    pieces.bytes.push_back(bytes);
  return pieces;
}

bool kept_in_prologue(const StreamedCase& streamed) {
  return streamed.steps > 1 || streamed.groups.size() == 1;
}

}  // namespace sluice
