import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'

/** One import of a source file. `target` is the path of a file of this repository; a dependency has none. */
export type Import = { specifier: string; target: string | undefined; typesOnly: boolean; dynamic: boolean }

/** A source file of this repository: its path from the root, its text, and its text without comments. */
export type Source = { path: string; text: string; code: string }

/**
 * Returns the source files of a repository that match the patterns, in order, without those of dependencies or builds.
 */
export function readSources(root: string, patterns: string[]): Source[] {
  const paths = globSync(patterns, { cwd: root, exclude: ['**/node_modules/**', '**/dist/**'] })
  return paths.toSorted().map((path) => {
    const text = readFileSync(join(root, path), 'utf8')
    return { path, text, code: withoutComments(text) }
  })
}

/** Comments that fill whole lines: the formatter leaves few others. A `//` in a URL is preserved. */
function withoutComments(text: string): string {
  return text.replaceAll(/^[ \t]*\/\*[\s\S]*?\*\//gm, '').replaceAll(/^[ \t]*\/\/.*$/gm, '')
}

const clause = String.raw`(?:\w+(?:,\s*)?)?(?:\{[^}]*\}|\*(?:\s+as\s+\w+)?)?\s+from\s+`
const staticImport = new RegExp(String.raw`^(?:import|export)\s+(?:(type)\s+)?(?:${clause})?'([^']+)'`, 'gm')
const dynamicImport = /\bimport\(\s*'([^']+)'/g

/**
 * Returns every import and re-export of a file. `import { type A }` counts as a value import, because it still loads
 * the module.
 */
export function importsOf({ path, code }: Source): Import[] {
  const fixed = [...code.matchAll(staticImport)].map(([, type, specifier = '']) => {
    return { specifier, target: resolve(path, specifier), typesOnly: type !== undefined, dynamic: false }
  })
  const dynamic = [...code.matchAll(dynamicImport)].map(([, specifier = '']) => {
    return { specifier, target: resolve(path, specifier), typesOnly: false, dynamic: true }
  })
  return [...fixed, ...dynamic]
}

/** Resolves `#tokens/jwt.ts`, `@countersign/protocol/api` and `./x.ts` to paths from the root. */
function resolve(path: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return normalize(join(dirname(path), specifier))
  if (specifier.startsWith('#')) return `server/${specifier.slice(1)}`
  const [, name, file] = /^@countersign\/([\w-]+)\/(.+)$/.exec(specifier) ?? []
  return name ? `${name}/src/${file}.ts` : undefined
}

/** Checks if the imports of a file, by its absolute path, lead to another one, by its path from the root. */
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
