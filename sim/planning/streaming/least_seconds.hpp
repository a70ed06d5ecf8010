// Lower bounds of the seconds of a streamed run, without a rehearsal.
#pragma once

#include <cstdint>
#include <optional>

#include "planning/streaming/groups.hpp"

namespace sluice {

/// Returns a lower bound of the seconds of a run with this choice and at most `most_buffers` buffers. The bound holds
/// for every size of pieces and every `ahead`, because it counts only computations and copies that all these runs have
/// in common. If the platform is a shown machine, the bound is for the real machine (RealCopies).
double seconds_at_least(const StreamedCase& streamed, const StreamedChoice& choice,
                        std::int64_t most_buffers);

/// If the request is for one of several equal replicas: the data of this replica for the bounds below. Its loads have
/// no set-up, and its share of the bandwidth of the links. A link needs as long for the loads of all replicas together
/// as it needs for these loads of one replica. Returns nothing for other requests, and for shown machines.
std::optional<StreamedCase> on_shared_links(const PolicyRequest& request,
                                            const CommonParameters& common,
                                            const StreamedCase& streamed);

/// `shared` is a result of on_shared_links(). Returns a lower bound of the seconds in which a link carries the loads of
/// all replicas.
double loads_at_least(const StreamedCase& shared, const StreamedChoice& choice);

/// `shared` is a result of on_shared_links(). Returns a lower bound of the seconds of a run of all replicas in which
/// passes do not alternate (alternating.hpp).
double replicas_at_least(const StreamedCase& shared, const StreamedChoice& choice);

}  // namespace sluice
