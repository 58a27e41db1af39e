"""Speed, memory and quality of thetahat beside its peers: ``python -m benchmarks [family]``.

=============  ================================================================================
what           how it is measured
=============  ================================================================================
import         the contender's imports in a new process that has only NumPy loaded
cold           the first call in that process, right after its imports and the making of the data
memory         what that first call adds at its peak to the memory resident before it
warm           the best of many calls in one process, all contenders in turn, round after round
quality        objective or error of the result; less is better
/thetahat      warm time as a multiple of thetahat's
/limit         warm time as a multiple of the step that no method of the kind can avoid
=============  ================================================================================

A case whose quality is worse than the best peer's is marked: stopping early is not speed. So is a
case during which other programs used the machine: its bars are not judged, for ratios lie then.
"""
