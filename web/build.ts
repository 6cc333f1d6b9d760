/**
 * Builds the pages into `web/dist`: hashed files under `assets/`, and `manifest.json`, which tells the server what each
 * page loads. Returns at once when nothing that it reads has changed, so that every start may begin with it.
 */
import { createHash } from 'node:crypto'
import { globSync, mkdirSync, readFileSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { Rolldown } from 'vite'
import { buildHelp } from './help/build.ts'
import { readIfThere, removeReplaced, writeWhole } from './output.ts'

/** What the shell of a page refers to, as paths on the host that serves it. */
export type PageFiles = { script: string; imports: string[]; styles: string[]; fonts: string[] }
export type Manifest = Record<string, PageFiles>

type BuiltFile = { path: string; content: string | Uint8Array }
type Output = Rolldown.RolldownOutput['output']

const web = import.meta.dirname
const root = dirname(web)
const dist = join(web, 'dist')
const scriptBytesMax = 60 * 1024

/** The typefaces that every page shows at once. The others are loaded when a page has text in them. */
const firstFonts = /(^|\/)(geist|newsreader-display)-[\w-]{8}\.woff2$/

/** What only some pages load: a page should not pay for what it does not show. */
const ofSomePages: RegExp[] = [
  /[\\/]pages[\\/]/,
  // Shows an exact text.
  /[\\/](text-inspection|directions|look-alikes|confusables|ExactText)\.\w+$/,
  // Creates an identity and its recovery code, signs in.
  /[\\/](RecoveryCode|Copies|identity-draft|draft|MailNote|explained)\.\w+$/,
  /[\\/]unlock[\\/]|[\\/](ChooseIdentity|Unfinished|known-users|start-sso)\.\w+$/,
  // Asks before something is done.
  /[\\/](dates|Dialog)\.\w+$/,
  // Encrypts.
  /[\\/](keys[\\/]src|sdk[\\/]src|jose|self-check|self-record)[\\/]/,
  /[\\/](key-vault|adoption|signing-key|KeyNotices|new-recovery-code|app-key-\w+)\.\w+$/,
  // Signs an act in an organization, verifies signatures and receipts.
  /[\\/](lib[\\/]acts|formats[\\/]acts|@noble)[\\/]|[\\/](presence|device-database)\.\w+$/,
  /[\\/](protocol[\\/]src[\\/](?!formats[\\/](?!signing))|(typebox|signature)[\\/])/,
  // Consoles.
  /[\\/](activity-words|locales[\\/]en[\\/](account|activity))\.\w+$/,
  /[\\/](uqr|pictures|charts|uris)[\\/]|[\\/](Code|Timeline|Shell|business-call|upload|use-latest-read)\.\w+$/,
]

if (digestBuilt() !== digestOfSources()) await build()

async function build(): Promise<void> {
  const digest = digestOfSources()
  const output = await bundle()
  const manifest = manifestOf(output)
  refuseHeavyPages(manifest, output)
  // Drawn once more as a picture: what browsers show in their own dialogs is never an SVG.
  const icons = ['icon.svg', 'icon.png'].map((name) => ({
    path: `assets/${name}`,
    content: readFileSync(join(web, name)),
  }))
  const help = buildHelp(manifest)
  const built = output.map((file) => ({ path: file.fileName, content: contentOf(file) }))
  const files = [...built, ...icons, ...help.assets]
  writeFiles([...files.flatMap(withCompressed), ...help.files], manifest, digest)
}

async function bundle(): Promise<Output> {
  const vite = await import('vite')
  // The page `design` is for development, which serves it from its sources.
  const pages = globSync('pages/*/main.tsx', { cwd: web }).filter((page) => !page.includes('design'))
  const built = await vite.build({
    root: web,
    configFile: false,
    envDir: false,
    publicDir: false,
    logLevel: 'error',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      write: false,
      target: 'baseline-widely-available',
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      reportCompressedSize: false,
      rolldownOptions: {
        input: Object.fromEntries(pages.map((page) => [basename(dirname(page)), join(web, page)])),
        // One file for what pages share, which the next page has already, instead of a dozen crumbs.
        output: { codeSplitting: { groups: [{ name: 'shared', test: isPageCode, minShareCount: 2 }] } },
      },
    },
  })
  if (Array.isArray(built) || !('output' in built)) throw new Error('Vite answered with something else than one build')
  return built.output
}

function isPageCode(path: string): boolean {
  return !ofSomePages.some((pattern) => pattern.test(path))
}

function manifestOf(output: Output): Manifest {
  const chunks = new Map(output.filter((file) => file.type === 'chunk').map((chunk) => [chunk.fileName, chunk]))
  const entries = [...chunks.values()].filter((chunk) => chunk.isEntry)
  const fonts = output.map((file) => file.fileName).filter((name) => firstFonts.test(name))
  return Object.fromEntries(
    entries.map((entry) => {
      const imports = importsOf(entry, chunks)
      // What a page adds to the common look comes after it.
      const styles = [...imports, entry].flatMap((chunk) => [...(chunk.viteMetadata?.importedCss ?? [])])
      const files = {
        imports: imports.map(addressOf),
        styles: [...new Set(styles)].map((path) => `/${path}`),
        fonts: fonts.map((path) => `/${path}`),
      }
      return [entry.name, { script: addressOf(entry), ...files }]
    }),
  )
}

/** All chunks that the browser must have before the entry runs, each after those that it needs. */
function importsOf(entry: Rolldown.OutputChunk, chunks: Map<string, Rolldown.OutputChunk>): Rolldown.OutputChunk[] {
  const found: Rolldown.OutputChunk[] = []
  const seen = new Set<string>()
  const visit = (path: string) => {
    const chunk = chunks.get(path)
    if (!chunk || seen.has(path)) return
    seen.add(path)
    chunk.imports.forEach(visit)
    found.push(chunk)
  }
  entry.imports.forEach(visit)
  return found
}

function addressOf(chunk: Rolldown.OutputChunk): string {
  return `/${chunk.fileName}`
}

function contentOf(file: Output[number]): string | Uint8Array {
  return file.type === 'chunk' ? file.code : file.source
}

/** A file, and beside it what browsers get that take it compressed: the server itself need never compress. */
function withCompressed({ path, content }: BuiltFile): BuiltFile[] {
  // Typefaces and pictures are compressed in themselves.
  if (/\.(?:woff2|png)$/.test(path)) return [{ path, content }]
  const gzip = { path: `${path}.gz`, content: gzipSync(content, { level: 9 }) }
  return [{ path, content }, { path: `${path}.br`, content: brotliCompressSync(content) }, gzip]
}

/** A page that grows heavy does so by accident: by a value imported where a type was meant. */
function refuseHeavyPages(manifest: Manifest, output: Output): void {
  const bytes = new Map(output.map((file) => [`/${file.fileName}`, brotliCompressSync(contentOf(file)).length]))
  for (const [page, { script, imports }] of Object.entries(manifest)) {
    const total = [script, ...imports].reduce((sum, path) => sum + (bytes.get(path) ?? 0), 0)
    if (total > scriptBytesMax) throw new Error(`The page ${page} loads ${total} bytes of script (Brotli), too many`)
  }
}

/** Writes what is new before the manifest names it. */
function writeFiles(files: BuiltFile[], manifest: Manifest, digest: string): void {
  for (const folder of ['assets', 'help']) mkdirSync(join(dist, folder), { recursive: true })
  for (const { path, content } of files) writeWhole(dist, path, content)
  writeWhole(dist, 'manifest.json', `${JSON.stringify(manifest, null, 2)}\n`)
  removeReplaced(dist, new Set(files.map(({ path }) => basename(path))), new Date())
  writeWhole(dist, 'digest', digest)
}

function digestBuilt(): string | undefined {
  return readIfThere(join(dist, 'digest'))
}

function digestOfSources(): string {
  const hash = createHash('sha256')
  for (const path of sourcePaths().toSorted())
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update('\0')
  return hash.digest('hex')
}

/** Everything that a page may be made of. (Faster than a glob, and every start waits for it.) */
function sourcePaths(): string[] {
  const inFolders = ['web', 'keys/src', 'protocol/src', 'sdk/src', 'docs'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  )
  const isSource = (path: string) => /\.(tsx?|css|svg|png|json|md)$/.test(path) && !/^web.dist|\.test\.ts$/.test(path)
  const sources = inFolders.filter(isSource)
  return [...sources, 'keys/package.json', 'protocol/package.json', 'package-lock.json']
}
