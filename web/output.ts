/** The folder `web/dist`, which a server reads while the next build writes it. */
import { readFileSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** How long a server that was not restarted, and pages that are open, may ask for files that were replaced. */
const keptMilliseconds = 24 * 3600 * 1000

/** A reader sees the old content or the new, never half of it, also when two builds run at once. */
export function writeWhole(dist: string, path: string, content: string | Uint8Array): void {
  const draft = join(dist, `draft.${process.pid}`)
  writeFileSync(draft, content)
  renameSync(draft, join(dist, path))
}

/**
 * Removes the assets that were replaced a day ago. A file has the time of its build, and gets that of the first build
 * without it: what counts is since when no new page names it.
 */
export function removeReplaced(dist: string, current: Set<string>, now: Date): void {
  const assets = readdirSync(join(dist, 'assets'))
  const latest = readList(dist) ?? new Set(assets)
  for (const name of assets.filter((each) => !current.has(each))) {
    const path = join(dist, 'assets', name)
    if (latest.has(name)) utimesSync(path, now, now)
    else if (statSync(path).mtimeMs < now.getTime() - keptMilliseconds) rmSync(path, { force: true })
  }
  writeWhole(dist, 'assets.json', JSON.stringify([...current]))
}

/** Returns the assets of the latest build, or undefined if it has left no list of them. */
function readList(dist: string): Set<unknown> | undefined {
  const text = readIfThere(join(dist, 'assets.json'))
  const names: unknown = text === undefined ? undefined : JSON.parse(text)
  return Array.isArray(names) ? new Set(names) : undefined
}

export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
