// The bound of the question: the least time that a machine could need for a model and a workload,
// whatever the plan. Seconds. Beside it the bound of a plan (metrics/bound.hpp) says how fast no
// execution of that plan can be; the distance between the two is what a better plan could win.
// Throws what reading a platform and pricing layers throw: InputError.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenario/scenario.hpp"

namespace sluice {

struct QuestionBound {
  double seconds = 0;
  std::string reason;  ///< what takes that long, in a few words
  /// " on gpu0": what plans it holds for, where the machine would allow others; empty: for all.
  std::string within = {};
};

/// Of the devices that may take part: all of the platform, or, under a policy that computes on one
/// device, that one. Kernels work in the first memory of their device: what plans could gain that
/// have them work in another one, it does not know.
QuestionBound question_bound(const Scenario& scenario);

/// The question as numbers: all that the bound depends on.
struct QuestionTerms {
  /// Consecutive layers between two places where one tensor alone crosses.
  struct Block {
    std::string name;
    double seconds = 0;        ///< forward passes of all samples, on the fastest device
    double weight_bytes = 0;   ///< those that no earlier block has
    double waiting_bytes = 0;  ///< of all samples, where they have passed it and no layer behind it
    double inside_bytes = 0;   ///< the least of all samples amid it; infinite: no such state
  };
  std::vector<Block> blocks;
  double devices = 1;         ///< that may take part
  double first_s = 0;         ///< before anything can compute: the first input
  double last_s = 0;          ///< after all is computed: the way of the last answer
  double capacity = 0;        ///< bytes of all devices; infinite: without a limit
  double down_rate = 0;       ///< byte/s from the host to all devices, at most
  double input_bytes = 0;     ///< of all samples
  double link_s = 0;          ///< compulsory bytes over the link that they keep busy longest
  std::string link;           ///< its name
  double backward_s = 0;      ///< backward passes of all samples; inference: 0
  double reloaded_bytes = 0;  ///< training: weights that must come again, at the least
  std::string within;         ///< see QuestionBound
};
QuestionTerms question_terms(const Scenario& scenario);
QuestionBound bound_of(const QuestionTerms& terms);

}  // namespace sluice
