// Run tests in Pyodide, which is CPython in WebAssembly, under node.
//
//     node run.mjs PYODIDE WHEELS [ARGUMENT…]
//
// PYODIDE is the folder of the npm package, WHEELS a folder with wheels to unpack, among them that
// of the project, and each ARGUMENT one of pytest. The exit code is that of pytest.
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const [pyodide, wheels, ...options] = process.argv.slice(2);
const root = fileURLToPath(new URL('../..', import.meta.url));
const { loadPyodide } = await import(pathToFileURL(path.resolve(pyodide, 'pyodide.mjs')).href);
const python = await loadPyodide();
for (const [name, folder] of [['project', root], ['wheels', path.resolve(wheels)]]) {
  python.FS.mkdir(`/${name}`);
  python.FS.mount(python.FS.filesystems.NODEFS, { root: folder }, `/${name}`);
}
python.globals.set('options', python.toPy(options));
process.exitCode = python.runPython(`
import glob, os, sys, zipfile

site = next(folder for folder in sys.path if folder.endswith('site-packages'))
for wheel in glob.glob('/wheels/*.whl'):
    zipfile.ZipFile(wheel).extractall(site)
sys.path.insert(0, '/project')
sys.dont_write_bytecode = True
os.chdir('/project')
print('Python', sys.version)

import pytest
int(pytest.main(['--noconftest', '-p', 'tests.webassembly.plugin', '-p', 'no:cacheprovider', *options]))
`);
