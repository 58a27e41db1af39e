// thetahat._native: the compiled kernels that complement matrix products.

#include "core/views.hpp"

// A file of kernels defines a function bind_NAME that adds them to the module; NAME stands here.
// clang-format off
#define THETAHAT_KERNELS(X) \
    /* cluster */ \
    X(cluster_sums) \
    X(density_clusters) \
    X(graph_linkage) \
    X(hierarchy) \
    X(join_pairs) \
    X(linkage_chain) \
    X(mixture_pass) \
    X(nearest_centres) \
    X(spanning_near) \
    X(spanning_tree) \
    X(ward_chain) \
    /* core */ \
    X(combine_rows) \
    X(ranked_median) \
    X(weighted_median) \
    /* descent */ \
    X(class_dual) \
    X(dual_coordinates) \
    X(perceptron_pass) \
    X(plane_weights) \
    X(sgd_epoch) \
    X(sgd_epochs) \
    X(shuffled_rows) \
    /* factors */ \
    X(contrast_values) \
    X(divergence_rows) \
    X(divergence_weights) \
    X(nonnegative_rows) \
    X(topic_shares) \
    /* generative */ \
    X(column_likelihoods) \
    X(diagonal_gaussians) \
    /* graphical */ \
    X(precision_direction) \
    /* graphs */ \
    X(shortest_paths) \
    /* kernels */ \
    X(distance_block) \
    X(gaussian_block) \
    X(kernel_sums) \
    X(products_of_sparse_rows) \
    X(smo) \
    X(smo_pairs) \
    /* linalg */ \
    X(centred_products) \
    X(class_moments) \
    X(class_rows) \
    X(column_frame) \
    X(leave_one_out) \
    X(block_products) \
    X(pack_rows) \
    X(refine) \
    X(skinny_products) \
    X(sparse_gram) \
    X(sparse_least_squares) \
    X(whitened_squares) \
    X(sparse_normal_product) \
    X(tangent) \
    X(trust_region) \
    /* losses */ \
    X(class_shares) \
    X(class_loss_sums) \
    X(class_slopes) \
    X(compiled_newton) \
    X(l1_newton) \
    X(newton_cg) \
    X(lbfgs) \
    X(huber_sums) \
    X(kink_newton) \
    X(row_losses) \
    X(sparse_row_losses) \
    X(smoothed_kinks) \
    /* manifold */ \
    X(isotonic) \
    X(perplexity) \
    X(stress) \
    X(student_forces) \
    /* neighbors */ \
    X(density_sums) \
    X(near_products) \
    X(near_sparse) \
    X(nearest_rows) \
    X(neighbor_graph) \
    X(pair_distances) \
    /* neural */ \
    X(adam_step) \
    X(dense_pass) \
    /* sparse */ \
    X(best_subsets) \
    X(coarse_columns) \
    X(coordinate_descent) \
    X(correlate) \
    X(exchange_columns) \
    X(gram_path) \
    X(lasso_gap) \
    X(least_angles) \
    X(matching_pursuit) \
    X(sparse_codes) \
    X(sweep_path) \
    X(task_descent) \
    X(working_sets) \
    /* trees */ \
    X(bins) \
    /* trees/density */ \
    X(density_tree) \
    X(forest_densities) \
    /* trees/exact */ \
    X(sorted_columns) \
    X(statistic_tree) \
    X(stump) \
    /* trees/forest */ \
    X(forest) \
    X(forest_columns) \
    X(inner_nodes) \
    /* trees/gradient */ \
    X(gradient_tree) \
    X(leaf_constants) \
    X(remote_tree) \
    /* trees/isolation */ \
    X(isolation) \
    /* trees/prediction */ \
    X(shapley) \
    X(sparse_block) \
    X(walk)
// clang-format on

namespace thetahat {
#define THETAHAT_DECLARE(name) void bind_##name(nb::module_ &module);
THETAHAT_KERNELS(THETAHAT_DECLARE)
} // namespace thetahat

#ifdef THETAHAT_LEVEL // one of several modules, compiled for a level of x86-64
#define THETAHAT_JOINED(name, level) name##level
#define THETAHAT_MODULE(level) THETAHAT_JOINED(_native_v, level)

// The higher of the two levels of x86-64 that kernels are compiled for, if this processor has it.
static int processor_level() {
    __builtin_cpu_init();
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    return v3 ? 3 : 1;
}

NB_MODULE(THETAHAT_MODULE(THETAHAT_LEVEL), module) {
    module.def("processor_level", &processor_level);
#else
NB_MODULE(_native, module) {
#endif
    nanobind::set_leak_warnings(false); // models in a cache outlive the module
    module.doc() = "Compiled kernels: pure functions on typed, contiguous arrays.";
#define THETAHAT_BIND(name) thetahat::bind_##name(module);
    THETAHAT_KERNELS(THETAHAT_BIND)
}
