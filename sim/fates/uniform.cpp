// Strategies that need no search: all stages have the same fate, or the number of a stage decides
// its fate.
#include "fates/strategy.hpp"

namespace sluice {
namespace {

FateChoice all(const FateRequest& request, Fate fate) {
  return {tape_of(request.chain, std::vector<Fate>(request.chain.stages.size(), fate)), {}};
}

}  // namespace

extern const FateStrategy keep_all_fates = {
    .name = "keep_all",
    .summary = "Activations stay on the device until the backward pass needs them.",
    .details =
        "Use this strategy when the memory holds all activations, or to see how much memory "
        "all activations take. This strategy needs no additional computation and no transfer, "
        "but more memory than any other strategy. The memory grows in proportion to the "
        "number of micro-batches in flight. In inference, boundary activations stay on the "
        "device.",
    .source = "the usual choice if all activations fit",
    .example = "sluice run alexnet_resident workload.mode=training policy=resident fates=keep_all",
    .inference = true,
    .compared = true,
    .choose = [](const FateRequest& request, const Reader&) { return all(request, Fate::keep); },
};

extern const FateStrategy recompute_all_fates = {
    .name = "recompute_all",
    .summary =
        "Only the input of the model is kept. The forward pass runs again before the "
        "backward pass.",
    .details =
        "Use this strategy when memory is scarce and computation is cheap. Between its "
        "forward and its backward pass, a micro-batch keeps only its input. Before the "
        "backward pass, all stages except the last stage run forward again. Their activations are "
        "kept until they are used. So this strategy costs about one additional forward "
        "pass. During the backward pass, all activations of the micro-batch are on the "
        "device.",
    .source = "AlexNet on one card, \"recomputing\"",
    .example =
        "sluice run alexnet_resident workload.mode=training policy=resident fates=recompute_all",
    .compared = true,
    .choose = [](const FateRequest& request,
                 const Reader&) { return all(request, Fate::recompute); },
};

extern const FateStrategy offload_all_fates = {
    .name = "offload_all",
    .summary = "Activations go to host memory and come back when the backward pass needs them.",
    .details =
        "Use this strategy when the link to host memory is fast and idle. Each activation is saved "
        "after its forward pass and "
        "loaded before its backward pass. These transfers overlap with computation, but share the "
        "link with weights and inputs. In inference, boundary activations wait in host memory "
        "between the stages.",
    .source = "AlexNet on one card, \"reloading\"; Rhu et al., vDNN (2016)",
    .example =
        "sluice run alexnet_resident workload.mode=training policy=resident fates=offload_all",
    .inference = true,
    .offloads_boundaries = true,
    .compared = true,
    .choose = [](const FateRequest& request, const Reader&) { return all(request, Fate::offload); },
};

extern const FateStrategy sqrt_fates = {
    .name = "sqrt",
    .summary =
        "The n stages are divided into about sqrt(n) segments, whose inputs are kept. All tensors "
        "inside the segments are recomputed.",
    .details =
        "Use this strategy for long chains of similar stages. The memory of activations grows with "
        "the square root of the number of stages. The strategy computes at most one additional "
        "forward pass. All segments have about the same number of stages. The strategy ignores how "
        "long the stages take and how large their activations are. The strategy `optimal` takes "
        "both into account.",
    .source =
        "Chen, Xu, Zhang and Guestrin, Training deep nets with sublinear memory cost (2016), section 4.1",
    .example =
        "sluice run alexnet_resident workload.mode=training policy=resident stages=per_layer fates=sqrt",
    .compared = true,
    .choose =
        [](const FateRequest& request, const Reader&) {
          return FateChoice{sqrt_tape(request.chain), {}};
        },
};

extern const FateStrategy checkpoint_fates = {
    .name = "checkpoint",
    .summary =
        "The input of each stage is kept. The tensors inside the stage are recomputed before its backward pass.",
    .details =
        "Use this strategy for transformers and other networks whose stages are blocks with small "
        "boundaries and large inner tensors. Each stage keeps its input. Just before its backward "
        "pass, it computes the tensors inside the stage again. This strategy costs at most one "
        "additional forward pass. It needs memory for the boundaries and for the inside of one "
        "stage.",
    .source =
        "Chen, Xu, Zhang and Guestrin, Training deep nets with sublinear memory cost (2016), "
        "section 3; full recomputation in Korthikanti et al. (2022), section 5",
    .example =
        "sluice run alexnet_resident workload.mode=training policy=resident stages=per_layer fates=checkpoint",
    .compared = true,
    .choose =
        [](const FateRequest& request, const Reader&) {
          return FateChoice{checkpoint_tape(request.chain), {}};
        },
};

extern const FateStrategy selective_fates = {
    .name = "selective",
    .summary =
        "Tensors inside attention that are large and cheap to compute are recomputed. All other tensors are "
        "kept.",
    .details =
        "Use this strategy for transformers with long sequences. The scores of attention grow with "
        "the square of the sequence length. They need little computation, so recomputation "
        "is cheap. Products with weights are not computed "
        "twice. In a model without attention, this strategy keeps all activations, like the "
        "strategy keep_all.",
    .source =
        "Korthikanti et al., Reducing activation recomputation in large transformer models (2022), section 5",
    .example = "sluice run megatron_22b fates=selective",
    .selective = true,
    .compared = true,
    .choose = [](const FateRequest& request, const Reader&) { return all(request, Fate::keep); },
};

}  // namespace sluice
