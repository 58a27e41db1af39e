"""
Constraints and their multipliers
=================================

At an optimum under the constraints Ax ≤ b, the active constraints balance the gradient: ∇f + Aᵀλ =
0 with λ ≥ 0, and λⱼ = 0 for inactive constraints. λⱼ is the price of constraint j: relaxing it by ε
lowers f by λⱼε. A linear program has its optimum in a corner, a quadratic one on the boundary or
inside, and equality constraints have multipliers of either sign. Black arrows show −∇f and red
arrows −λⱼaⱼ: they cancel.
"""

import matplotlib.pyplot as plt
import numpy as np

import thetahat as th

walls = np.array([[1.0, 2.0], [3.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
limits = np.array([4.0, 6.0, 0.0, 0.0])
cost = np.array([-1.0, -1.0])
program = th.optimizers.linear_program(cost, inequalities=(walls, limits))
certificate = th.optimizers.kkt_violation(
    program.point, cost, inequalities=(walls, limits),
    inequality_multipliers=program.inequality_multipliers,
)  # fmt: skip
print("corner", program.point, "multipliers", program.inequality_multipliers.round(3))
print("largest violation of the conditions:", certificate.largest)

Q, c = np.array([[2.0, 0.6], [0.6, 1.0]]), np.array([-3.4, -1.4])
box = th.optimizers.box_quadratic_program(Q, c, 0.0, 1.2)
line = (np.ones((1, 2)), np.array([2.6]))
plane = th.optimizers.equality_quadratic_program(Q, c, line)
print("in the box", box.point.round(3), "multipliers", box.inequality_multipliers.round(3))
print("on the line", plane.point.round(3), "multiplier", plane.equality_multipliers.round(3))

grid = np.stack(np.meshgrid(np.linspace(-0.3, 2.6, 200), np.linspace(-0.3, 2.6, 200)), axis=-1)
bowl = np.einsum("...i,ij,...j->...", grid, Q, grid) / 2 + grid @ c


def arrow(panel, start, step, color):
    """A force that acts at the optimum."""
    panel.annotate(
        "", start + step, start, arrowprops={"arrowstyle": "->", "color": color, "lw": 2}
    )


figure, panels = plt.subplots(1, 3, figsize=(12, 5), sharey=True, layout="constrained")
inside = np.all(grid @ walls.T <= limits, axis=-1)
panels[0].contourf(*np.moveaxis(grid, -1, 0), inside, levels=[0.5, 1.5], colors=["#dde8f3"])
panels[0].contour(
    *np.moveaxis(grid, -1, 0), grid @ cost, 12, colors="0.6", linewidths=0.7, linestyles="-"
)
arrow(panels[0], program.point, -0.5 * cost, "black")
for wall, multiplier in zip(walls[:2], program.inequality_multipliers[:2], strict=True):
    arrow(panels[0], program.point, -0.5 * multiplier * wall, "tab:red")
panels[0].plot(*program.point, "ko")
panels[0].set(title="linear program: a corner", ylabel="x₂")

panels[1].add_patch(plt.Rectangle((0, 0), 1.2, 1.2, color="#dde8f3"))
panels[1].contour(*np.moveaxis(grid, -1, 0), bowl, 20, colors="0.6", linewidths=0.7, linestyles="-")
slope = Q @ box.point + c
arrow(panels[1], box.point, -slope, "black")
arrow(panels[1], box.point, slope, "tab:red")
panels[1].plot(*box.point, "ko")
panels[1].plot(*np.linalg.solve(Q, -c), "k+", ms=9)
panels[1].set(title="quadratic program in a box")

panels[2].plot([-0.3, 2.9], [2.9, -0.3], color="tab:blue")
panels[2].contour(*np.moveaxis(grid, -1, 0), bowl, 20, colors="0.6", linewidths=0.7, linestyles="-")
slope = Q @ plane.point + c
arrow(panels[2], plane.point, -slope, "black")
arrow(panels[2], plane.point, -plane.equality_multipliers[0] * line[0][0], "tab:red")
panels[2].plot(*plane.point, "ko")
panels[2].plot(*np.linalg.solve(Q, -c), "k+", ms=9)
panels[2].set(title="on a line: ∇f is perpendicular")
for panel in panels:
    panel.set(xlim=(-0.3, 2.6), ylim=(-0.3, 2.6), xlabel="x₁", aspect="equal")
plt.show()

# %%
# A norm ball is a constraint as well, and a penalty is its multiplier: least squares within
# ‖β‖₁ ≤ t is the lasso with α = λ/n, and within ‖β‖₂ ≤ t it is ridge regression. The optimum often
# lies in a corner of the diamond, where a coefficient is exactly zero. The ball of L0, which counts
# coefficients, is the union of the axes and not convex: a coefficient is kept whole or dropped.

random = np.random.default_rng(2)
X = random.standard_normal((60, 2)) @ np.array([[1.0, 0.4], [0.0, 0.9]])
y = X @ [0.9, 0.25] + 0.5 * random.standard_normal(60)
X, y = X - X.mean(axis=0), y - y.mean()
free = np.linalg.lstsq(X, y, rcond=None)[0]
radius = 0.5

alphas, path, _ = th.enet_path(X, y, l1_ratio=1.0, alphas=200, tol=1e-10)
diamond = th.LinearModel("squared", th.penalties.L1Ball(radius), fit_intercept=False).fit(X, y)
disc = th.LinearModel("squared", th.penalties.L2Ball(radius), fit_intercept=False).fit(X, y)
ridge = th.Ridge(norm_bound=radius**2, fit_intercept=False).fit(X, y)
same = np.argmin(np.abs(np.abs(path).sum(axis=0) - radius))
print("L1 ball", diamond.coef_.round(3), "lasso at", alphas[same].round(3), path[:, same].round(3))
print("L2 ball", disc.coef_.round(3), "ridge at", round(ridge.alpha_, 3), ridge.coef_.round(3))
kept = th.penalties.L0(alpha=0.05).prox(free, step=1.0)
print("L0 keeps of", free.round(3), "the coefficients", kept.round(3))

grid = np.stack(np.meshgrid(np.linspace(-0.8, 1.3, 200), np.linspace(-0.8, 0.9, 200)), axis=-1)
rss = ((y - grid @ X.T) ** 2).sum(axis=-1)
strengths = np.geomspace(1e-2, 1e4, 100)
shrunk = [th.Ridge(a, fit_intercept=False).fit(X, y).coef_ for a in strengths]

figure, panels = plt.subplots(1, 2, figsize=(10, 4.4), sharey=True, layout="constrained")
corners = radius * np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
panels[0].add_patch(plt.Polygon(corners, color="#dde8f3"))
panels[1].add_patch(plt.Circle((0, 0), radius, color="#dde8f3"))
for panel, model, points, name in (
    (panels[0], diamond, path.T, "‖β‖₁ ≤ t and the lasso's path"),
    (panels[1], disc, np.array(shrunk), "‖β‖₂ ≤ t and the path of ridge"),
):
    panel.contour(*np.moveaxis(grid, -1, 0), rss, 18, colors="0.6", linewidths=0.7, linestyles="-")
    panel.plot(*points.T, color="tab:orange", lw=2, label="the penalty, from strong to none")
    panel.plot(*model.coef_, "ko", label="the optimum in the ball")
    panel.plot(*free, "k+", ms=9, label="least squares")
    panel.set(title=name, xlabel="β₁", aspect="equal", xlim=(-0.8, 1.3), ylim=(-0.8, 0.9))
panels[0].set(ylabel="β₂")
panels[1].legend(loc="lower right", fontsize=8)
plt.show()
