/**
 * Checks the links between our Markdown files: each leads to an existing file, and to an existing heading where it
 * names one. `npm run check` runs it; it prints the broken ones.
 */
import { existsSync } from 'node:fs'
import { dirname, extname, join, normalize } from 'node:path'
import { readSources } from './sources.ts'

/** `[text](target)` and `src="target"`; code is removed before. */
const link = /\]\(([^)\s]+)\)|\bsrc="([^"]+)"/g

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

/** Returns the links of a page that stay in the repository. */
function targetsIn(text: string): string[] {
  const targets = [...withoutCode(text).matchAll(link)].map(([, written, source]) => written ?? source ?? '')
  return targets.filter((target) => !/^[a-z]+:/.test(target))
}

/** Returns the fragments that GitHub gives the headings of a page. */
function headingsOf(text: string): Set<string> {
  const headings = [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)]
  const words = headings.map(([, heading = '']) => heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, ''))
  return new Set(words.map((heading) => heading.trim().replaceAll(' ', '-')))
}

function withoutCode(text: string): string {
  return text.replaceAll(/^```[\s\S]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, '')
}

if (import.meta.main) {
  const { links, broken } = checkLinks(join(import.meta.dirname, '..'))
  for (const fault of broken) console.error(fault)
  console.log(`${links} links, ${broken.length === 0 ? 'none' : broken.length} broken`)
  if (broken.length > 0) process.exitCode = 1
}
