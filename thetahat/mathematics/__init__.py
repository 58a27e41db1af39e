"""The parts every method is made of: losses, penalties, linear algebra, optimizers, autodiff."""
