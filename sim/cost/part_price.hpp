// The least price of a part of a layer. A cut may split a large layer into parts, which compute shares of the output.
//
// Splitting a layer does not reduce its work. But a cost model that follows measurements may give the parts fewer
// seconds together than the whole layer: a small kernel finds its data in a cache, or the whole layer was measured and
// another cost model prices the part. Without a least price, a plan would become faster by splitting layers for no
// other reason.
#pragma once

#include <optional>

#include "cost/cost.hpp"

namespace sluice {

/// The layer of `query` may be a part of a split layer. If so, returns the query for the layer before the split. The
/// operands of this query are in the device's default memory. Returns nothing if the query's layer was not split.
std::optional<Query> query_of_whole(const Query& query);

/// Returns the share of the whole layer's price that the part costs at least: the part's elements of the output, divided
/// by the whole layer's elements of the output.
double share_of_whole(const Query& query);

/// Returns `price`. If it takes fewer than `least_s` seconds, the returned price takes `least_s` seconds, and the joules
/// grow by the same factor.
Price at_least(Price price, double least_s);

/// Makes the grounds of a part's price add up to `seconds`, the seconds of the price. If they already take as long or
/// longer, nothing changes.
void raise_to(double seconds, std::vector<Grounds>& grounds);

}  // namespace sluice
