// Bindings of sequential minimal optimisation for each source of kernel rows. Sizes and indices are
// checked here, before the interpreter lock is released.

#include <nanobind/stl/tuple.h>

#include "core/views.hpp"
#include "kernels/smo.hpp"

namespace thetahat {

namespace smo {

namespace {

using Doubles = Vector<const double>;
using Found = std::tuple<std::int64_t, double, bool, std::int64_t>;

Problem checked(Doubles diagonal, Doubles lower, Doubles upper, double kink, std::size_t split,
                Vector<double> beta, Vector<double> gradient) {
    const std::size_t m = beta.shape(0);
    require(diagonal.shape(0) == m && lower.shape(0) == m && upper.shape(0) == m &&
                gradient.shape(0) == m,
            "diagonal, lower, upper, beta and gradient must have one entry per variable");
    require(split <= m, "split must be at most the number of variables");
    require(kink >= 0.0, "kink must not be negative");
    return {m,    split,       diagonal.data(), lower.data(), upper.data(),
            kink, beta.data(), gradient.data()};
}

template <typename T> using Store = Matrix<T>;
using Places = Vector<std::int64_t>;

template <typename T>
Cache<T> checked_cache(Store<T> store, Places slot_of, Places held, Places used, std::size_t m) {
    const std::size_t slots = store.shape(0);
    require(store.shape(1) == m && slot_of.shape(0) == m && held.shape(0) == slots &&
                used.shape(0) == slots,
            "the cache must have one column per variable, and one entry per slot");
    require(slots >= 3, "the cache must have at least 3 slots");
    for (std::size_t v = 0; v < m; ++v)
        require(slot_of.data()[v] >= -1 && slot_of.data()[v] < static_cast<std::int64_t>(slots),
                "a slot is out of range");
    for (std::size_t s = 0; s < slots; ++s)
        require(held.data()[s] >= -1 && held.data()[s] < static_cast<std::int64_t>(m),
                "a cached row is out of range");
    Cache<T> cache{store.data(), slot_of.data(), held.data(), used.data(), slots, m};
    cache.begin();
    return cache;
}

template <typename Rows, typename Source>
Found run_unlocked(const Problem &p, Rows rows, const Source &source, std::int64_t limit,
                   double tolerance) {
    nb::gil_scoped_release unlocked;
    const auto [steps, violation, stalled] = descend(p, rows, source, limit, tolerance);
    return {steps, violation, stalled, rows.computed};
}

Formula checked_formula(int kind, double gamma, double coef0, int degree) {
    require(kind >= 0 && kind <= 3 && degree >= 0, "unknown kernel");
    return {static_cast<Kind>(kind), gamma, coef0, degree};
}

template <typename Sum, typename T>
Found on_columns(Matrix<const Sum> columns, int kind, double gamma, double coef0, int degree,
                 int threads, Store<T> store, Places slot_of, Places held, Places used,
                 Doubles diagonal, Doubles lower, Doubles upper, double kink, std::size_t split,
                 Vector<double> beta, Vector<double> gradient, std::int64_t limit,
                 double tolerance) {
    const Problem p = checked(diagonal, lower, upper, kink, split, beta, gradient);
    require(columns.shape(1) == p.m, "columns must have one entry per variable");
    const DenseSource<Sum> source{columns.data(), columns.shape(0), p.m,
                                  checked_formula(kind, gamma, coef0, degree), threads};
    return run_unlocked(p, checked_cache(store, slot_of, held, used, p.m), source, limit,
                        tolerance);
}

using Indices = Vector<const std::int32_t>;

void require_compressed(Indices start, Indices index, Doubles value, std::size_t lines,
                        std::size_t width) {
    require(start.shape(0) == lines + 1 && index.shape(0) == value.shape(0),
            "a compressed matrix must have one start per line and one more");
    require(start.data()[0] == 0 && static_cast<std::size_t>(start.data()[lines]) == index.shape(0),
            "the starts must cover the stored entries");
    for (std::size_t k = 0; k < lines; ++k)
        require(start.data()[k] <= start.data()[k + 1], "the starts must not decrease");
    for (std::size_t k = 0; k < index.shape(0); ++k)
        require(index.data()[k] >= 0 && static_cast<std::size_t>(index.data()[k]) < width,
                "an index is out of range");
}

template <typename T>
Found on_sparse(Indices start, Indices column, Doubles value, Indices head, Indices row,
                Doubles entry, Doubles square, int kind, double gamma, double coef0, int degree,
                Store<T> store, Places slot_of, Places held, Places used, Doubles diagonal,
                Doubles lower, Doubles upper, double kink, std::size_t split, Vector<double> beta,
                Vector<double> gradient, std::int64_t limit, double tolerance) {
    const Problem p = checked(diagonal, lower, upper, kink, split, beta, gradient);
    require(head.shape(0) >= 1 && square.shape(0) == p.m, "one square per row is needed");
    const std::size_t d = head.shape(0) - 1;
    require_compressed(start, column, value, p.m, d);
    require_compressed(head, row, entry, d, p.m);
    const SparseSource source{
        start.data(),  column.data(), head.data(),
        row.data(),    value.data(),  entry.data(),
        square.data(), p.m,           checked_formula(kind, gamma, coef0, degree)};
    return run_unlocked(p, checked_cache(store, slot_of, held, used, p.m), source, limit,
                        tolerance);
}

template <typename T>
Found on_called(nb::callable function, Store<T> store, Places slot_of, Places held, Places used,
                Doubles diagonal, Doubles lower, Doubles upper, double kink, std::size_t split,
                Vector<double> beta, Vector<double> gradient, std::int64_t limit,
                double tolerance) {
    const Problem p = checked(diagonal, lower, upper, kink, split, beta, gradient);
    const CalledSource source{function, p.m};
    return run_unlocked(p, checked_cache(store, slot_of, held, used, p.m), source, limit,
                        tolerance);
}

template <typename T>
Found on_part(Matrix<const double> matrix, Vector<const std::int64_t> which, Store<T> store,
              Places slot_of, Places held, Places used, Doubles diagonal, Doubles lower,
              Doubles upper, double kink, std::size_t split, Vector<double> beta,
              Vector<double> gradient, std::int64_t limit, double tolerance) {
    const Problem p = checked(diagonal, lower, upper, kink, split, beta, gradient);
    require(which.shape(0) == p.m && matrix.shape(0) == matrix.shape(1),
            "the matrix must be square, with one number of a row per variable");
    for (std::size_t v = 0; v < p.m; ++v)
        require(which.data()[v] >= 0 && static_cast<std::size_t>(which.data()[v]) < matrix.shape(0),
                "the number of a row is out of range");
    const GivenSource source{matrix.data(), which.data(), matrix.shape(1), p.m};
    return run_unlocked(p, checked_cache(store, slot_of, held, used, p.m), source, limit,
                        tolerance);
}

Found on_matrix(Matrix<const double> matrix, Doubles diagonal, Doubles lower, Doubles upper,
                double kink, std::size_t split, Vector<double> beta, Vector<double> gradient,
                std::int64_t limit, double tolerance) {
    const Problem p = checked(diagonal, lower, upper, kink, split, beta, gradient);
    require(matrix.shape(0) == p.m && matrix.shape(1) == p.m,
            "the matrix must have one row and one column per variable");
    return run_unlocked(p, Whole{matrix.data(), p.m}, 0, limit, tolerance);
}

template <typename... Before>
void define(nb::module_ &module, const char *name, auto function, const Before &...before) {
    module.def(name, function, before..., nb::arg("diagonal").noconvert(),
               nb::arg("lower").noconvert(), nb::arg("upper").noconvert(), nb::arg("kink"),
               nb::arg("split"), nb::arg("beta").noconvert(), nb::arg("gradient").noconvert(),
               nb::arg("limit"), nb::arg("tolerance"));
}

template <typename T> void bind_cached(nb::module_ &module) {
    const auto store = nb::arg("store").noconvert(), slot_of = nb::arg("slot_of").noconvert(),
               held = nb::arg("held").noconvert(), used = nb::arg("used").noconvert();
    define(module, "smo_columns", &on_columns<double, T>, nb::arg("columns").noconvert(),
           nb::arg("kind"), nb::arg("gamma"), nb::arg("coef0"), nb::arg("degree"),
           nb::arg("threads"), store, slot_of, held, used);
    define(module, "smo_sparse", &on_sparse<T>, nb::arg("start").noconvert(),
           nb::arg("column").noconvert(), nb::arg("value").noconvert(), nb::arg("head").noconvert(),
           nb::arg("row").noconvert(), nb::arg("entry").noconvert(), nb::arg("square").noconvert(),
           nb::arg("kind"), nb::arg("gamma"), nb::arg("coef0"), nb::arg("degree"), store, slot_of,
           held, used);
    define(module, "smo_called", &on_called<T>, nb::arg("function"), store, slot_of, held, used);
    define(module, "smo_part", &on_part<T>, nb::arg("matrix").noconvert(),
           nb::arg("which").noconvert(), store, slot_of, held, used);
}

} // namespace

} // namespace smo

void bind_smo(nb::module_ &module) {
    using namespace smo;
    bind_cached<float>(module);
    bind_cached<double>(module);
    define(module, "smo_columns", &on_columns<float, float>, nb::arg("columns").noconvert(),
           nb::arg("kind"), nb::arg("gamma"), nb::arg("coef0"), nb::arg("degree"),
           nb::arg("threads"), nb::arg("store").noconvert(), nb::arg("slot_of").noconvert(),
           nb::arg("held").noconvert(), nb::arg("used").noconvert());
    define(module, "smo_matrix", &on_matrix, nb::arg("matrix").noconvert());
}

} // namespace thetahat
