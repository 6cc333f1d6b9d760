/**
 * Builds the SDK into `sdk/dist`: JavaScript for Node 20 and later and for browsers, one file for each entry point,
 * with the code shared with the service included. With `--types`, as before packing, it also writes the type
 * declarations.
 */
import { execFileSync } from 'node:child_process'
import { basename, join } from 'node:path'
import { build } from 'vite'

const here = import.meta.dirname

const onServers = { ssr: true, target: 'node20.12', minify: false }
await buildEntry('server/server', { ...onServers, license: { fileName: 'licenses.md' } })
await buildEntry('resource/resource', { ...onServers, license: { fileName: 'resource.licenses.md' } })
await buildEntry('browser/browser', { target: 'baseline-widely-available', minify: true })
for (const source of ['encryption/encryption', 'browser/sign-in', 'browser/button'])
  await buildEntry(source, {
    target: 'baseline-widely-available',
    minify: true,
    license: { fileName: `${basename(source)}.licenses.md` },
  })
if (process.argv.includes('--types')) writeTypes()

async function buildEntry(source: string, options: object): Promise<void> {
  const lib = { entry: join(here, `src/${source}.ts`), formats: ['es' as const], fileName: basename(source) }
  const output = { outDir: 'dist', emptyOutDir: false, reportCompressedSize: false }
  const nothingElse = { configFile: false, envDir: false, publicDir: false } as const
  await build({
    root: here,
    ...nothingElse,
    ssr: { noExternal: true },
    logLevel: 'error',
    build: { lib, ...output, ...options },
  })
}

function writeTypes(): void {
  const compiler = join(here, '../node_modules/.bin/tsc')
  const options = ['--noEmit', 'false', '--declaration', '--emitDeclarationOnly', '--rewriteRelativeImportExtensions']
  execFileSync(compiler, ['-p', here, '--rootDir', 'src', '--outDir', 'dist', ...options], {
    cwd: here,
    stdio: 'inherit',
  })
}
