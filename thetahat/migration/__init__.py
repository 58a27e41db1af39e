"""Programs written for scikit-learn, run with the models of this library.

`shared` says which names of scikit-learn have a model here. `patching` puts these models into
scikit-learn for a whole process; the package ``thetahat.sklearn`` has every module of scikit-learn
with these models in it, and leaves scikit-learn as it is.
"""
