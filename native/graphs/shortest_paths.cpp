// Lengths of the shortest paths from some nodes of a graph to all nodes (Dijkstra).
//
// The nodes that were reached wait in a heap with four children per node, ordered by their distance
// so far; the nearest is settled, and its edges may shorten the distances of others. A source
// writes its own row of the result and is computed by one thread, so the lengths do not depend on
// the number of threads. Unreached nodes are infinitely far.

#include <limits>
#include <vector>

#include "core/parallel.hpp"
#include "core/views.hpp"

namespace thetahat {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t sources_of_a_piece = 8;
constexpr std::int32_t waits_not = -1;

struct Graph {
    const std::int64_t *offsets;
    const std::int32_t *ends;
    const double *lengths;
    std::size_t n_nodes;
};

// Nodes ordered by distance. `place[node]` is the position of a node that waits.
class Waiting {
    struct Entry {
        double distance;
        std::int32_t node;
    };
    std::vector<Entry> heap_;
    std::vector<std::int32_t> place_;
    std::size_t size_ = 0;

    void put(std::size_t at, Entry entry) {
        heap_[at] = entry;
        place_[static_cast<std::size_t>(entry.node)] = static_cast<std::int32_t>(at);
    }
    void rise(std::size_t at, Entry entry) {
        while (at > 0) {
            const std::size_t parent = (at - 1) / 4;
            if (!(entry.distance < heap_[parent].distance))
                break;
            put(at, heap_[parent]);
            at = parent;
        }
        put(at, entry);
    }
    void sink(std::size_t at, Entry entry) {
        for (;;) {
            const std::size_t first = 4 * at + 1;
            if (first >= size_)
                break;
            std::size_t least = first;
            for (std::size_t child = first + 1; child < first + 4 && child < size_; ++child)
                if (heap_[child].distance < heap_[least].distance)
                    least = child;
            if (!(heap_[least].distance < entry.distance))
                break;
            put(at, heap_[least]);
            at = least;
        }
        put(at, entry);
    }

  public:
    explicit Waiting(std::size_t n) : heap_(n), place_(n, waits_not) {}

    bool empty() const { return size_ == 0; }
    void approach(std::int32_t node, double distance) {
        const std::int32_t at = place_[static_cast<std::size_t>(node)];
        rise(at == waits_not ? size_++ : static_cast<std::size_t>(at), {distance, node});
    }
    std::int32_t nearest() {
        const std::int32_t node = heap_[0].node;
        place_[static_cast<std::size_t>(node)] = waits_not;
        if (--size_ > 0)
            sink(0, heap_[size_]);
        return node;
    }
};

void walk(const Graph &graph, std::size_t source, Waiting &waiting, double *distance) {
    for (std::size_t node = 0; node < graph.n_nodes; ++node)
        distance[node] = infinity;
    distance[source] = 0.0;
    waiting.approach(static_cast<std::int32_t>(source), 0.0);
    while (!waiting.empty()) {
        const auto node = static_cast<std::size_t>(waiting.nearest());
        const double here = distance[node];
        for (std::int64_t edge = graph.offsets[node]; edge < graph.offsets[node + 1]; ++edge) {
            const std::int32_t end = graph.ends[edge];
            const double through = here + graph.lengths[edge];
            if (through < distance[end]) {
                distance[end] = through;
                waiting.approach(end, through);
            }
        }
    }
}

void check_graph(const Graph &graph, std::size_t n_edges) {
    require(graph.offsets[0] == 0 &&
                graph.offsets[graph.n_nodes] == static_cast<std::int64_t>(n_edges),
            "offsets must begin at 0 and end at the number of edges");
    for (std::size_t node = 0; node < graph.n_nodes; ++node)
        require(graph.offsets[node] <= graph.offsets[node + 1], "offsets must not fall");
    for (std::size_t edge = 0; edge < n_edges; ++edge) {
        require(graph.ends[edge] >= 0 && static_cast<std::size_t>(graph.ends[edge]) < graph.n_nodes,
                "edges must end at nodes of the graph");
        require(graph.lengths[edge] >= 0.0, "lengths of edges must not be negative");
    }
}

void shortest_paths(Vector<const std::int64_t> offsets, Vector<const std::int32_t> ends,
                    Vector<const double> lengths, std::size_t first, Matrix<double> out,
                    int threads) {
    const std::size_t n_sources = out.shape(0), n = out.shape(1);
    require(n < static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()),
            "a graph must have fewer than 2^31 nodes");
    require(offsets.shape(0) == n + 1, "one offset per node, and the end");
    require(ends.shape(0) == lengths.shape(0), "one length per edge");
    require(first <= n && n_sources <= n - first, "sources must be nodes of the graph");
    const Graph graph{offsets.data(), ends.data(), lengths.data(), n};
    check_graph(graph, ends.shape(0));
    nb::gil_scoped_release unlocked;
    const std::size_t pieces = (n_sources + sources_of_a_piece - 1) / sources_of_a_piece;
    for_each_piece(pieces, threads, [&](std::size_t piece) {
        Waiting waiting(n);
        const std::size_t begin = piece * sources_of_a_piece;
        for (std::size_t i = begin; i < begin + sources_of_a_piece && i < n_sources; ++i)
            walk(graph, first + i, waiting, out.data() + i * n);
    });
}

} // namespace

void bind_shortest_paths(nb::module_ &module) {
    module.def("shortest_paths", &shortest_paths, nb::arg("offsets").noconvert(),
               nb::arg("ends").noconvert(), nb::arg("lengths").noconvert(), nb::arg("first"),
               nb::arg("out").noconvert(), nb::arg("threads"));
}

} // namespace thetahat
