// Strategies that give every stage the same fate, or a fate that depends only on the stage's number.
#include "fates/strategy.hpp"

namespace sluice {
namespace {

FateChoice all(const FateRequest& request, Fate fate) {
  return {tape_of(request.chain, std::vector<Fate>(request.chain.stages.size(), fate)), {}};
}

}  // namespace

extern const FateStrategy keep_all_fates;
const FateStrategy keep_all_fates = {
    .name = "keep_all",
    .summary = "Activations stay on the device until they are needed.",
    .source = "the usual way where everything fits",
    .example = "sluice run alexnet_resident workload.mode=training policy=resident fates=keep_all",
    .inference = true,
    .compared = true,
    .choose = [](const FateRequest& request, const Reader&) { return all(request, Fate::keep); },
};

extern const FateStrategy recompute_all_fates;
const FateStrategy recompute_all_fates = {
    .name = "recompute_all",
    .summary = "Only the input is kept; the forward pass runs again before the backward pass.",
    .source = "AlexNet on one card, \"recomputing\"",
    .example =
        "sluice run alexnet_resident workload.mode=training policy=resident fates=recompute_all",
    .compared = true,
    .choose = [](const FateRequest& request,
                 const Reader&) { return all(request, Fate::recompute); },
};

extern const FateStrategy offload_all_fates;
const FateStrategy offload_all_fates = {
    .name = "offload_all",
    .summary = "Activations go to host memory and come back when they are needed.",
    .source = "AlexNet on one card, \"reloading\"; Rhu et al., vDNN (2016)",
    .example =
        "sluice run alexnet_resident workload.mode=training policy=resident fates=offload_all",
    .inference = true,
    .offloads_boundaries = true,
    .compared = true,
    .choose = [](const FateRequest& request, const Reader&) { return all(request, Fate::offload); },
};

extern const FateStrategy sqrt_fates;
const FateStrategy sqrt_fates = {
    .name = "sqrt",
    .summary = "The inputs of about sqrt(n) segments are kept; what is inside them is recomputed.",
    .source =
        "Chen, Xu, Zhang and Guestrin, Training deep nets with sublinear memory cost (2016), "
        "section 4.1",
    .example =
        "sluice run alexnet_resident workload.mode=training policy=resident stages=per_layer "
        "fates=sqrt",
    .compared = true,
    .choose =
        [](const FateRequest& request, const Reader&) {
          return FateChoice{sqrt_tape(request.chain), {}};
        },
};

extern const FateStrategy checkpoint_fates;
const FateStrategy checkpoint_fates = {
    .name = "checkpoint",
    .summary =
        "The input of each stage is kept; its inside is recomputed before its backward pass.",
    .source =
        "Chen, Xu, Zhang and Guestrin, Training deep nets with sublinear memory cost (2016), "
        "section 3; full recomputation in Korthikanti et al. (2022), section 5",
    .example =
        "sluice run alexnet_resident workload.mode=training policy=resident stages=per_layer "
        "fates=checkpoint",
    .compared = true,
    .choose =
        [](const FateRequest& request, const Reader&) {
          return FateChoice{checkpoint_tape(request.chain), {}};
        },
};

extern const FateStrategy selective_fates;
const FateStrategy selective_fates = {
    .name = "selective",
    .summary =
        "Tensors that are large and cheap to compute (the core of attention) are recomputed; "
        "all others are kept.",
    .source =
        "Korthikanti et al., Reducing activation recomputation in large transformer models "
        "(2022), section 5",
    .example = "sluice run megatron_22b fates=selective",
    .selective = true,
    .compared = true,
    .choose = [](const FateRequest& request, const Reader&) { return all(request, Fate::keep); },
};

}  // namespace sluice
