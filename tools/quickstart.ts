/**
 * Writes the code of the sign-in guides to where the page of an app shows it: `docs/guides/sign-in-with-*.md` have one
 * text, which the end-to-end tests run. `npm run fix` runs it.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
export const quickstartFile = join(root, 'web/pages/developers/quickstart/guide-code.json')
const frameworks = ['node', 'express', 'fastify', 'nextjs', 'vite'] as const

type GuideCode = { install: string; files: { path: string; code: string }[] }

/** Returns the file: what each framework has to be installed, and the files to create, as JSON. */
export function quickstartCode(): string {
  const guides = Object.fromEntries(frameworks.map((framework) => [framework, codeOf(framework)]))
  return `${JSON.stringify(guides, null, 2)}\n`
}

function codeOf(framework: string): GuideCode {
  const name = `sign-in-with-${framework}.md`
  const guide = readFileSync(join(root, 'docs/guides', name), 'utf8')
  const [, install] = /`(npm install [^`]+)`/.exec(guide) ?? []
  const blocks = guide.split(/^```/m).filter((_, nth) => nth % 2 === 1)
  const files = blocks.flatMap((block) => {
    const end = block.indexOf('\n')
    const [, path] = /^(?:js|html) (\S+)$/.exec(block.slice(0, end)) ?? []
    return path === undefined ? [] : [{ path, code: block.slice(end + 1) }]
  })
  if (install === undefined || files.length === 0) throw new Error(`${name} has no code for the page of an app`)
  return { install, files }
}

if (import.meta.main) writeFileSync(quickstartFile, quickstartCode())
