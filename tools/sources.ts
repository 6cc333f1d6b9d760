import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'

/** One import of a source file. `target` is the path of a file of ours; a dependency has none. */
export type Import = { specifier: string; target: string | undefined; typesOnly: boolean; dynamic: boolean }

/** A source file of ours: its path from the root, its text, and its text without comments. */
export type Source = { path: string; text: string; code: string }

/** The source files of a repository that match the patterns, in order; never those of dependencies or of a build. */
export function readSources(root: string, patterns: string[]): Source[] {
  const paths = globSync(patterns, { cwd: root, exclude: ['**/node_modules/**', '**/dist/**'] })
  return paths.toSorted().map((path) => {
    const text = readFileSync(join(root, path), 'utf8')
    return { path, text, code: withoutComments(text) }
  })
}

/** Comments that fill whole lines, which are all that the formatter leaves us but a few; a `//` in a URL stays. */
function withoutComments(text: string): string {
  return text.replaceAll(/^[ \t]*\/\*[\s\S]*?\*\//gm, '').replaceAll(/^[ \t]*\/\/.*$/gm, '')
}

const clause = String.raw`(?:\w+(?:,\s*)?)?(?:\{[^}]*\}|\*(?:\s+as\s+\w+)?)?\s+from\s+`
const staticImport = new RegExp(String.raw`^(?:import|export)\s+(?:(type)\s+)?(?:${clause})?'([^']+)'`, 'gm')
const dynamicImport = /\bimport\(\s*'([^']+)'/g

/** Every import and re-export of a file. `import { type A }` counts as a value: it loads the module all the same. */
export function importsOf({ path, code }: Source): Import[] {
  const fixed = [...code.matchAll(staticImport)].map(([, type, specifier = '']) => {
    return { specifier, target: resolve(path, specifier), typesOnly: type !== undefined, dynamic: false }
  })
  const dynamic = [...code.matchAll(dynamicImport)].map(([, specifier = '']) => {
    return { specifier, target: resolve(path, specifier), typesOnly: false, dynamic: true }
  })
  return [...fixed, ...dynamic]
}

/** `#tokens/jwt.ts`, `@countersign/protocol/api` and `./x.ts` as paths from the root. */
function resolve(path: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return normalize(join(dirname(path), specifier))
  if (specifier.startsWith('#')) return `server/${specifier.slice(1)}`
  const [, name, file] = /^@countersign\/([\w-]+)\/(.+)$/.exec(specifier) ?? []
  return name ? `${name}/src/${file}.ts` : undefined
}

/** Tells of a file, by its absolute path, whether its imports lead to another one, by its path from the root. */
export function leadingTo(root: string, end: string): (file: string) => boolean {
  const known = new Map<string, string[]>()
  const targetsOf = (path: string): string[] => {
    const targets = known.get(path) ?? readSources(root, [path]).flatMap((source) => importsOf(source).flatMap(named))
    known.set(path, targets)
    return targets
  }
  return (file) => {
    const reached = new Set([relative(root, file)])
    for (const path of reached) for (const target of targetsOf(path)) reached.add(target)
    return reached.has(end)
  }
}

function named({ target }: Import): string[] {
  return target === undefined ? [] : [target]
}
