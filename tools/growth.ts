/**
 * Checks `docs/security/growth.md`, which lists for every table and every collection in memory who can add to it, what
 * limits it and what removes entries. The check fails if one is missing or obsolete, or if one that callers can fill
 * names no case of `docs/security/cases.md` with a test. The document also lists what limits the rate of each audit
 * action, because nothing is removed from the audit log.
 *
 * A collection outlives a request if it is declared at the top of a module and filled later, or at the top of a
 * function that creates a lasting object, by its name: `createRateLimits`, `startSender`, `mountHosts`.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { modules, rateLimitPolicies } from '../server/modules.ts'
import { readSources, type Source } from './sources.ts'

type Documents = { growth: string; cases: string; tables: string; sources: Pick<Source, 'path' | 'code'>[] }

const makers = /^(?:export )?(?:async )?function ((?:create|start|mount|serve|guard)\w*)/
const collection =
  /^(?: {2})?(?:const|let) (\w+)(?:: [^=]+)? = (?:new (?:Weak)?(?:Map|Set)\b(?:<.*>)?\((?<given>.?)|\[\]$)/
const row = /^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \|([^|]*)\|$/
const caseId = /[A-Z][A-Z\d][A-Z]-\d{2}/g
/** Everyone except the operator and the service itself. An unknown word counts as a caller. */
const isOfCallers = (who: string) => !who.split(';').every((each) => /^\s*(?:the )?(?:operator|service)\s*$/.test(each))

/** Returns the errors of the document. */
export function findUnlisted({ growth, cases, tables, sources }: Documents): string[] {
  const rows = growth.split('\n').flatMap((line) => {
    const [, name, who = '', , , shown = ''] = row.exec(line) ?? []
    return name === undefined ? [] : [{ name, who, ids: shown.match(caseId) ?? [] }]
  })
  const listed = new Set(rows.map(({ name }) => name))
  const there = new Set([...tablesIn(tables), ...sources.flatMap(collectionsIn)])
  const shown = new Set([...cases.matchAll(/^\| ([A-Z][A-Z\d][A-Z]-\d{2}) \|.*\]\(/gm)].map(([, id]) => id))
  return [
    ...[...there].filter((name) => !listed.has(name)).map((name) => `${name} is not listed`),
    ...[...listed].filter((name) => !there.has(name)).map((name) => `${name} is listed, but does not exist`),
    ...rows
      .filter(({ who, ids }) => isOfCallers(who) && ids.length === 0)
      .map(({ name }) => `${name} can be filled by callers, but names no case`),
    ...rows.flatMap(({ name, ids }) =>
      ids.filter((id) => !shown.has(id)).map((id) => `${name} names ${id}, which has no test`),
    ),
  ]
}

function tablesIn(tables: string): string[] {
  return [...tables.matchAll(/^ {2}(\w+): \{$/gm)].map(([, name = '']) => name)
}

/** Returns the collections of a file that outlive a request, as `path name`. */
function collectionsIn({ path, code }: Pick<Source, 'path' | 'code'>): string[] {
  let inMaker = false
  return code.split('\n').flatMap((line) => {
    if (/^\S/.test(line)) inMaker = makers.test(line) || (inMaker && line !== '}')
    const found = collection.exec(line)
    const [, name = ''] = found ?? []
    if (!found) return []
    const isOfModule = !line.startsWith(' ')
    const isFilled = new RegExp(String.raw`\b${name}\.(?:add|set|push|unshift)\(`).test(code)
    if (isOfModule ? isFilled : inMaker && found.groups?.['given'] !== '[') return [`${path} ${name}`]
    return []
  })
}

/** A row of the table of audit actions, for each of its actions. */
export type Act = {
  act: string
  isOfCallers: boolean
  /** Whether the operator or the service itself can do it, with callers or alone. */
  isOfService: boolean
  /** Rate limits that each such request counts against. */
  counted: string[]
  /** What each occurrence consumes: another action, or a limit of an earlier request, where the text says so. */
  taken: string[]
}

export function readActs(growth: string): Act[] {
  return growth.split('\n').flatMap((line) => {
    const [, acts = '', who = '', bound = ''] = /^\| (`[^|]+) \| ([^|]+) \| ([^|]+) \|$/.exec(line) ?? []
    const parts = bound.split(';').map((part) => ({ hasWords: part.includes(':'), names: namesIn(part) }))
    const isCounted = (name: string) =>
      parts.some((part) => part.names.includes(name) && !part.hasWords && !isAct(name))
    const names = namesIn(bound)
    return namesIn(acts).map((act) => ({
      act,
      isOfCallers: isOfCallers(who),
      isOfService: /\b(?:operator|service)\b/.test(who),
      counted: names.filter(isCounted),
      taken: names.filter((name) => !isCounted(name)),
    }))
  })
}

type Acts = { growth: string; actions: string[]; rateLimits: string[] }

/**
 * Returns the errors of the table of audit actions. Each audit action is in it once. One that callers can cause names
 * rate limits, or actions that it requires and that are limited. All that it names are checked, because each may be a
 * way to it.
 */
export function findUnbounded({ growth, actions, rateLimits }: Acts): string[] {
  const limits = new Set(rateLimits)
  const rows = readActs(growth).map((each) => ({ ...each, bounds: [...each.counted, ...each.taken] }))
  const rowOf = (act: string) => rows.find((each) => each.act === act)
  const isBounded = (act: string, before: string[] = []): boolean => {
    const found = rowOf(act)
    if (!found?.isOfCallers) return found !== undefined
    const { bounds } = found
    const isLimited = (name: string) =>
      limits.has(name) || (!before.includes(name) && isBounded(name, [...before, act]))
    return bounds.length > 0 && bounds.every(isLimited)
  }
  return [
    ...actions.filter((act) => !rowOf(act)).map((act) => `${act} is recorded, but has no documented limit`),
    ...rows.filter(({ act }) => !actions.includes(act)).map(({ act }) => `${act} is listed, but is no audit action`),
    ...rows.filter((each) => rowOf(each.act) !== each).map(({ act }) => `${act} is listed twice`),
    ...rows.flatMap(({ act, bounds }) =>
      bounds
        .filter((name) => !limits.has(name) && !actions.includes(name))
        .map((name) => `${act} names ${name}, which is neither a limit nor an audit action`),
    ),
    ...rows
      .filter(({ act }) => !isBounded(act))
      .map(({ act }) => `${act} can be caused by callers, but no limit applies`),
  ]
}

const isAct = (name: string) => name.includes('.')
const namesIn = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)

if (import.meta.main) {
  const root = join(import.meta.dirname, '..')
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  const sources = readSources(root, ['server/**/*.ts']).filter(
    ({ path }) => !/\.test\.ts$|^server\/testing\//.test(path),
  )
  const [growth, cases] = [read('docs/security/growth.md'), read('docs/security/cases.md')]
  const actions = modules.flatMap((module) => ('auditActions' in module ? module.auditActions : []))
  const rateLimits = Object.keys(rateLimitPolicies)
  const wrong = [
    ...findUnlisted({ growth, cases, tables: read('server/platform/database/tables.ts'), sources }),
    ...findUnbounded({ growth, actions, rateLimits }),
  ]
  for (const sentence of wrong) console.error(`docs/security/growth.md: ${sentence}`)
  if (wrong.length > 0) process.exitCode = 1
}
