"""Print the only shell block below a heading of the README: `readme.py "Run it"`."""

import re
import sys
from pathlib import Path

readme = (Path(__file__).parent.parent / 'README.md').read_text(encoding='utf-8')
heading = re.escape(sys.argv[1])
section = re.search(rf'^## {heading}\n(.*?)(?=^## |\Z)', readme, re.MULTILINE | re.DOTALL)
body = section.group(1) if section else ''
blocks = re.findall(r'^```sh\n(.*?)^```$', body, re.MULTILINE | re.DOTALL)
if len(blocks) != 1 or blocks[0].count('\n') != 1:
    sys.exit(f'The README must have one block with one command below "{sys.argv[1]}".')
sys.stdout.write(blocks[0])
