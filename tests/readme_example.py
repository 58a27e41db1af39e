"""Run the Python example of the README: ``python tests/readme_example.py``."""

import re
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def example() -> str:
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)
    return code


if __name__ == "__main__":
    exec(compile(example(), "README.md", "exec"), {})
