// thetahat._native: the compiled kernels that complement matrix products.

#include "cluster/linkage.hpp"
#include "kernels.hpp"

NB_MODULE(_native, module) {
    module.doc() = "Compiled kernels: pure functions on typed, contiguous arrays.";
    thetahat::bind_pack_rows(module);
    thetahat::bind_class_rows(module);
    thetahat::bind_sparse_gram(module);
    thetahat::bind_root_weighted(module);
    thetahat::bind_row_losses(module);
    thetahat::bind_huber_sums(module);
    thetahat::bind_gram_path(module);
    thetahat::bind_sweep_path(module);
    thetahat::bind_smoothed_kinks(module);
    thetahat::bind_coordinate_descent(module);
    thetahat::bind_leave_one_out(module);
    thetahat::bind_sgd_epoch(module);
    thetahat::bind_refine(module);
    thetahat::bind_matching_pursuit(module);
    thetahat::bind_sparse_codes(module);
    thetahat::bind_best_subsets(module);
    thetahat::bind_least_angles(module);
    thetahat::bind_dual_coordinates(module);
    thetahat::bind_class_dual(module);
    thetahat::bind_plane_weights(module);
    thetahat::bind_correlate(module);
    thetahat::bind_coarse_columns(module);
    thetahat::bind_combine_rows(module);
    thetahat::bind_working_sets(module);
    thetahat::bind_lasso_gap(module);
    thetahat::bind_task_descent(module);
    thetahat::bind_stump(module);
    thetahat::bind_exchange_columns(module);
    thetahat::bind_compiled_newton(module);
    thetahat::bind_walk(module);
    thetahat::bind_density_tree(module);
    thetahat::bind_weighted_median(module);
    thetahat::bind_forest_columns(module);
    thetahat::bind_ranked_median(module);
    thetahat::bind_leaf_constants(module);
    thetahat::bind_forest(module);
    thetahat::bind_bins(module);
    thetahat::bind_class_slopes(module);
    thetahat::bind_gradient_tree(module);
    thetahat::bind_sorted_columns(module);
    thetahat::bind_statistic_tree(module);
    thetahat::bind_density_sums(module);
    thetahat::bind_nearest_rows(module);
    thetahat::bind_neighbor_graph(module);
    thetahat::bind_near_products(module);
    thetahat::bind_near_sparse(module);
    thetahat::bind_pair_distances(module);
    thetahat::bind_smo(module);
    thetahat::bind_class_moments(module);
    thetahat::bind_diagonal_gaussians(module);
    thetahat::bind_precision_direction(module);
    thetahat::bind_nearest_centres(module);
    thetahat::bind_cluster_sums(module);
    thetahat::bind_shortest_paths(module);
    thetahat::bind_stress(module);
    thetahat::bind_isotonic(module);
    thetahat::bind_mixture_pass(module);
    thetahat::bind_adam_step(module);
    thetahat::bind_linkage_chain(module);
    thetahat::bind_ward_chain(module);
    thetahat::bind_spanning_near(module);
    thetahat::bind_spanning_tree(module);
    thetahat::bind_graph_linkage(module);
    thetahat::bind_hierarchy(module);
    thetahat::bind_contrast_values(module);
    thetahat::bind_nonnegative_rows(module);
}
