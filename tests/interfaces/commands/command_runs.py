"""Running a command as a user would, and few rows for its models."""

from thetahat.interfaces.command_line import main

FEW = {
    "classification": "ConstantClassifier,LogisticRegression",
    "regression": "ConstantRegressor,RidgeCV",
}


def run(capsys, *argv):
    """The exit code, what was printed, and what was said on the way."""
    code = main([str(each) for each in argv])
    captured = capsys.readouterr()
    return code, captured.out, captured.err
