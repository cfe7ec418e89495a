"""Print the one shell block that stands under a heading of the README: `readme.py "Run it"`."""

import re
import sys
from pathlib import Path

readme = (Path(__file__).parent.parent / 'README.md').read_text(encoding='utf-8')
section = re.search(
    rf'^## {re.escape(sys.argv[1])}\n(.*?)(?=^## |\Z)', readme, re.MULTILINE | re.DOTALL
)
blocks = (
    re.findall(r'^```sh\n(.*?)^```$', section.group(1), re.MULTILINE | re.DOTALL) if section else []
)
if len(blocks) != 1 or blocks[0].count('\n') != 1:
    sys.exit(f'The README must have one block of one command under "{sys.argv[1]}".')
sys.stdout.write(blocks[0])
