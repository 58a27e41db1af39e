// A quad-tree or oct-tree of points: the tree of the cells of their Morton codes.
//
// Points are sorted by the interleaved bits of their coordinates, so a cell is a run of points. A
// node is followed by its subtree, and `next` is the first node after that: a walk needs no stack.
// A cell whose points all lie in one of its parts is skipped. Everything is in a fixed order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace thetahat {

constexpr std::size_t leaf_points = 8;

template <typename T, std::size_t D> struct MortonNode {
    T centre[D];
    T mass;
    T reach; // squared distance beyond which the node counts as one point
    std::uint32_t begin, end, next;
    bool leaf;
};

template <typename T, std::size_t D> class MortonTree {
  public:
    std::vector<std::uint32_t> order; // point at each place
    std::vector<T> place[D];          // coordinates in that order
    std::vector<MortonNode<T, D>> nodes;

    // `points` holds n rows of D numbers.
    MortonTree(const double *points, std::size_t n, double angle) : angle_(angle) {
        sort(points, n);
        nodes.reserve(n / 2 + 8);
        Box box;
        double sum[D];
        grow(0, static_cast<std::uint32_t>(n), bits, box, sum);
    }

  private:
    static constexpr int bits = D == 1 ? 32 : D == 2 ? 24 : 20; // of a coordinate

    struct Box {
        T low[D], high[D];
    };

    void sort(const double *points, std::size_t n) {
        double low[D], high[D], span = 0.0;
        for (std::size_t k = 0; k < D; ++k) {
            low[k] = high[k] = points[k];
            for (std::size_t i = 1; i < n; ++i) {
                low[k] = std::min(low[k], points[i * D + k]);
                high[k] = std::max(high[k], points[i * D + k]);
            }
            span = std::max(span, high[k] - low[k]);
        }
        const double cells = std::ldexp(1.0, bits) - 1.0;
        const double scale = span > 0.0 ? cells / span : 0.0;
        struct Coded {
            std::uint64_t code;
            std::uint32_t point;
        };
        std::vector<Coded> coded(n), other(n);
        for (std::size_t i = 0; i < n; ++i) {
            std::uint64_t code = 0;
            for (std::size_t k = 0; k < D; ++k)
                code |= spread(static_cast<std::uint64_t>((points[i * D + k] - low[k]) * scale))
                        << k;
            coded[i] = {code, static_cast<std::uint32_t>(i)};
        }
        // Stable, byte by byte; a byte that is the same for all points needs no pass.
        for (int shift = 0; shift < bits * static_cast<int>(D); shift += 8) {
            std::size_t count[257] = {};
            for (const Coded &each : coded)
                ++count[((each.code >> shift) & 255) + 1];
            if (std::find(count, count + 257, n) != count + 257)
                continue;
            std::partial_sum(count, count + 257, count);
            for (const Coded &each : coded)
                other[count[(each.code >> shift) & 255]++] = each;
            coded.swap(other);
        }
        order.resize(n);
        codes_.resize(n);
        for (std::size_t k = 0; k < D; ++k)
            place[k].resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            order[i] = coded[i].point;
            codes_[i] = coded[i].code;
            for (std::size_t k = 0; k < D; ++k)
                place[k][i] = static_cast<T>(points[order[i] * D + k]);
        }
    }

    static std::uint64_t spread(std::uint64_t x) {
        if constexpr (D == 1)
            return x;
        if constexpr (D == 2) {
            x = (x | x << 16) & 0x0000ffff0000ffffull;
            x = (x | x << 8) & 0x00ff00ff00ff00ffull;
            x = (x | x << 4) & 0x0f0f0f0f0f0f0f0full;
            x = (x | x << 2) & 0x3333333333333333ull;
            return (x | x << 1) & 0x5555555555555555ull;
        }
        x = (x | x << 32) & 0x001f00000000ffffull;
        x = (x | x << 16) & 0x001f0000ff0000ffull;
        x = (x | x << 8) & 0x100f00f00f00f00full;
        x = (x | x << 4) & 0x10c30c30c30c30c3ull;
        return (x | x << 2) & 0x1249249249249249ull;
    }

    // Appends the node of the points [begin, end), which agree above `level`, and its subtree.
    void grow(std::uint32_t begin, std::uint32_t end, int level, Box &box, double *sum) {
        const std::size_t at = nodes.size();
        nodes.emplace_back();
        const bool leaf = end - begin <= leaf_points || codes_[begin] == codes_[end - 1];
        if (leaf) {
            for (std::size_t k = 0; k < D; ++k) {
                const T *x = place[k].data();
                box.low[k] = *std::min_element(x + begin, x + end);
                box.high[k] = *std::max_element(x + begin, x + end);
                sum[k] = std::accumulate(x + begin, x + end, 0.0);
            }
        } else {
            do
                --level;
            while (part(begin, level) == part(end - 1, level));
            std::fill(sum, sum + D, 0.0);
            std::fill(box.low, box.low + D, static_cast<T>(INFINITY));
            std::fill(box.high, box.high + D, static_cast<T>(-INFINITY));
            for (std::uint32_t from = begin; from < end;) {
                const std::uint64_t own = codes_[from] >> (level * D);
                const auto to = static_cast<std::uint32_t>(
                    std::partition_point(
                        codes_.begin() + from, codes_.begin() + end,
                        [&](std::uint64_t code) { return code >> (level * D) == own; }) -
                    codes_.begin());
                Box inner;
                double inner_sum[D];
                grow(from, to, level, inner, inner_sum);
                for (std::size_t k = 0; k < D; ++k) {
                    box.low[k] = std::min(box.low[k], inner.low[k]);
                    box.high[k] = std::max(box.high[k], inner.high[k]);
                    sum[k] += inner_sum[k];
                }
                from = to;
            }
        }
        MortonNode<T, D> &node = nodes[at];
        double width = 0.0;
        const double mass = end - begin;
        for (std::size_t k = 0; k < D; ++k) {
            node.centre[k] = static_cast<T>(sum[k] / mass);
            width = std::max(width, static_cast<double>(box.high[k] - box.low[k]));
        }
        node.mass = static_cast<T>(mass);
        node.reach = static_cast<T>((width / angle_) * (width / angle_));
        node.begin = begin;
        node.end = end;
        node.leaf = leaf;
        node.next = static_cast<std::uint32_t>(nodes.size());
    }

    std::uint64_t part(std::uint32_t at, int level) const { return codes_[at] >> (level * D); }

    double angle_;
    std::vector<std::uint64_t> codes_;
};

} // namespace thetahat
