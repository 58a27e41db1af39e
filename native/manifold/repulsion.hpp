// The repulsion of the points of a t-SNE embedding, Σ_j s_ij w_ij (z_i − z_j) over all points, and
// Z = Σ_{i≠j} s_ij, where w_ij = 1/(1 + ‖z_i − z_j‖²) and s_ij = w_ij^((ν + 1)/2).
//
// The repulsion of a group of points that are neighbours in Morton order comes from one list of
// nodes and points: a node whose points lie within a small angle, as seen from any place in the box
// of the group, counts as one point. With angle 0 the list holds all points. The sum of a point
// runs over the list in its order, whatever the width of the machine's registers; groups are
// disjoint, and their sums are added in order. So neither threads nor registers change a bit.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "core/parallel.hpp"
#include "manifold/morton_tree.hpp"
#include "manifold/register.hpp"

namespace thetahat {

constexpr std::size_t group = 32, groups_of_a_piece = 1;

// The list that acts on a group: coordinates one after the other, and masses.
template <typename T, std::size_t D> struct Actors {
    std::array<std::vector<T>, D> place;
    std::vector<T> mass;

    void clear() {
        for (auto &each : place)
            each.clear();
        mass.clear();
    }
};

// Fills the list for the group [begin, end) of the points in Morton order.
template <typename T, std::size_t D>
void collect(const MortonTree<T, D> &tree, std::size_t begin, std::size_t end,
             Actors<T, D> &actors) {
    T low[D], high[D];
    for (std::size_t k = 0; k < D; ++k) {
        const T *x = tree.place[k].data();
        low[k] = *std::min_element(x + begin, x + end);
        high[k] = *std::max_element(x + begin, x + end);
    }
    actors.clear();
    const auto &nodes = tree.nodes;
    for (std::size_t at = 0; at < nodes.size();) {
        const MortonNode<T, D> &node = nodes[at];
        T far = 0;
        for (std::size_t k = 0; k < D; ++k) {
            const T c = node.centre[k];
            const T off = std::max(std::max(low[k] - c, c - high[k]), T(0));
            far += off * off;
        }
        // A group that shares points with a node is never pushed by it as a whole.
        if (far > node.reach && (node.end <= begin || node.begin >= end)) {
            for (std::size_t k = 0; k < D; ++k)
                actors.place[k].push_back(node.centre[k]);
            actors.mass.push_back(node.mass);
            at = node.next;
        } else if (node.leaf) {
            for (std::size_t k = 0; k < D; ++k)
                actors.place[k].insert(actors.place[k].end(), tree.place[k].begin() + node.begin,
                                       tree.place[k].begin() + node.end);
            actors.mass.insert(actors.mass.end(), node.end - node.begin, T(1));
            at = node.next;
        } else {
            ++at;
        }
    }
}

// Σ s w (z_i − z_j) and Σ s of the points of some registers, which stay in them.
template <typename T, std::size_t D, std::size_t registers>
void push(const T *const *own, const Actors<T, D> &actors, int nu, T *const *force, T *total) {
    using R = typename Register<T>::type;
    constexpr std::size_t size = Register<T>::size;
    R x[D][registers], f[D][registers] = {}, z[registers] = {};
    for (std::size_t k = 0; k < D; ++k)
        for (std::size_t r = 0; r < registers; ++r)
            std::memcpy(&x[k][r], own[k] + r * size, sizeof(R));
    const std::size_t count = actors.mass.size();
    for (std::size_t j = 0; j < count; ++j) {
        const T mass = actors.mass[j];
        for (std::size_t r = 0; r < registers; ++r) {
            R away[D], square = R{} + T(1);
            for (std::size_t k = 0; k < D; ++k) {
                away[k] = x[k][r] - actors.place[k][j];
                square += away[k] * away[k];
            }
            const R w = T(1) / square;
            R s = w;
            if (nu != 1)
                for (std::size_t lane = 0; lane < size; ++lane)
                    s[lane] = tail_power(w[lane], nu);
            s *= mass;
            z[r] += s;
            const R factor = s * w;
            for (std::size_t k = 0; k < D; ++k)
                f[k][r] += factor * away[k];
        }
    }
    for (std::size_t r = 0; r < registers; ++r) {
        std::memcpy(total + r * size, &z[r], sizeof(R));
        for (std::size_t k = 0; k < D; ++k)
            std::memcpy(force[k] + r * size, &f[k][r], sizeof(R));
    }
}

// Writes Σ_j s_ij w_ij (z_i − z_j) to `out`, and returns Z.
template <typename T, std::size_t D>
double repulsion(const double *points, std::size_t n, double angle, int nu, double *out,
                 int threads) {
    const MortonTree<T, D> tree(points, n, angle);
    const std::size_t groups = (n + group - 1) / group;
    Actors<T, D> all;
    if (!(angle > 0.0)) {
        for (std::size_t k = 0; k < D; ++k)
            all.place[k] = tree.place[k];
        all.mass.assign(n, T(1));
    }
    std::vector<double> of_groups(groups);
    const std::size_t together = groups_of_a_piece;
    for_each_piece((groups + together - 1) / together, threads, [&](std::size_t piece) {
        Actors<T, D> found;
        for (std::size_t g = piece * together; g < std::min(groups, (piece + 1) * together); ++g) {
            const std::size_t begin = g * group, end = std::min(n, begin + group);
            if (angle > 0.0)
                collect(tree, begin, end, found);
            const Actors<T, D> &actors = angle > 0.0 ? found : all;
            T own[D][group], force[D][group], total[group];
            for (std::size_t k = 0; k < D; ++k)
                for (std::size_t l = 0; l < group; ++l)
                    own[k][l] = tree.place[k][std::min(begin + l, end - 1)];
            constexpr std::size_t registers = 64 / register_bytes;
            constexpr std::size_t step = registers * Register<T>::size;
            for (std::size_t l = 0; l < end - begin; l += step) {
                const T *from[D];
                T *to[D];
                for (std::size_t k = 0; k < D; ++k) {
                    from[k] = own[k] + l;
                    to[k] = force[k] + l;
                }
                push<T, D, registers>(from, actors, nu, to, total + l);
            }
            double sum = 0.0;
            for (std::size_t l = 0; l < end - begin; ++l) {
                sum += static_cast<double>(total[l]) - 1.0; // without the point itself
                for (std::size_t k = 0; k < D; ++k)
                    out[tree.order[begin + l] * D + k] = force[k][l];
            }
            of_groups[g] = sum;
        }
    });
    double z = 0.0;
    for (const double each : of_groups)
        z += each;
    return z;
}

} // namespace thetahat
