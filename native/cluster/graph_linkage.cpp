// Hierarchies in which only clusters that are joined by a graph are merged.
//
// The edges lie in a heap by (height, smaller cluster, larger cluster); the shortest edge is merged
// next. The neighbours of the new cluster are those of both: with complete and average linkage, the
// dissimilarity from a neighbour of both is joined, and that of a neighbour of one is kept; with
// Ward it is computed from the centres. Edges of clusters that are gone are left in the heap and in
// the lists of neighbours, and are skipped. O(m log m + n d) time for few neighbours. One thread.

#include <algorithm>
#include <cmath>
#include <queue>

#include "cluster/linkage.hpp"

namespace thetahat {

namespace cluster {

namespace {

enum Linkage { complete = 1, average = 2, ward = 3 };

struct Edge {
    double height;
    std::int64_t a, b;
    bool operator<(const Edge &other) const { // the heap gives the largest
        if (height != other.height)
            return height > other.height;
        return a != other.a ? a > other.a : b > other.b;
    }
};

struct Link {
    std::int64_t to;
    double height;
};

class GraphLinkage {
  public:
    GraphLinkage(Vector<const std::int64_t> indptr, Vector<const std::int64_t> indices,
                 Vector<const double> heights, Matrix<const double> rows, int linkage)
        : linkage_(static_cast<Linkage>(linkage)), n_(indptr.shape(0) - 1), d_(rows.shape(1)),
          links_(2 * n_ - 1), size_(2 * n_ - 1, 1.0), alive_(2 * n_ - 1, 0) {
        if (linkage_ == ward)
            centres_.assign(rows.data(), rows.data() + n_ * d_);
        centres_.reserve(linkage_ == ward ? (2 * n_ - 1) * d_ : 0);
        std::vector<Edge> edges;
        for (std::size_t i = 0; i < n_; ++i) {
            alive_[i] = 1;
            const auto own = static_cast<std::int64_t>(i);
            for (std::int64_t k = indptr.data()[i]; k < indptr.data()[i + 1]; ++k) {
                const std::int64_t j = indices.data()[k];
                const double at = linkage_ == ward ? of_centres(i, static_cast<std::size_t>(j))
                                                   : heights.data()[k];
                links_[i].push_back({j, at});
                if (own < j)
                    edges.push_back({at, own, j});
            }
        }
        heap_ = std::priority_queue<Edge>(std::less<Edge>{}, std::move(edges));
    }

    // Clusters n, n + 1, ... in the order of their merges; false if no edge is left.
    bool merge(std::int64_t *children, double *height, std::size_t count) {
        Edge edge;
        do {
            if (heap_.empty())
                return false;
            edge = heap_.top();
            heap_.pop();
        } while (!alive_[edge.a] || !alive_[edge.b]);
        const auto a = static_cast<std::size_t>(edge.a), b = static_cast<std::size_t>(edge.b);
        const std::size_t c = n_ + count;
        children[0] = edge.a;
        children[1] = edge.b;
        *height = edge.height;
        alive_[a] = alive_[b] = 0;
        alive_[c] = 1;
        size_[c] = size_[a] + size_[b];
        if (linkage_ == ward) {
            const double share = size_[b] / size_[c];
            for (std::size_t j = 0; j < d_; ++j) {
                const double from = centres_[a * d_ + j];
                centres_.push_back(from + share * (centres_[b * d_ + j] - from));
            }
        }
        join(a, b, c);
        return true;
    }

  private:
    double of_centres(std::size_t a, std::size_t b) const {
        double sum = 0.0;
        for (std::size_t j = 0; j < d_; ++j) {
            const double gap = centres_[a * d_ + j] - centres_[b * d_ + j];
            sum += gap * gap;
        }
        return std::sqrt(2.0 * (size_[a] * size_[b] / (size_[a] + size_[b])) * sum);
    }

    double joined(std::size_t a, std::size_t b, double from_a, double from_b) const {
        if (linkage_ == complete)
            return std::max(from_a, from_b);
        return (size_[a] * from_a + size_[b] * from_b) / (size_[a] + size_[b]);
    }

    // The lists are sorted by cluster, and a new cluster has the largest number.
    void join(std::size_t a, std::size_t b, std::size_t c) {
        std::vector<Link> &x = links_[a], &y = links_[b], &both = links_[c];
        std::size_t i = 0, k = 0;
        while (i < x.size() || k < y.size()) {
            Link link;
            if (k == y.size() || (i < x.size() && x[i].to < y[k].to))
                link = x[i++];
            else if (i == x.size() || y[k].to < x[i].to)
                link = y[k++];
            else {
                link = {x[i].to, joined(a, b, x[i].height, y[k].height)};
                ++i, ++k;
            }
            if (!alive_[link.to])
                continue;
            if (linkage_ == ward)
                link.height = of_centres(static_cast<std::size_t>(link.to), c);
            both.push_back(link);
            const auto own = static_cast<std::int64_t>(c);
            links_[link.to].push_back({own, link.height});
            heap_.push({link.height, link.to, own});
        }
        std::vector<Link>().swap(x);
        std::vector<Link>().swap(y);
    }

    Linkage linkage_;
    std::size_t n_, d_;
    std::vector<std::vector<Link>> links_;
    std::vector<double> size_, centres_{};
    std::vector<char> alive_;
    std::priority_queue<Edge> heap_{};
};

// The number of merges that were made, which is less than asked for if the graph falls apart.
std::size_t graph_linkage(Vector<const std::int64_t> indptr, Vector<const std::int64_t> indices,
                          Vector<const double> heights, Matrix<const double> rows, int linkage,
                          Matrix<std::int64_t> children, Vector<double> height) {
    require(indptr.shape(0) >= 2 && indptr.data()[0] == 0, "indptr must have n + 1 entries");
    const std::size_t n = indptr.shape(0) - 1, most = children.shape(0);
    const auto m = static_cast<std::int64_t>(indices.shape(0));
    require(indptr.data()[n] == m && heights.shape(0) == indices.shape(0),
            "there must be one height per edge");
    require(linkage >= complete && linkage <= ward, "the linkage is not known");
    require(linkage != ward || rows.shape(0) == n, "there must be one row per entry of the graph");
    require(most < n && children.shape(1) == 2 && height.shape(0) == most,
            "there must be one place per merge");
    for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t from = indptr.data()[i], to = indptr.data()[i + 1];
        require(0 <= from && from <= to && to <= m, "indptr must not decrease");
        for (std::int64_t k = from; k < to; ++k) {
            const std::int64_t j = indices.data()[k];
            require(j >= 0 && static_cast<std::size_t>(j) < n && j != static_cast<std::int64_t>(i),
                    "an edge must join two different rows");
            require(k == from || indices.data()[k - 1] < j, "the edges of a row must be sorted");
        }
    }
    nb::gil_scoped_release unlocked;
    GraphLinkage graph(indptr, indices, heights, rows, linkage);
    std::size_t count = 0;
    while (count < most && graph.merge(children.data() + 2 * count, height.data() + count, count))
        ++count;
    return count;
}

} // namespace

} // namespace cluster

void bind_graph_linkage(nb::module_ &module) {
    module.def("graph_linkage", &cluster::graph_linkage, nb::arg("indptr").noconvert(),
               nb::arg("indices").noconvert(), nb::arg("heights").noconvert(),
               nb::arg("rows").noconvert(), nb::arg("linkage"), nb::arg("children").noconvert(),
               nb::arg("height").noconvert());
}

} // namespace thetahat
