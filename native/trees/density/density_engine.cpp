// Implementation of density_engine.hpp.

#include "trees/density/density_engine.hpp"

#include <numbers>
#include <numeric>

namespace thetahat::trees {

namespace {

constexpr std::size_t worth_a_thread = 1 << 14; // rows × columns below which one thread is faster

// (t − low)/(high − low), of numbers whose difference may overflow.
double fraction(double t, double low, double high) {
    return (0.5 * t - 0.5 * low) / (0.5 * high - 0.5 * low);
}

// The midpoint of a < b, with a ≤ midpoint < b, so that x ≤ midpoint separates them.
double middle(double a, double b) {
    const double half = 0.5 * a + 0.5 * b;
    return half >= a && half < b ? half : a;
}

// Rounded to 32 bits: two candidates that divide the rows in the same way have the same gain up to
// rounding, and then the first one is chosen, for any order in which the rows were summed.
double without_rounding(double gain) {
    int exponent = 0;
    const double part = std::frexp(gain, &exponent);
    return std::ldexp(std::nearbyint(part * 0x1p32), exponent - 32);
}

double normal(Random &random) {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - random.uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * random.uniform());
}

} // namespace

DensityEngine::DensityEngine(const DensityRows &data, const DensitySearch &search,
                             const double *low, const double *high)
    : data_(data), search_(search), low_(low, low + data.d), high_(high, high + data.d),
      n_orders_(search.exact ? data.d : 1) {
    const std::size_t n = data.n, d = data.d;
    const bool entropy = search.score == DensityScore::entropy;
    orders_.resize(n_orders_ * n);
    goes_left_.resize(n);
    if (entropy && search.exact)
        entropies_.resize(d * n);
    const std::size_t n_lanes =
        n * d < worth_a_thread ? 1 : static_cast<std::size_t>(std::max(1, search.threads));
    const std::size_t width = entropy ? d : 0;
    lanes_.assign(n_lanes, Lane{GrowingScatter(width, search.full, search.prior),
                                Moments(width, search.full), Moments(width, search.full),
                                std::vector<double>(search.exact ? 0 : n),
                                std::vector<double>(search.oblique ? d : 0),
                                std::vector<double>(width), std::vector<std::uint32_t>(n)});
}

template <typename Work>
void DensityEngine::spread_over_lanes(std::size_t n, std::size_t size, Work work) {
    const std::size_t used = size * n < worth_a_thread ? 1 : std::min(n, lanes_.size());
    for_each_piece(used, search_.threads, [&](std::size_t lane) {
        for (std::size_t piece = lane; piece < n; piece += used)
            work(piece, lanes_[lane]);
    });
}

void DensityEngine::open(Tree &tree, Open &root) {
    root.begin = 0;
    root.end = data_.n;
    spread_over_lanes(n_orders_, data_.n, [&](std::size_t k, Lane &) {
        std::uint32_t *rows = orders_.data() + k * data_.n;
        std::iota(rows, rows + data_.n, 0u);
        if (search_.exact)
            std::sort(rows, rows + data_.n, [&](std::uint32_t a, std::uint32_t b) {
                const double left = column(k, a), right = column(k, b);
                return left != right ? left < right : a < b;
            });
    });
    root.state.low = low_;
    root.state.high = high_;
    total_ = std::accumulate(data_.weight, data_.weight + data_.n, 0.0);
    settle(tree, root);
}

// Mass, value and entropy of a leaf whose rows are known.
void DensityEngine::settle(Tree &tree, Open &leaf) {
    double weight = 0.0;
    const std::uint32_t *rows = order(0);
    for (std::size_t i = leaf.begin; i < leaf.end; ++i)
        weight += data_.weight[rows[i]];
    weights_.resize(tree.nodes.size());
    weights_[static_cast<std::size_t>(leaf.node)] = weight;
    Node &node = tree.nodes[static_cast<std::size_t>(leaf.node)];
    node.weight = weight;
    node.count = static_cast<std::int64_t>(leaf.n_rows());
    *tree.value(leaf.node) = std::log(share(weight)) - leaf.state.log_volume;
    if (search_.score == DensityScore::entropy) {
        find_entropy(leaf);
        node.impurity = leaf.state.entropy;
    }
}

void DensityEngine::find_entropy(Open &leaf) {
    const std::uint32_t *rows = order(0);
    const std::size_t d = data_.d;
    std::vector<double> &mean = leaf.state.mean;
    mean.assign(d, 0.0);
    for (std::size_t i = leaf.begin; i < leaf.end; ++i)
        for (std::size_t k = 0; k < d; ++k)
            mean[k] += data_.weight[rows[i]] * data_.rows[rows[i] * d + k];
    for (double &entry : mean)
        entry /= weight_of(leaf);
    Moments moments(d, search_.full);
    std::vector<double> &room = lanes_[0].row;
    for (std::size_t i = leaf.begin; i < leaf.end; ++i)
        moments.add(data_.rows + rows[i] * d, mean.data(), data_.weight[rows[i]], room.data());
    if (!search_.exact)
        leaf.state.moments = moments;
    leaf.state.entropy = moments.entropy(search_.prior);
}

bool DensityEngine::divisible(double left, double right) const {
    const bool enough = left >= search_.min_weight && right >= search_.min_weight;
    return enough && (search_.score != DensityScore::entropy || (left > 0.0 && right > 0.0));
}

double DensityEngine::spread_gain(const Open &leaf, double a, double f) const {
    const double apart = a - f;
    if (search_.score == DensityScore::uniformity)
        return std::abs(apart);
    const double q2_over_v = std::exp(2.0 * std::log(q(leaf)) - leaf.state.log_volume);
    const double gain = q2_over_v * (apart / f) * (apart / (1.0 - f));
    return std::min(gain, std::numeric_limits<double>::max());
}

void DensityEngine::offer(const Open &leaf, Split &best, double gain, std::size_t feature,
                          std::size_t code, double threshold) const {
    if (!(gain > search_.min_gain))
        return;
    const double order =
        without_rounding(search_.score == DensityScore::ise ? gain : gain * q(leaf));
    if (order > best.gain || (order == best.gain && code < best.code)) {
        best.gain = order;
        best.feature = static_cast<std::int32_t>(feature);
        best.code = static_cast<std::uint32_t>(code);
        best.threshold = threshold;
    }
}

void DensityEngine::search_leaves(Pair leaves, std::size_t n_leaves) {
    const std::size_t each = search_.exact ? data_.d : search_.candidates;
    std::vector<Split> found(n_leaves * each);
    const std::size_t size = leaves.leaf[0]->n_rows();
    spread_over_lanes(found.size(), size, [&](std::size_t piece, Lane &lane) {
        const Open &leaf = *leaves.leaf[piece / each];
        if (leaf.n_rows() > 0)
            found[piece] = search_.exact ? scan(leaf, piece % each, lane)
                                         : try_candidate(leaf, piece % each, lane);
    });
    for (std::size_t piece = 0; piece < found.size(); ++piece) {
        Split &best = leaves.leaf[piece / each]->split;
        if (found[piece].exists() && (!best.exists() || better(found[piece], best)))
            best = found[piece];
    }
}

Split DensityEngine::scan(const Open &leaf, std::size_t feature, Lane &lane) {
    if (search_.score == DensityScore::entropy)
        return scan_entropy(leaf, feature, lane);
    return scan_spread(leaf, feature);
}

Split DensityEngine::scan_spread(const Open &leaf, std::size_t feature) const {
    Split best;
    const std::uint32_t *rows = order(feature);
    const double low = leaf.state.low[feature], high = leaf.state.high[feature];
    const double whole = weight_of(leaf);
    double left = 0.0, before = low;
    for (std::size_t i = leaf.begin; i <= leaf.end; ++i) {
        const double value = i < leaf.end ? column(feature, rows[i]) : high;
        if (value > before && divisible(left, whole - left)) {
            const double threshold = middle(before, value);
            const double f = fraction(threshold, low, high);
            if (f > 0.0 && f < 1.0)
                offer(leaf, best, spread_gain(leaf, left / whole, f), feature, i - leaf.begin,
                      threshold);
        }
        if (i < leaf.end)
            left += data_.weight[rows[i]];
        before = value;
    }
    return best;
}

Split DensityEngine::scan_entropy(const Open &leaf, std::size_t feature, Lane &lane) {
    Split best;
    const std::uint32_t *rows = order(feature);
    double *entropy = entropies_.data() + feature * data_.n;
    GrowingScatter &scatter = lane.scatter;
    scatter.clear();
    for (std::size_t i = leaf.begin; i + 1 < leaf.end; ++i) {
        scatter.add(data_.rows + rows[i] * data_.d, data_.weight[rows[i]]);
        if (column(feature, rows[i]) < column(feature, rows[i + 1]))
            entropy[i] = scatter.entropy();
    }
    // The pass from the right end.
    const double whole = weight_of(leaf);
    double right = 0.0;
    scatter.clear();
    for (std::size_t i = leaf.end; i-- > leaf.begin + 1;) {
        scatter.add(data_.rows + rows[i] * data_.d, data_.weight[rows[i]]);
        right += data_.weight[rows[i]];
        const double below = column(feature, rows[i - 1]), above = column(feature, rows[i]);
        if (!(below < above) || !divisible(whole - right, right))
            continue;
        const double a = (whole - right) / whole;
        const double gain = leaf.state.entropy - a * entropy[i - 1] - (1.0 - a) * scatter.entropy();
        offer(leaf, best, gain, feature, i - leaf.begin, middle(below, above));
    }
    return best;
}

Random DensityEngine::stream(const Open &leaf, std::size_t candidate) const {
    Random by_node{search_.seed + static_cast<std::uint64_t>(leaf.node)};
    return Random{by_node.next() + candidate * 0xD1B54A32D192ED03ull};
}

void DensityEngine::draw_direction(Random &random, std::vector<double> &direction) const {
    double length = 0.0;
    for (double &entry : direction) {
        entry = normal(random);
        length += entry * entry;
    }
    for (double &entry : direction)
        entry /= std::sqrt(length);
}

double DensityEngine::along(const std::vector<double> &direction, std::uint32_t row) const {
    const double *x = data_.rows + row * data_.d;
    return std::inner_product(direction.begin(), direction.end(), x, 0.0);
}

Split DensityEngine::try_candidate(const Open &leaf, std::size_t candidate, Lane &lane) const {
    Split best;
    const std::uint32_t *rows = order(0);
    Random random = stream(leaf, candidate);
    std::size_t feature = data_.d;
    if (search_.oblique)
        draw_direction(random, lane.direction);
    else
        feature = random.below(data_.d);
    double smallest = std::numeric_limits<double>::infinity(), largest = -smallest;
    for (std::size_t i = leaf.begin; i < leaf.end; ++i) {
        const double value =
            search_.oblique ? along(lane.direction, rows[i]) : column(feature, rows[i]);
        lane.values[i] = value;
        smallest = std::min(smallest, value);
        largest = std::max(largest, value);
    }
    const double part = random.uniform();
    const double threshold = (1.0 - part) * smallest + part * largest;
    if (!(smallest <= threshold && threshold < largest))
        return best;
    double left = 0.0;
    for (std::size_t i = leaf.begin; i < leaf.end; ++i)
        left += lane.values[i] <= threshold ? data_.weight[rows[i]] : 0.0;
    const double whole = weight_of(leaf), a = left / whole;
    if (!divisible(left, whole - left))
        return best;
    double gain = 0.0;
    if (search_.score == DensityScore::entropy) {
        gain = leaf.state.entropy - candidate_entropies(leaf, threshold, lane);
    } else {
        const double f = fraction(threshold, leaf.state.low[feature], leaf.state.high[feature]);
        if (!(f > 0.0 && f < 1.0))
            return best;
        gain = spread_gain(leaf, a, f);
    }
    offer(leaf, best, gain, feature, candidate, threshold);
    return best;
}

// a·H_λ + (1 − a)·H_ρ. Only the left rows are summed; the right ones are the rest.
double DensityEngine::candidate_entropies(const Open &leaf, double threshold, Lane &lane) const {
    const std::uint32_t *rows = order(0);
    const double whole = weight_of(leaf), *mean = leaf.state.mean.data();
    lane.moments.clear();
    for (std::size_t i = leaf.begin; i < leaf.end; ++i)
        if (lane.values[i] <= threshold)
            lane.moments.add(data_.rows + rows[i] * data_.d, mean, data_.weight[rows[i]],
                             lane.row.data());
    Moments &part = lane.moments, &rest = lane.rest;
    rest = part;
    rest.subtract_from(leaf.state.moments);
    const double left = part.weight / whole * part.entropy(search_.prior);
    return left + rest.weight / whole * rest.entropy(search_.prior);
}

void DensityEngine::divide(Tree &tree, Open &parent, Open &left, Open &right) {
    const Split &split = parent.split;
    const auto feature = static_cast<std::size_t>(split.feature);
    left.state = parent.state;
    right.state = std::move(parent.state);
    std::vector<double> direction(search_.oblique ? data_.d : 0);
    if (search_.oblique) {
        // The same random numbers as in the search; a direction is stored only if it is used.
        Random random = stream(parent, split.code);
        draw_direction(random, direction);
        tree.nodes[static_cast<std::size_t>(parent.node)].feature =
            static_cast<std::int32_t>(data_.d + directions.size() / data_.d);
        directions.insert(directions.end(), direction.begin(), direction.end());
    } else {
        const double low = left.state.low[feature], high = left.state.high[feature];
        const double f = fraction(split.threshold, low, high);
        if (f > 0.0 && f < 1.0) { // unbounded cells have no volume
            left.state.log_volume += std::log(f);
            right.state.log_volume += std::log1p(-f);
        }
        left.state.high[feature] = right.state.low[feature] = split.threshold;
    }
    for (std::size_t i = parent.begin; i < parent.end; ++i) {
        const std::uint32_t row = order(0)[i];
        const double value = search_.oblique ? along(direction, row) : column(feature, row);
        goes_left_[row] = value <= split.threshold;
    }
    std::size_t n_left = 0;
    for (std::size_t i = parent.begin; i < parent.end; ++i)
        n_left += goes_left_[order(0)[i]];
    spread_over_lanes(n_orders_, parent.n_rows(), [&](std::size_t k, Lane &lane) {
        std::uint32_t *rows = orders_.data() + k * data_.n;
        std::size_t to = parent.begin, spare = 0;
        for (std::size_t i = parent.begin; i < parent.end; ++i)
            if (goes_left_[rows[i]])
                rows[to++] = rows[i];
            else
                lane.spare[spare++] = rows[i];
        std::copy(lane.spare.begin(), lane.spare.begin() + static_cast<std::ptrdiff_t>(spare),
                  rows + to);
    });
    left.begin = parent.begin;
    left.end = right.begin = parent.begin + n_left;
    right.end = parent.end;
    settle(tree, left);
    settle(tree, right);
}

} // namespace thetahat::trees
