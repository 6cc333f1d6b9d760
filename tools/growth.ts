/**
 * `docs/security/growth.md` says of every table and of every collection in memory who can add to it, what limits that
 * and what removes it again. This fails where one is missing there or has gone, and where what callers can fill names
 * no case of `docs/security/cases.md` that has a test. It also says of every act of the audit log, from which nothing
 * is removed, what bounds how often it can be recorded.
 *
 * A collection outlives a request if it is declared at the top of a module and filled later, or at the top of a
 * function that makes something which lasts: by its name, `createRateLimits`, `startSender`, `mountHosts`.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readSources, type Source } from './sources.ts'

type Documents = { growth: string; cases: string; tables: string; sources: Pick<Source, 'path' | 'code'>[] }

const makers = /^(?:export )?(?:async )?function ((?:create|start|mount|serve|guard|gathering|storageOver)\w*)/
const collection =
  /^(?: {2})?(?:const|let) (\w+)(?:: [^=]+)? = (?:new (?:Weak)?(?:Map|Set)\b(?:<.*>)?\((?<given>.?)|\[\]$)/
const row = /^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \|([^|]*)\|$/
const caseId = /[A-Z][A-Z\d][A-Z]-\d{2}/g
/** All but the operator and the service itself: a word that is not known here is a caller, too. */
const isOfCallers = (who: string) => !who.split(';').every((each) => /^\s*(?:the )?(?:operator|service)\s*$/.test(each))

/** What is wrong with the document. */
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
    ...[...listed].filter((name) => !there.has(name)).map((name) => `${name} is listed, and is not there`),
    ...rows
      .filter(({ who, ids }) => isOfCallers(who) && ids.length === 0)
      .map(({ name }) => `${name} can be filled by callers, and names no case`),
    ...rows.flatMap(({ name, ids }) =>
      ids.filter((id) => !shown.has(id)).map((id) => `${name} names ${id}, which has no test`),
    ),
  ]
}

function tablesIn(tables: string): string[] {
  return [...tables.matchAll(/^ {2}(\w+): \{$/gm)].map(([, name = '']) => name)
}

/** The collections of a file that outlive a request: `path name`. */
function collectionsIn({ path, code }: Pick<Source, 'path' | 'code'>): string[] {
  let inMaker = false
  return code.split('\n').flatMap((line) => {
    if (/^\S/.test(line)) inMaker = makers.test(line) || (inMaker && !line.startsWith('}'))
    const found = collection.exec(line)
    const [, name = ''] = found ?? []
    if (!found) return []
    const isOfModule = !line.startsWith(' ')
    const isFilled = new RegExp(String.raw`\b${name}\.(?:add|set|push|unshift)\(`).test(code)
    if (isOfModule ? isFilled : inMaker && found.groups?.['given'] !== '[') return [`${path} ${name}`]
    return []
  })
}

/** A row of the table of acts, for each of its acts. */
export type Act = {
  act: string
  isOfCallers: boolean
  /** Whether the operator or the service itself may do it, beside callers or alone. */
  isOfService: boolean
  /** Limits that each request which does it counts. */
  counted: string[]
  /** What each time takes one of: another act, or what a request before has counted, where words say so. */
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

type Acts = { growth: string; audit: string; rateLimits: string }

/**
 * What is wrong with the table of acts: each act of the audit log stands in it once, and what callers can do names rate
 * limits, or acts that it cannot happen without and that limits bound: all that it names, for each may be a way to it.
 */
export function findUnbounded({ growth, audit, rateLimits }: Acts): string[] {
  const actions = [...audit.matchAll(/^ {2}\| '([\w.]+)'$/gm)].map(([, action = '']) => action)
  const limits = new Set(
    [...rateLimits.matchAll(/^ {2}'?([a-z][\w -]*?)'?: \{ points/gm)].map(([, name = '']) => name.replaceAll(' ', '-')),
  )
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
    ...actions.filter((act) => !rowOf(act)).map((act) => `${act} is recorded, and nothing says what bounds it`),
    ...rows.filter(({ act }) => !actions.includes(act)).map(({ act }) => `${act} is listed, and is no act`),
    ...rows.filter((each) => rowOf(each.act) !== each).map(({ act }) => `${act} is listed twice`),
    ...rows.flatMap(({ act, bounds }) =>
      bounds
        .filter((name) => !limits.has(name) && !actions.includes(name))
        .map((name) => `${act} names ${name}, which is no limit and no act`),
    ),
    ...rows
      .filter(({ act }) => !isBounded(act))
      .map(({ act }) => `${act} can be done by callers, and no limit bounds it`),
  ]
}

const isAct = (name: string) => name.includes('.')
const namesIn = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)

if (import.meta.main) {
  const root = join(import.meta.dirname, '..')
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  const sources = readSources(root, ['server/**/*.ts']).filter(
    ({ path }) => !/\.test\.ts$|^server\/(?:testing|sso\/saml\/corpus)\//.test(path),
  )
  const [growth, cases] = [read('docs/security/growth.md'), read('docs/security/cases.md')]
  const [audit, rateLimits] = [
    read('server/platform/audit/audit.ts'),
    read('server/platform/rate-limits/rate-limit.ts'),
  ]
  const wrong = [
    ...findUnlisted({ growth, cases, tables: read('server/platform/database/tables.ts'), sources }),
    ...findUnbounded({ growth, audit, rateLimits }),
  ]
  for (const sentence of wrong) console.error(`docs/security/growth.md: ${sentence}`)
  if (wrong.length > 0) process.exitCode = 1
}
