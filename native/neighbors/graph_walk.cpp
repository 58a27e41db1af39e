// Walks through a proximity graph: always on from the nearest row that was not left yet, until the
// `width` nearest rows found were all left.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "neighbors/proximity_graph.hpp"

namespace thetahat::neighbors {

namespace {

constexpr std::uint32_t left = 1u << 31;

Float4 load(const float *from) {
    Float4 four;
    std::memcpy(&four, from, sizeof(Float4));
    return four;
}

// Four partial sums of four numbers each keep the additions apart.
template <typename Term>
float sum_of_terms(const float *a, const float *b, std::size_t d, Term term) {
    Float4 s0 = {}, s1 = {}, s2 = {}, s3 = {};
    std::size_t j = 0;
    for (; j + 16 <= d; j += 16) {
        s0 += term(load(a + j) - load(b + j));
        s1 += term(load(a + j + 4) - load(b + j + 4));
        s2 += term(load(a + j + 8) - load(b + j + 8));
        s3 += term(load(a + j + 12) - load(b + j + 12));
    }
    for (; j < d; j += 4)
        s0 += term(load(a + j) - load(b + j));
    const Float4 sum = (s0 + s1) + (s2 + s3);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

} // namespace

float ProximityGraph::between(const float *a, const float *b) const {
    if (manhattan)
        return sum_of_terms(a, b, d, [](const Float4 &gap) { return gap < 0.0f ? -gap : gap; });
    return sum_of_terms(a, b, d, [](const Float4 &gap) { return gap * gap; });
}

void Walk::begin(std::size_t n) {
    if (seen.size() != n || search == 255) {
        seen.assign(n, 0);
        search = 0;
    }
    ++search;
    beam.clear();
    expanded.clear();
}

void walk(const ProximityGraph &graph, const float *query, std::size_t width, Walk &state) {
    state.begin(graph.n);
    std::vector<Near> &beam = state.beam;
    const auto entry = static_cast<std::uint32_t>(graph.entry);
    state.see(entry);
    beam.push_back({graph.between(query, graph.point(entry)), entry});
    std::uint32_t fresh[256];
    const auto plain = [](const Near &near) { return Near{near.distance, near.row & ~left}; };
    for (std::size_t at = 0; at < beam.size();) {
        if (beam[at].row & left) {
            ++at;
            continue;
        }
        const Near here = beam[at];
        beam[at].row |= left;
        state.expanded.push_back(here);
        const std::int32_t *links = graph.linked(here.row);
        const auto count = static_cast<std::size_t>(graph.counts[here.row]);
        std::size_t n_fresh = 0;
        for (std::size_t l = 0; l < count; ++l) {
            const auto row = static_cast<std::uint32_t>(links[l]);
            if (!state.see(row))
                continue;
            fresh[n_fresh++] = row;
            const auto *ahead = reinterpret_cast<const char *>(graph.point(row));
            for (std::size_t byte = 0; byte < graph.d * sizeof(float); byte += 64)
                __builtin_prefetch(ahead + byte);
        }
        std::size_t next = at + 1;
        for (std::size_t f = 0; f < n_fresh; ++f) {
            const Near found{graph.between(query, graph.point(fresh[f])), fresh[f]};
            if (beam.size() == width && !(found < plain(beam.back())))
                continue;
            const auto place =
                std::upper_bound(beam.begin(), beam.end(), found,
                                 [&](const Near &a, const Near &b) { return a < plain(b); });
            const auto index = static_cast<std::size_t>(place - beam.begin());
            beam.insert(place, found);
            if (beam.size() > width)
                beam.pop_back();
            next = std::min(next, index);
        }
        at = next;
    }
    for (Near &near : beam)
        near.row &= ~left;
}

} // namespace thetahat::neighbors
