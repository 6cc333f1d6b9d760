/**
 * Checks the links between our Markdown files: each leads to an existing file, and to an existing heading where it
 * names one. It also checks the paths that they name in code. `npm run check` runs it; it prints the broken ones.
 */
import { existsSync, globSync } from 'node:fs'
import { basename, dirname, extname, join, normalize } from 'node:path'
import { readSources } from './sources.ts'

/** `[text](target)` and `src="target"`; code is removed before. */
const link = /\]\(([^)\s]+)\)|\bsrc="([^"]+)"/g

const codeSpan = /`([^`\n]+)`/g
/** A path of a file with a folder, such as `tools/links.ts` or `locales/{en,de}/web.ts`, and perhaps a line. */
const filePath = /^((?:[\w.-]|\{\w+(?:,\w+)+\})+(?:\/(?:[\w.-]|\{\w+(?:,\w+)+\})+)+\.(?:tsx?|sql|json|md))(?::\d+)?$/
const folderPath = /^([\w-]+)(?:\/[\w.-]+)+\/?$/
const sourceName = /^[\w-]+(?:\.test)?\.tsx?$/
/** Section of a review with the former paths of files and those of today. */
const movedFiles = /^## Moved files$[\s\S]*?(?=^## )/m

/** Returns the broken links of a repository, one line each, and the number of links inside it. */
export function checkLinks(root: string): { links: number; broken: string[] } {
  const pages = readSources(root, ['**/*.md'])
  const headings = new Map(pages.map(({ path, text }) => [path, headingsOf(text)]))
  const links = pages.flatMap(({ path, text }) => targetsIn(text).map((target) => ({ path, target })))
  const broken = links.flatMap(({ path, target }) => {
    const [file = '', fragment] = target.split('#')
    const found = file === '' ? path : normalize(join(dirname(path), file))
    if (found.startsWith('..') || !existsSync(join(root, found)))
      return [`${path} links to ${target}, which does not exist`]
    if (fragment === undefined || extname(found) !== '.md' || headings.get(found)?.has(fragment)) return []
    return [`${path} links to ${target}, but ${found} has no such heading`]
  })
  if (links.length === 0) broken.push('No link was found, so nothing was checked')
  return { links: links.length, broken }
}

/**
 * Returns the paths in code that do not exist, one line each, and the number of paths. A path starts at the root, in
 * `server/` or `web/`, or beside the document. A source file may be named without its folder. The changelog names what
 * existed at its time.
 */
export function checkPaths(root: string): { paths: number; missing: string[] } {
  const pages = readSources(root, ['**/*.md']).filter(({ path }) => path !== 'CHANGELOG.md')
  const files = globSync('**/*.{ts,tsx}', { cwd: root, exclude: ['**/node_modules/**', '**/dist/**'] })
  const known = new Set(files.map((path) => basename(path)))
  const isFolder = (name: string) => existsSync(join(root, name))
  const exists = (page: string, named: string) =>
    named.includes('/')
      ? ['', 'server', 'web', dirname(page)].some((folder) => existsSync(join(root, folder, named)))
      : known.has(named)
  const found = pages.flatMap(({ path, text }) => {
    const former = new Set(formerPathsIn(text))
    const named = pathsIn(text, isFolder).filter((each) => !former.has(each))
    return [...new Set(named)].map((each) => ({ path, named: each }))
  })
  const missing = found
    .filter(({ path, named }) => !withAlternatives(named).every((each) => exists(path, each)))
    .map(({ path, named }) => `${path} names ${named}, which does not exist`)
  if (found.length === 0) missing.push('No path was found, so nothing was checked')
  return { paths: found.length, missing }
}

/** Returns the paths in the code spans of a page, also those in a command such as `node tools/links.ts`. */
function pathsIn(text: string, isFolder: (name: string) => boolean): string[] {
  const spans = [...withoutBlocks(text).matchAll(codeSpan)].map(([, code = '']) => code)
  return spans.flatMap((code) => {
    if (sourceName.test(code)) return [code]
    return code.split(' ').flatMap((word) => {
      const [, file] = filePath.exec(word) ?? []
      const [, first = ''] = folderPath.exec(word) ?? []
      if (file !== undefined) return [file]
      const isBuilt = /\/dist\b/.test(word)
      return first !== '' && isFolder(first) && extname(word) === '' && !isBuilt ? [word] : []
    })
  })
}

/** Returns the first cells of the section of moved files. */
function formerPathsIn(text: string): string[] {
  const [section = ''] = movedFiles.exec(text) ?? []
  return [...section.matchAll(/^\| `([^`]+)`/gm)].map(([, path = '']) => path)
}

/** Returns `a/x.ts` and `b/x.ts` for `{a,b}/x.ts`. */
function withAlternatives(path: string): string[] {
  const [braces, names = ''] = /\{([^}]+)\}/.exec(path) ?? []
  if (braces === undefined) return [path]
  return names.split(',').flatMap((name) => withAlternatives(path.replace(braces, name)))
}

/** Returns the links of a page that stay in the repository. */
function targetsIn(text: string): string[] {
  const targets = [...withoutCode(text).matchAll(link)].map(([, written, source]) => written ?? source ?? '')
  return targets.filter((target) => !/^[a-z]+:/.test(target))
}

/** Returns the fragments that GitHub gives the headings of a page. */
function headingsOf(text: string): Set<string> {
  const headings = [...withoutBlocks(text).matchAll(/^#+ (.+)$/gm)]
  const words = headings.map(([, heading = '']) => heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, ''))
  return new Set(words.map((heading) => heading.trim().replaceAll(' ', '-')))
}

function withoutCode(text: string): string {
  return withoutBlocks(text).replaceAll(codeSpan, '')
}

function withoutBlocks(text: string): string {
  return text.replaceAll(/^```[\s\S]*?^```/gm, '')
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..')
  const { links, broken } = checkLinks(root)
  const { paths, missing } = checkPaths(root)
  const faults = [...broken, ...missing]
  for (const fault of faults) console.error(fault)
  console.log(`${links} links and ${paths} paths, ${faults.length === 0 ? 'none' : faults.length} broken`)
  if (faults.length > 0) process.exitCode = 1
}
