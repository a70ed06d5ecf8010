// The bound of the question: seconds that no plan for this model and workload on this machine can beat. The bound of a
// plan (metrics/bound.hpp) says how fast one particular plan can run at best. If a plan runs as fast as its own
// bound, a better plan can save at most the difference of the two bounds. The functions throw InputError if a platform
// cannot be read or a layer cannot be priced.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenario/scenario.hpp"

namespace sluice {

struct QuestionBound {
  double seconds = 0;
  std::string reason;  ///< the reason why no plan takes fewer seconds, in a few words
  /// The part of the machine for which the bound holds, such as " on gpu0". Empty means the whole machine.
  std::string within = {};
};

/// Returns the bound of a scenario's question. A plan may compute on all devices of the platform,
/// except if the policy computes on only one device. The bound assumes that kernels read and write the first memory of
/// their device. If the policy may place tensors in two memories, the result is placed_bound().
QuestionBound question_bound(const Scenario& scenario);
/// Returns the devices on which a plan for the question may compute.
std::vector<const Device*> question_devices(const Scenario& scenario);
/// Returns the stages from which the bound is computed. These stages do not depend on prices, so a caller may keep them
/// for the next call of question_bound().
std::vector<Stage> question_stages(const Scenario& scenario);
QuestionBound question_bound(const Scenario& scenario, const std::vector<Stage>& stages);

/// The numbers of a question. The bound depends only on these numbers.
struct QuestionTerms {
  /// Consecutive layers. At the beginning and at the end of a block, only one tensor crosses from earlier to later
  /// layers.
  struct Block {
    std::string name;
    /// The seconds in which the fastest device computes the forward passes of all samples.
    double seconds = 0;
    double weight_bytes = 0;  ///< the bytes of the weights that no earlier block has
    /// The bytes that all samples hold if each sample has passed this block and no later layer.
    double waiting_bytes = 0;
    /// The least bytes that all samples hold if each sample is inside the block. If the block has fewer than two layers
    /// that compute, no sample can be inside it, and the number is infinite. For the first block the number is 0,
    /// because the bound does not use it.
    double inside_bytes = 0;
  };
  std::vector<Block> blocks;
  double devices = 1;  ///< the number of devices that may take part
  /// The seconds until the first input has arrived and computation can start.
  double first_s = 0;
  /// After all computation: the seconds that the last answer takes to leave.
  double last_s = 0;
  /// The bytes that fit into the memories of all devices together. If a memory has no limit, the number is infinite.
  double capacity = 0;
  double down_rate = 0;    ///< the most bytes per second from the host to all devices together
  double input_bytes = 0;  ///< the bytes of the inputs of all samples
  double answers_s = 0;    ///< the least seconds in which all answers cross the host's links
  /// How many seconds the busiest link needs for the bytes that must go over it.
  double link_s = 0;
  std::string link;       ///< the name of the busiest link
  bool training = false;
  double backward_s = 0;  ///< the seconds of the backward passes of all samples; 0 for inference
  double reloaded_bytes = 0;  ///< the least bytes of weights that training must load again
  std::string within;         ///< as in QuestionBound
};
QuestionTerms question_terms(const Scenario& scenario, const std::vector<Stage>& stages);
/// Returns the same numbers, without seconds of computation, if tensors may be in all memories of a device.
QuestionTerms placed_terms(const Scenario& scenario, const std::vector<Stage>& stages);
QuestionBound bound_of(const QuestionTerms& terms);

}  // namespace sluice
