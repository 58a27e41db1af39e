"""Parts of all methods: losses, penalties, linear algebra, optimizers and autodiff."""
