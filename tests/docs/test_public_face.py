"""The index of public names shows each of them once, in a group that says what it holds."""

from collections import Counter

from docs.public_face import MODELS_CHAPTER, groups, public_names
from thetahat.catalog import estimators

NAMES = list(public_names())
GROUPS = groups(NAMES)


def test_every_public_name_is_in_one_group():
    shown = Counter(name.qualified for group in GROUPS for name in group.names)
    assert shown == Counter(name.qualified for name in NAMES)


def test_every_group_says_what_it_holds():
    for group in GROUPS:
        assert group.names, group.heading
        assert len(group.about.split()) >= 3, group.heading
    assert len({group.page for group in GROUPS}) == len(GROUPS)


def test_models_are_the_estimators_of_the_catalog():
    models = {n.qualified for g in GROUPS if g.chapter == MODELS_CHAPTER for n in g.names}
    assert models == {name for name in estimators() if "." not in name}
