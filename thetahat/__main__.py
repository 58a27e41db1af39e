"""``python -m thetahat`` is the command ``thetahat``."""

import sys

from thetahat.interfaces.command_line import main

sys.exit(main())
