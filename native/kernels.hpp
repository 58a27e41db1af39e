// The kernels of this module: pure functions on arrays, one file each.
#pragma once

#include <algorithm>

#include "core/views.hpp"

namespace thetahat {

void bind_pack_rows(nb::module_ &module);
void bind_class_rows(nb::module_ &module);
void bind_sparse_gram(nb::module_ &module);
void bind_root_weighted(nb::module_ &module);
void bind_row_losses(nb::module_ &module);
void bind_huber_sums(nb::module_ &module);
void bind_gram_path(nb::module_ &module);
void bind_sweep_path(nb::module_ &module);
void bind_smoothed_kinks(nb::module_ &module);
void bind_coordinate_descent(nb::module_ &module);
void bind_leave_one_out(nb::module_ &module);
void bind_sgd_epoch(nb::module_ &module);
void bind_refine(nb::module_ &module);
void bind_matching_pursuit(nb::module_ &module);
void bind_sparse_codes(nb::module_ &module);
void bind_best_subsets(nb::module_ &module);
void bind_least_angles(nb::module_ &module);
void bind_dual_coordinates(nb::module_ &module);
void bind_class_dual(nb::module_ &module);
void bind_plane_weights(nb::module_ &module);
void bind_correlate(nb::module_ &module);
void bind_coarse_columns(nb::module_ &module);
void bind_combine_rows(nb::module_ &module);
void bind_working_sets(nb::module_ &module);
void bind_lasso_gap(nb::module_ &module);
void bind_task_descent(nb::module_ &module);
void bind_stump(nb::module_ &module);
void bind_exchange_columns(nb::module_ &module);
void bind_compiled_newton(nb::module_ &module);
void bind_walk(nb::module_ &module);
void bind_density_tree(nb::module_ &module);
void bind_weighted_median(nb::module_ &module);
void bind_ranked_median(nb::module_ &module);
void bind_leaf_constants(nb::module_ &module);
void bind_forest(nb::module_ &module);
void bind_forest_columns(nb::module_ &module);
void bind_bins(nb::module_ &module);
void bind_class_slopes(nb::module_ &module);
void bind_gradient_tree(nb::module_ &module);
void bind_sorted_columns(nb::module_ &module);
void bind_statistic_tree(nb::module_ &module);
void bind_density_sums(nb::module_ &module);
void bind_nearest_rows(nb::module_ &module);
void bind_neighbor_graph(nb::module_ &module);
void bind_near_products(nb::module_ &module);
void bind_near_sparse(nb::module_ &module);
void bind_pair_distances(nb::module_ &module);
void bind_smo(nb::module_ &module);
void bind_class_moments(nb::module_ &module);
void bind_diagonal_gaussians(nb::module_ &module);
void bind_precision_direction(nb::module_ &module);
void bind_nearest_centres(nb::module_ &module);
void bind_cluster_sums(nb::module_ &module);
void bind_shortest_paths(nb::module_ &module);
void bind_stress(nb::module_ &module);
void bind_isotonic(nb::module_ &module);
void bind_mixture_pass(nb::module_ &module);
void bind_adam_step(nb::module_ &module);
void bind_contrast_values(nb::module_ &module);
void bind_nonnegative_rows(nb::module_ &module);

} // namespace thetahat
