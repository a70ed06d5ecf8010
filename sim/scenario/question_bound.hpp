// The bound of the question, in seconds: the least time that a machine needs for a model and a workload with any plan.
// The bound of a plan (metrics/bound.hpp) says how fast this one plan can run at best. The difference between the two
// is what a better plan could gain. The functions throw InputError, as the reading of a platform and the pricing of
// layers do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenario/scenario.hpp"

namespace sluice {

struct QuestionBound {
  double seconds = 0;
  std::string reason;  ///< what takes that long, in a few words
  /// The plans for which the bound holds, if the machine would allow others, such as " on gpu0". If it is
  /// empty, the bound holds for all plans.
  std::string within = {};
};

/// Returns the bound for the devices that may take part: all devices of the platform, or under a
/// policy that computes on one device, that device. It assumes that kernels read and write the
/// first memory of their device. If the policy may place tensors in two memories, placed_bound() is
/// taken instead, which counts the computation only.
QuestionBound question_bound(const Scenario& scenario);
/// Returns the devices that may take part.
std::vector<const Device*> question_devices(const Scenario& scenario);
/// Returns the stages from which the bound is computed. They do not depend on prices, so a caller
/// may keep them and pass them to the function below.
std::vector<Stage> question_stages(const Scenario& scenario);
QuestionBound question_bound(const Scenario& scenario, const std::vector<Stage>& stages);

/// The question in numbers. The bound depends on nothing else.
struct QuestionTerms {
  /// Consecutive layers between two places at which only one tensor crosses.
  struct Block {
    std::string name;
    double seconds = 0;       ///< of the forward passes of all samples, on the fastest device
    double weight_bytes = 0;  ///< bytes of the weights that no earlier block has
    /// Bytes of all samples when each has passed this block but no later layer.
    double waiting_bytes = 0;
    /// The least bytes of all samples inside the block; infinite: the block has no inside.
    double inside_bytes = 0;
  };
  std::vector<Block> blocks;
  double devices = 1;         ///< number of devices that may take part
  double first_s = 0;         ///< seconds until the first input has arrived and computing can start
  double last_s = 0;          ///< seconds in which the last answer leaves, after all computing
  double capacity = 0;        ///< bytes of all devices together; infinite: no limit
  double down_rate = 0;       ///< byte per second from the host to all devices together, at most
  double input_bytes = 0;     ///< bytes of the inputs of all samples
  double link_s = 0;          ///< seconds in which the compulsory bytes keep the busiest link busy
  std::string link;           ///< the name of that link
  double backward_s = 0;      ///< backward passes of all samples; 0 for inference
  double reloaded_bytes = 0;  ///< training: at least these bytes of weights must be loaded again
  std::string within;         ///< see QuestionBound
};
QuestionTerms question_terms(const Scenario& scenario, const std::vector<Stage>& stages);
QuestionBound bound_of(const QuestionTerms& terms);

}  // namespace sluice
