/**
 * Checks which modules import which, and which room writes which table (ARCHITECTURE.md). The contexts of the server
 * and the rooms in them have one order: a room imports only rooms before it. `npm run check` runs it.
 */
import { basename, dirname, join } from 'node:path'
import { importsOf, readSources, type Import, type Source } from './sources.ts'

/** The contexts in their order, each with its rooms in order. `.` holds the files of the context itself. */
const contexts: Record<string, string> = {
  platform:
    '. crypto config database observability outbound queue rate-limits audit settings http scim ' +
    'documentation module pictures process',
  accounts:
    'app-events backchannel-logout sessions identities keys passkeys account operators groups ' +
    'registration-email invitations suspension deletion scim recovery-links',
  clients: 'usage registration roles claims resources webhooks',
  tokens: 'signing-keys families',
  organizations: 'membership acts domains keys members council',
  sso: 'providers connections provisioning sign-in',
  oauth: '. delegation app-keys consents authorize token discovery logout fedcm',
  signing: 'transparency keys requests key-reset',
  operations: 'audit sinks settings configuration people playground backup health',
}

/** Files outside of the contexts, after all of them, in their order. */
const entries = [
  'egress-guard.ts',
  'thread-pool.ts',
  'modules.ts',
  'services.ts',
  'banner.ts',
  'app.ts',
  'build-template.ts',
  'healthcheck.ts',
  'shard.ts',
  'main.ts',
]
const order = [
  ...Object.entries(contexts).flatMap(([context, rooms]) => rooms.split(' ').map((room) => `${context}/${room}`)),
  ...entries,
]

/** What each package imports of the others. `formats` are files that both sides run and that need nothing. */
const packages: Record<string, (target: string, typesOnly: boolean) => boolean> = {
  protocol: () => false,
  keys: isFormat,
  saml: () => false,
  server: (target) => ['protocol', 'saml'].includes(packageOf(target)),
  web: (target, typesOnly) =>
    packageOf(target) === 'keys' ||
    isFormat(target) ||
    target === 'protocol/src/signing/receipt-reading.ts' ||
    // The playground is an app, and encrypts with what apps use.
    target === 'sdk/src/encryption/encryption.ts' ||
    (typesOnly && packageOf(target) === 'protocol'),
  cli: (target) => packageOf(target) === 'protocol',
  sdk: (target) => isFormat(target) || /^protocol\/src\/signing\/(?:approvals|receipt-verification)\.ts$/.test(target),
}

/** The folders of `web`, in their order. No page imports another one. */
const layersOfWeb = ['locales', 'lib', 'components', 'pages']

/** Modules that are expensive to load, and loaded only when needed. Elsewhere a dynamic import would hide a cycle. */
const loadedOnDemand = [
  'server/platform/database/embedded.ts',
  ...['vite', 'xml-crypto', '@peculiar/x509', 'reflect-metadata', 'nodemailer', 'age-encryption'],
  ...['web/pages/signin/consent/app-key.ts', 'web/lib/keys/key-vault.ts', 'web/lib/keys/app-key-store.ts'],
  ...['web/components/keys/KeyNotices.tsx', 'web/components/display/ExactText.tsx'],
  ...['web/components/ui/Code.tsx', 'web/components/unlock/SaveRecoveryCode.tsx'],
  ...['web/pages/act/Decide.tsx', 'web/pages/business/sso/SsoConnections.tsx'],
  ...['web/pages/business/documents/Documents.tsx', 'web/pages/receipt/verification.ts'],
  ...['web/pages/business/council/CouncilSection.tsx', 'web/pages/business/council/FormerSignatory.tsx'],
  'web/components/frame/SessionChanged.tsx',
  'web/components/ui/Code.tsx',
  'web/components/unlock/SaveRecoveryCode.tsx',
  'protocol/src/signing/receipt-verification.ts',
  'protocol/src/signing/acts/trail-verification.ts',
  'protocol/src/signing/acts/council-replay.ts',
]

const filesPerFolderMax = 12

/** Rooms that are about SQL themselves. All others keep it in their stores. */
const roomsOfSql = ['platform/database', 'platform/queue', 'platform/audit']

const querying = /\.(?:selectFrom|insertInto|updateTable|deleteFrom|mergeInto)\(|\bsql(?:<[^`]*>)?`|\bsql\.raw\(/
const writing = [
  /\.(?:insertInto|updateTable|deleteFrom|mergeInto)\(\s*'(\w+)/g,
  /\b(?:insert\s+into|delete\s+from|merge\s+into|truncate)\s+"?(\w+)/gi,
  /\bupdate\s+(?!set\b)"?(\w+)"?(?:\s+(?:as\s+)?(?!set\b)\w+)?\s+set\b/gi,
]

/** An entry of `tables` of a module. */
const declaring = /\b(\w+): '(?:include|exclude)'/g

/** Returns every violation in a repository, one line each, and the number of modules. */
export function checkImportRules(root: string): { modules: number; violations: string[] } {
  const names = Object.keys(packages)
  const all = readSources(root, [`{${names.join(',')}}/**/*.{ts,tsx}`])
  const sources = all.filter(({ path }) => !isTesting(path))
  const unread = names.filter((name) => !sources.some(({ path }) => packageOf(path) === name))
  const ofServer = sources.filter(({ path }) => packageOf(path) === 'server')
  const violations = [
    ...unread.map((name) => `No module was found in ${name}/, so nothing would be checked there`),
    ...sources.flatMap((source) => importsOf(source).flatMap((found) => violationsBetweenPackages(source, found))),
    ...sources.flatMap((source) => importsOf(source).flatMap((found) => violationsInWeb(source, found))),
    ...ofServer.flatMap(violationsInServer),
    ...violationsOfTables(ofServer),
    ...violationsOfFolders(sources),
  ]
  return { modules: all.length, violations }
}

function violationsBetweenPackages({ path }: Source, { specifier, target, typesOnly, dynamic }: Import): string[] {
  if (dynamic && !isLoadedOnDemand(target ?? specifier) && !isPartOfPage(path, target))
    return [`${path} imports ${specifier} dynamically`]
  if (isFormat(path) && !isFormat(target)) return [`${path} imports ${specifier}, but a format depends on nothing`]

  const from = packageOf(path)
  if (target === undefined || packageOf(target) === from || packages[from]?.(target, typesOnly)) return []
  return [`${path} imports ${target}, which ${from} may not${from === 'web' ? ' (types only)' : ''}`]
}

function violationsInWeb({ path }: Source, { target = '' }: Import): string[] {
  const [from, to] = [layerOfWeb(path), layerOfWeb(target)]
  if (from === -1 || to === -1) return []
  if (to > from) return [`${path} imports ${target}, but ${layersOfWeb[to]} come after ${layersOfWeb[from]}`]
  const isPage = layersOfWeb[to] === 'pages'
  return isPage && roomOf(path) !== roomOf(target) ? [`${path} imports ${target}, which is another page`] : []
}

/** The texts of a language are loaded when a page is shown in it. */
function isLoadedOnDemand(target: string): boolean {
  return loadedOnDemand.includes(target) || isSectionOfAccount(target) || /^web\/locales\/[a-z]+\//.test(target)
}

/** A section of the account is loaded when it is first shown. */
function isSectionOfAccount(target: string): boolean {
  return /^web\/pages\/account\/[a-z]+\/[A-Z]\w+\.tsx$/.test(target)
}

/** A page loads its own parts when they are shown: the sections of a console. */
function isPartOfPage(path: string, target: string | undefined): boolean {
  const [, page] = /^(web\/pages\/[\w-]+\/)/.exec(path) ?? []
  return page !== undefined && target !== undefined && target.startsWith(page)
}

function layerOfWeb(path: string): number {
  const [name, layer = ''] = path.split('/')
  return name === 'web' ? layersOfWeb.indexOf(layer) : -1
}

function violationsInServer(source: Source): string[] {
  const { path, code } = source
  const from = roomOf(path)
  const isPlaced = order.includes(from)
  const hasForeignSql = !roomsOfSql.includes(from) && !isStore(path) && querying.test(code)
  return [
    ...(isPlaced ? [] : [`${path} is in no room that tools/import-rules.ts names`]),
    ...(hasForeignSql ? [`${path} has SQL, which belongs in store.ts`] : []),
    ...importsOf(source).flatMap((found) => violationsBetweenRooms(source, found)),
  ]
}

function violationsBetweenRooms({ path }: Source, { target }: Import): string[] {
  if (target === undefined || packageOf(target) !== 'server') return []
  const [from, to] = [roomOf(path), roomOf(target)]
  if (to === from) return []
  const isLater = order.indexOf(to) > order.indexOf(from)
  const isPrivate = isStore(target) || basename(target) === 'routes.ts'
  return [
    ...(isLater ? [`${path} imports ${target}, but ${to} comes after ${from}`] : []),
    ...(isPrivate ? [`${path} imports ${target}, which is private to ${to}`] : []),
  ]
}

/** A table belongs to the room whose module declares it: no other one writes it. */
function violationsOfTables(sources: Source[]): string[] {
  const owners = new Map(
    sources.flatMap(({ path, code }) =>
      isModule(path) ? [...code.matchAll(declaring)].map(([, table = '']) => [table, roomOf(path)] as const) : [],
    ),
  )
  const writers = new Map<string, Set<string>>()
  for (const { path, code } of sources)
    for (const pattern of writing)
      for (const [, table = ''] of code.matchAll(pattern))
        writers.set(table, (writers.get(table) ?? new Set()).add(roomOf(path)))
  return [...writers].flatMap(([table, rooms]) => {
    const [writer = '', ...others] = [...rooms].toSorted()
    if (others.length > 0) return [`${table} is written by ${[writer, ...others].join(' and ')}`]
    const owner = owners.get(table) ?? writer
    return isSameOwner(owner, writer) ? [] : [`${table} is written by ${writer}, but ${owner} declares it`]
  })
}

/** The rooms of the platform have one module. */
function isSameOwner(owner: string, writer: string): boolean {
  return owner === writer || (owner === 'platform/process' && writer.startsWith('platform/'))
}

function violationsOfFolders(sources: Source[]): string[] {
  const counts = new Map<string, number>()
  for (const { path } of sources) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
  return [...counts].flatMap(([folder, count]) =>
    count > filesPerFolderMax && !isOfPageTexts(folder)
      ? [`${folder} has ${count} files, more than ${filesPerFolderMax}`]
      : [],
  )
}

/** The texts of the pages are one file for each page. */
function isOfPageTexts(folder: string): boolean {
  return /^web\/locales\/\w+\/pages$/.test(folder)
}

function packageOf(path: string): string {
  return path.split('/')[0] ?? ''
}

/**
 * Returns `accounts/sessions` for a file in a room, `oauth/.` for one in the context itself, `main.ts` for one in
 * neither.
 */
function roomOf(path: string): string {
  const [, context = '', room = '', file] = path.split('/')
  if (room === '') return context
  return `${context}/${file === undefined ? '.' : room}`
}

/** `store.ts`, or another file by its noun in a room with too many statements for one: `access-store.ts`. */
function isStore(path: string): boolean {
  return /[/-]store\.ts$/.test(path)
}

function isModule(path: string): boolean {
  return path.endsWith('/module.ts')
}

function isFormat(path: string | undefined): boolean {
  return path !== undefined && path.startsWith('protocol/src/formats/')
}

/** Tests and their fixtures import what they need. */
function isTesting(path: string): boolean {
  return path.endsWith('.test.ts') || /\/(?:test|testing)\//.test(path)
}

if (import.meta.main) {
  const { modules, violations } = checkImportRules(join(import.meta.dirname, '..'))
  for (const violation of violations) console.error(violation)
  console.log(`${modules} modules, ${violations.length} violations`)
  if (violations.length > 0) process.exitCode = 1
}
