/**
 * Who may import whom, and who may write which table (ARCHITECTURE.md). `npm run check` runs it; it prints each arrow
 * that points the wrong way. The server's rooms stand in one line: a room may import those before it, never one after.
 */
import { join } from 'node:path'
import { importsOf, readSources, type Import, type Source } from './sources.ts'

const rooms =
  'kernel sessions identity apps webhooks tokens logout organizations delegation authorizations transparency signing ' +
  'encryption oauth sso fedcm passkeys audit account playground backup'

/** The files that put the rooms together, likewise in one line. */
const house =
  'probes.ts site.ts openapi-schemas.ts openapi.ts reference.ts hosts.ts connections.ts listeners.ts jobs.ts ' +
  'metrics-listener.ts ' +
  'telemetry.ts worker-metrics.ts workers.ts start.ts banner.ts egress-guard.ts main.ts prepare.ts health.ts'
const line = `${rooms} ${house}`.split(' ')

/** The first word of a table's name tells the room that owns it. */
const ownerOfTable: Record<string, string> = {
  schema: 'kernel',
  rate: 'kernel',
  audit: 'kernel',
  session: 'sessions',
  identity: 'identity',
  person: 'identity',
  app: 'apps',
  webhook: 'webhooks',
  token: 'tokens',
  organization: 'organizations',
  delegation: 'delegation',
  authorization: 'authorizations',
  transparency: 'transparency',
  signing: 'signing',
  encryption: 'encryption',
  key: 'encryption',
  oauth: 'oauth',
  sso: 'sso',
  fedcm: 'fedcm',
  passkey: 'passkeys',
  playground: 'playground',
}

/** What each package may import of the others; `formats` are the files that both sides run and that need nothing. */
const packages: Record<string, (target: string, typesOnly: boolean) => boolean> = {
  protocol: () => false,
  keys: isFormat,
  server: (target) => packageOf(target) === 'protocol',
  web: (target, typesOnly) =>
    packageOf(target) === 'keys' || isFormat(target) || (typesOnly && packageOf(target) === 'protocol'),
  cli: (target) => packageOf(target) === 'protocol',
  sdk: (target) => isFormat(target) || target === 'protocol/src/receipt-verification.ts',
}

/** Modules that are heavy, and loaded only when they are needed. Anywhere else a dynamic import hides a cycle. */
const loadedWhenNeeded = [
  ...['vite', 'xml-crypto', '@peculiar/x509', 'reflect-metadata', 'nodemailer', 'age-encryption'],
  ...['web/messages/de.ts', 'web/signin/app-key.ts', 'web/vault.ts', 'protocol/src/receipt-verification.ts'],
  'web/ui/ExactText.tsx',
]

const querying = /\.(?:selectFrom|insertInto|updateTable|deleteFrom|mergeInto)\(|\bsql(?:<[^`]*>)?`|\bsql\.raw\(/
const writing = [
  /\.(?:insertInto|updateTable|deleteFrom|mergeInto)\(\s*'(\w+)/g,
  /\b(?:insert\s+into|delete\s+from|merge\s+into|truncate)\s+"?(\w+)/gi,
  /\bupdate\s+(?!set\b)"?(\w+)"?(?:\s+(?:as\s+)?(?!set\b)\w+)?\s+set\b/gi,
]

/** The arrows that point the wrong way, one line each, and how many modules were read. */
export function followArrows(root: string): { modules: number; wrong: string[] } {
  const names = Object.keys(packages)
  const sources = readSources(root, [`{${names.join(',')}}/**/*.{ts,tsx}`])
  const unread = names.filter((name) => !sources.some(({ path }) => packageOf(path) === name))
  const wrong = unread.map((name) => `No module was found in ${name}/, so nothing would be checked there`)

  for (const source of sources) {
    if (isTesting(source.path)) continue
    const imports = importsOf(source)
    for (const found of imports) wrong.push(...wrongBetweenPackages(source, found))
    if (packageOf(source.path) !== 'server') continue
    if (!line.includes(roomOf(source.path))) wrong.push(`${source.path} stands in no room that tools/arrows.ts names`)
    for (const found of imports) wrong.push(...wrongBetweenRooms(source, found))
    wrong.push(...wrongQueries(source))
  }
  const tables = readSources(root, ['server/migrations/*.sql']).flatMap(wrongTables)
  return { modules: sources.length, wrong: [...wrong, ...tables] }
}

function wrongBetweenPackages({ path }: Source, { specifier, target, typesOnly, dynamic }: Import): string[] {
  if (dynamic && !loadedWhenNeeded.includes(target ?? specifier)) return [`${path} imports ${specifier} dynamically`]
  if (isFormat(path) && !isFormat(target)) return [`${path} imports ${specifier}, but a format depends on nothing`]

  const from = packageOf(path)
  if (target === undefined || packageOf(target) === from || packages[from]?.(target, typesOnly)) return []
  return [`${path} imports ${target}, which ${from} may not${from === 'web' ? ' (types only)' : ''}`]
}

function wrongBetweenRooms({ path }: Source, { target }: Import): string[] {
  const from = roomOf(path)
  if (target === undefined || packageOf(target) !== 'server') return []
  const to = roomOf(target)
  if (to === from) return []

  const wrong: string[] = []
  if (line.indexOf(to) > line.indexOf(from)) wrong.push(`${path} imports ${target}, but ${to} stands after ${from}`)
  const isPrivate = (isStore(target) && to !== 'kernel') || (target.endsWith('/routes.ts') && from !== 'hosts.ts')
  if (isPrivate) wrong.push(`${path} imports ${target}, which is private to ${to}`)
  return wrong
}

function wrongQueries({ path, code }: Source): string[] {
  const room = roomOf(path)
  const tables = writing.flatMap((pattern) => [...code.matchAll(pattern)].map(([, table = '']) => table))
  const mayQuery = room === 'kernel' || isStore(path)
  if (!mayQuery && (tables.length > 0 || querying.test(code))) return [`${path} has SQL, which belongs in store.ts`]
  const foreign = [...new Set(tables)].filter((table) => ownerOf(table) !== room)
  return foreign.map((table) => `${path} writes ${table}, which is a table of ${ownerOf(table) ?? 'no room'}`)
}

function wrongTables({ path, text }: Source): string[] {
  const tables = [...text.matchAll(/\bcreate\s+(?:unlogged\s+)?table\s+(?:if\s+not\s+exists\s+)?"?(\w+)/gi)].map(
    ([, table = '']) => table,
  )
  const unowned = tables.filter((table) => !ownerOf(table))
  return unowned.map((table) => `${path} creates ${table}, whose first word names no room in tools/arrows.ts`)
}

function ownerOf(table: string): string | undefined {
  return ownerOfTable[table.split('_')[0] ?? '']
}

function packageOf(path: string): string {
  return path.split('/')[0] ?? ''
}

function roomOf(path: string): string {
  return path.split('/')[1] ?? ''
}

/** `store.ts`, or where a room has too many statements for one file, another by its noun: `access-store.ts`. */
function isStore(path: string): boolean {
  return /[/-]store\.ts$/.test(path)
}

function isFormat(path: string | undefined): boolean {
  return path !== undefined && path.startsWith('protocol/src/formats/')
}

/** Tests and what they are made of may reach for anything. */
function isTesting(path: string): boolean {
  return path.endsWith('.test.ts') || path.startsWith('server/testing/')
}

if (import.meta.main) {
  const { modules, wrong } = followArrows(join(import.meta.dirname, '..'))
  for (const arrow of wrong) console.error(arrow)
  console.log(`${modules} modules, ${wrong.length === 0 ? 'no' : wrong.length} wrong arrows`)
  if (wrong.length > 0) process.exitCode = 1
}
