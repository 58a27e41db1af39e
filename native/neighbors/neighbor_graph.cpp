// A graph index for approximate neighbours: grown in batches, searched by walks.
//
//     NeighborGraph(points, capacity, manhattan)
//     .first(rows)                              links the first rows, from all pairs
//     .extend(rows, width, n_links, slack)      adds a batch
//     .search(queries, width, found, threads)   candidates of every query, nearest first
//
// A new row is linked to the rows that a walk to it followed, without those that are nearer, by the
// factor `slack`, to a row linked already: links then point in different directions, and some of
// them far. Every link is added in the other direction too; a row with more than `capacity` links
// keeps n_links of them by the same rule. (Vamana, Subramanya et al. 2019.)
//
// Rows of one batch search the graph as it was before the batch, and each writes its own links; the
// reverse links are sorted by (row, new row), and each row adds its own. So the bits depend neither
// on the number of threads nor on their timing.

#include <algorithm>
#include <limits>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "neighbors/metrics.hpp"
#include "neighbors/nearest_list.hpp"
#include "neighbors/proximity_graph.hpp"
#include "trees/arrays.hpp"

namespace thetahat {

namespace neighbors {

namespace {

constexpr std::size_t most_links = 256;
constexpr std::size_t rows_per_piece = 32;

template <typename Work> void in_pieces(std::size_t n, int threads, const Work &work) {
    for_each_piece((n + rows_per_piece - 1) / rows_per_piece, threads, [&](std::size_t piece) {
        work(piece * rows_per_piece, std::min(n, (piece + 1) * rows_per_piece));
    });
}

// Up to n_links of the sorted candidates, none nearer to a chosen one than to the row (by a
// factor). At most half of them are equal to the row, so that many equal rows stay linked to
// others.
void choose(const ProximityGraph &graph, std::size_t row, const std::vector<Near> &sorted,
            std::size_t n_links, float slack, std::vector<Near> &chosen) {
    chosen.clear();
    std::size_t equal = 0;
    std::uint32_t before = static_cast<std::uint32_t>(row);
    for (const Near &candidate : sorted) {
        if (chosen.size() == n_links)
            return;
        if (candidate.row == row || candidate.row == before)
            continue;
        before = candidate.row;
        if (candidate.distance == 0.0f && 2 * equal++ >= n_links)
            continue;
        const float *point = graph.point(candidate.row);
        const bool apart = std::all_of(chosen.begin(), chosen.end(), [&](const Near &other) {
            return slack * graph.between(graph.point(other.row), point) > candidate.distance ||
                   candidate.distance == 0.0f;
        });
        if (apart)
            chosen.push_back(candidate);
    }
}

} // namespace

class NeighborGraph {
  public:
    NeighborGraph(Matrix<const float> points, std::size_t capacity, bool manhattan) {
        const std::size_t n = points.shape(0), d = points.shape(1);
        require(n > 0 && n < (std::size_t{1} << 31), "there must be 1 to 2^31 − 1 rows");
        require(d > 0 && d % 4 == 0, "the number of columns must be a multiple of 4");
        require(capacity > 0 && capacity <= most_links, "capacity must be from 1 to 256");
        graph_ = {n, d, manhattan, {points.data(), points.data() + n * d}, capacity, {}, {}, 0};
        graph_.links.assign(n * capacity, -1);
        graph_.counts.assign(n, 0);
        const std::vector<float> origin(d, 0.0f);
        Near best{std::numeric_limits<float>::infinity(), 0};
        for (std::size_t i = 0; i < n; ++i)
            best = std::min(best, Near{graph_.between(origin.data(), graph_.point(i)),
                                       static_cast<std::uint32_t>(i)});
        centre_ = best.row;
    }

    std::size_t centre() const { return centre_; }

    // Links that were saved, with −1 after the last one of a row.
    void restore(Matrix<const std::int32_t> links, std::size_t entry) {
        require(links.shape(0) == graph_.n && links.shape(1) == graph_.capacity,
                "links must have one row per point and as many columns as the capacity");
        require(entry < graph_.n, "the entry must be a row");
        const std::int32_t *from = links.data();
        for (std::size_t i = 0; i < graph_.n; ++i) {
            const std::int32_t *own = from + i * graph_.capacity;
            std::size_t count = 0;
            while (count < graph_.capacity && own[count] >= 0)
                require(static_cast<std::size_t>(own[count++]) < graph_.n, "a link must be a row");
            for (std::size_t l = count; l < graph_.capacity; ++l)
                require(own[l] == -1, "there must be no link after the last one");
            graph_.counts[i] = static_cast<std::int32_t>(count);
        }
        std::copy(from, from + graph_.links.size(), graph_.links.begin());
        graph_.entry = entry;
    }

    nb::object links() const {
        return trees::owned(std::vector<std::int32_t>(graph_.links), {graph_.n, graph_.capacity});
    }

    void first(Vector<const std::int32_t> rows, std::size_t n_links, float slack, int threads) {
        check_batch(rows, n_links, slack);
        const std::int32_t *some = rows.data();
        const std::size_t m = rows.size();
        nb::gil_scoped_release unlocked;
        graph_.entry = static_cast<std::size_t>(some[0]);
        link(some, m, n_links, slack, threads, [&](std::size_t i, Walk &, std::vector<Near> &all) {
            const float *own = graph_.point(static_cast<std::size_t>(some[i]));
            for (std::size_t j = 0; j < m; ++j)
                all.push_back({graph_.between(own, graph_.point(static_cast<std::size_t>(some[j]))),
                               static_cast<std::uint32_t>(some[j])});
        });
    }

    void extend(Vector<const std::int32_t> rows, std::size_t width, std::size_t n_links,
                float slack, int threads) {
        check_batch(rows, n_links, slack);
        require(width > 0, "width must be positive");
        const std::int32_t *some = rows.data();
        nb::gil_scoped_release unlocked;
        link(some, rows.size(), n_links, slack, threads,
             [&](std::size_t i, Walk &state, std::vector<Near> &all) {
                 walk(graph_, graph_.point(static_cast<std::size_t>(some[i])), width, state);
                 all = state.expanded;
             });
    }

    void search(Matrix<const float> queries, Matrix<std::int32_t> found, int threads) const {
        const std::size_t m = queries.shape(0), width = found.shape(1);
        require(queries.shape(1) == graph_.d, "queries must have the columns of the points");
        require(found.shape(0) == m && width > 0, "found must have one row per query");
        const float *from = queries.data();
        std::int32_t *to = found.data();
        nb::gil_scoped_release unlocked;
        in_pieces(m, threads, [&](std::size_t begin, std::size_t end) {
            Walk state;
            for (std::size_t i = begin; i < end; ++i) {
                walk(graph_, from + i * graph_.d, width, state);
                std::int32_t *own = to + i * width;
                for (const Near &near : state.beam)
                    *own++ = static_cast<std::int32_t>(near.row);
                std::fill(own, to + (i + 1) * width, -1);
            }
        });
    }

  private:
    void check_batch(const Vector<const std::int32_t> &rows, std::size_t n_links, float slack) {
        require(rows.size() > 0, "a batch must have rows");
        require(n_links > 0 && n_links <= graph_.capacity, "n_links must be from 1 to capacity");
        require(slack >= 1.0f, "slack must be at least 1");
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const std::int32_t row = rows.data()[i];
            require(row >= 0 && static_cast<std::size_t>(row) < graph_.n, "a row is out of range");
            require(graph_.counts[static_cast<std::size_t>(row)] == 0, "a row has links already");
        }
    }

    // Links of new rows, from the candidates that `collect` appends, and their reverse links.
    template <typename Collect>
    void link(const std::int32_t *rows, std::size_t m, std::size_t n_links, float slack,
              int threads, const Collect &collect) {
        std::vector<std::vector<Near>> chosen(m);
        in_pieces(m, threads, [&](std::size_t begin, std::size_t end) {
            Walk state;
            std::vector<Near> candidates;
            for (std::size_t i = begin; i < end; ++i) {
                candidates.clear();
                collect(i, state, candidates);
                std::sort(candidates.begin(), candidates.end());
                choose(graph_, static_cast<std::size_t>(rows[i]), candidates, n_links, slack,
                       chosen[i]);
            }
        });
        std::vector<std::uint64_t> reverse;
        for (std::size_t i = 0; i < m; ++i) {
            const auto row = static_cast<std::size_t>(rows[i]);
            set_links(row, chosen[i]);
            for (const Near &near : chosen[i])
                reverse.push_back((std::uint64_t{near.row} << 32) | row);
        }
        std::sort(reverse.begin(), reverse.end());
        std::vector<std::size_t> groups;
        for (std::size_t r = 0; r < reverse.size(); ++r)
            if (r == 0 || reverse[r] >> 32 != reverse[r - 1] >> 32)
                groups.push_back(r);
        groups.push_back(reverse.size());
        in_pieces(groups.size() - 1, threads, [&](std::size_t begin, std::size_t end) {
            std::vector<Near> candidates, kept;
            for (std::size_t g = begin; g < end; ++g)
                add_links(reverse.data() + groups[g], groups[g + 1] - groups[g], n_links, slack,
                          candidates, kept);
        });
    }

    void set_links(std::size_t row, const std::vector<Near> &chosen) {
        std::int32_t *own = graph_.links.data() + row * graph_.capacity;
        for (const Near &near : chosen)
            *own++ = static_cast<std::int32_t>(near.row);
        std::fill(own, graph_.links.data() + (row + 1) * graph_.capacity, -1);
        graph_.counts[row] = static_cast<std::int32_t>(chosen.size());
    }

    void add_links(const std::uint64_t *reverse, std::size_t m, std::size_t n_links, float slack,
                   std::vector<Near> &candidates, std::vector<Near> &kept) {
        const auto row = static_cast<std::size_t>(reverse[0] >> 32);
        std::int32_t *own = graph_.links.data() + row * graph_.capacity;
        auto count = static_cast<std::size_t>(graph_.counts[row]);
        const std::size_t had = count;
        candidates.clear();
        for (std::size_t r = 0; r < m; ++r) {
            const auto other = static_cast<std::int32_t>(reverse[r] & 0xffffffffu);
            if (std::find(own, own + had, other) != own + had)
                continue;
            if (count < graph_.capacity) {
                own[count++] = other;
                continue;
            }
            candidates.push_back({0.0f, static_cast<std::uint32_t>(other)});
        }
        graph_.counts[row] = static_cast<std::int32_t>(count);
        if (candidates.empty())
            return;
        for (std::size_t l = 0; l < count; ++l)
            candidates.push_back({0.0f, static_cast<std::uint32_t>(own[l])});
        for (Near &near : candidates)
            near.distance = graph_.between(graph_.point(row), graph_.point(near.row));
        std::sort(candidates.begin(), candidates.end());
        choose(graph_, row, candidates, n_links, slack, kept);
        set_links(row, kept);
    }

    ProximityGraph graph_;
    std::size_t centre_;
};

namespace {

// The k nearest of the candidates of every query, measured in float64 as metrics.hpp defines it.
template <typename T, typename Metric>
void measure(const Metric &metric, const double *queries, const T *rows, std::size_t d,
             const std::int32_t *candidates, std::size_t m, std::size_t width, double *distance,
             std::int64_t *row, std::size_t k, int threads) {
    in_pieces(m, threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            NearestList list(distance + i * k, row + i * k, k);
            list.clear();
            const double *q = queries + i * d;
            for (std::size_t c = 0; c < width && candidates[i * width + c] >= 0; ++c) {
                const std::int64_t number = candidates[i * width + c];
                const T *x = rows + static_cast<std::size_t>(number) * d;
                const double far = reduced<0, double>(
                    metric, d, [&](std::size_t j) { return q[j] - static_cast<double>(x[j]); });
                if (list.admits(far, number))
                    list.insert(far, number);
            }
            list.finish();
        }
    });
}

} // namespace

template <typename T>
void nearest_candidates(Matrix<const double> queries, Matrix<const T> rows,
                        Matrix<const std::int32_t> candidates, bool manhattan,
                        Matrix<double> distance, Matrix<std::int64_t> row, int threads) {
    const std::size_t m = queries.shape(0), d = queries.shape(1), width = candidates.shape(1),
                      k = distance.shape(1);
    require(rows.shape(1) == d, "queries must have the columns of the rows");
    require(candidates.shape(0) == m && distance.shape(0) == m && row.shape(0) == m &&
                row.shape(1) == k && k > 0,
            "candidates, distance and row must have one row per query");
    const std::int32_t *some = candidates.data();
    for (std::size_t c = 0; c < m * width; ++c)
        require(some[c] >= -1 && some[c] < static_cast<std::int64_t>(rows.shape(0)),
                "a candidate is out of range");
    const double *from = queries.data();
    const T *all = rows.data();
    double *distances = distance.data();
    std::int64_t *numbers = row.data();
    nb::gil_scoped_release unlocked;
    if (manhattan)
        measure(Absolutes{}, from, all, d, some, m, width, distances, numbers, k, threads);
    else
        measure(Squares{}, from, all, d, some, m, width, distances, numbers, k, threads);
}

} // namespace neighbors

void bind_neighbor_graph(nb::module_ &module) {
    using neighbors::NeighborGraph;
    nb::class_<NeighborGraph>(module, "NeighborGraph")
        .def(nb::init<Matrix<const float>, std::size_t, bool>(), nb::arg("points").noconvert(),
             nb::arg("capacity"), nb::arg("manhattan"))
        .def_prop_ro("centre", &NeighborGraph::centre)
        .def("restore", &NeighborGraph::restore, nb::arg("links").noconvert(), nb::arg("entry"))
        .def("links", &NeighborGraph::links)
        .def("first", &NeighborGraph::first, nb::arg("rows").noconvert(), nb::arg("n_links"),
             nb::arg("slack"), nb::arg("threads"))
        .def("extend", &NeighborGraph::extend, nb::arg("rows").noconvert(), nb::arg("width"),
             nb::arg("n_links"), nb::arg("slack"), nb::arg("threads"))
        .def("search", &NeighborGraph::search, nb::arg("queries").noconvert(),
             nb::arg("found").noconvert(), nb::arg("threads"));
    const auto define = [&](auto function) {
        module.def("nearest_candidates", function, nb::arg("queries").noconvert(),
                   nb::arg("rows").noconvert(), nb::arg("candidates").noconvert(),
                   nb::arg("manhattan"), nb::arg("distance").noconvert(),
                   nb::arg("row").noconvert(), nb::arg("threads"));
    };
    define(&neighbors::nearest_candidates<float>);
    define(&neighbors::nearest_candidates<double>);
}

} // namespace thetahat
