/**
 * What neither the compiler nor the linter sees: long lines, notes for later, tests that are left out, names that say
 * nothing, secrets revealed in the wrong place, and what nobody uses. `npm run check` runs it.
 */
import { basename, dirname, join, matchesGlob, normalize } from 'node:path'
import { importsOf, readSources, type Source } from './sources.ts'

const lineCharactersMax = 120
const namesThatSayNothing = ['common', 'helper', 'helpers', 'index', 'manager', 'misc', 'shared', 'util', 'utils']

/** Where a plaintext secret may be read: where it is compared, encrypted or handed to the database. */
const mayReveal = [
  'server/platform/{config,crypto,database,http,observability,outbound}/**',
  'server/{clients/registration,sso/providers,testing}/**',
]

/** The one module that reads where a request comes from; every other one asks it. */
const readsAddress = 'server/platform/http/source-address.ts'
const addressOfRequest = [
  /\.(?:ips?|remoteAddress)\b/,
  /\{[^{}]*\b(?:ips?|remoteAddress)\b[^{}]*\}\s*=[^>]/,
  /['"`](?:x-forwarded-[\w-]+|forwarded|x-real-ip)['"`]/i,
]

/** Where no session is meant: the database itself, and tests. */
const mayAct = ['server/platform/{database,queue,rate-limits}/**', 'server/testing/**', '**/*.test.ts']

/** Functions of the server that know of a session and change something in a transaction that does not hold it. */
const withoutHoldingSession: Record<string, string> = {
  'server/clients/registration/steward.ts stewardTransaction': 'The operator has no session.',
  'server/organizations/membership/access.ts requireSso':
    'What it notes belongs to the session, and is noted only where that is there.',
  'server/organizations/members/organization.ts beginOrganization': 'An app begins one without a session, by a token.',
  'server/accounts/passkeys/assertion.ts withProof':
    'It is the proof that opens a session, or renews one that is there.',
  'server/accounts/passkeys/recovery.ts finishRecovery': 'It ends all sessions and opens another.',
  'server/accounts/passkeys/registration.ts finishRegistration': 'It opens the first session.',
  'server/oauth/logout/sign-out.ts signOut': 'It ends the session.',
  'server/accounts/sessions/acting.ts actingTransaction': 'It holds the session itself.',
  'server/sso/sign-in/arrival.ts arrive': 'It opens a session, or another in place of the one that is there.',
  'server/sso/sign-in/arrival.ts confirmArrival': 'The same.',
}

/** Files that something else than an import begins, beside those that a script of package.json names. */
const beginnings = ['**/*.test.ts', 'sdk/src/browser/button.ts', 'web/pages/*/main.tsx', 'bench/peers/*.ts']

const everySource = '**/*.{ts,tsx}'
const everyText = '**/*.{ts,tsx,css,sql}'

/** Everything untidy in the repository, one line each, and how many files were read. */
export function findUntidy(root: string): { files: number; untidy: string[] } {
  const texts = readSources(root, [everyText, '.ci/run'])
  const sources = texts.filter(({ path }) => matchesGlob(path, everySource))
  const scripts = readSources(root, ['**/package.json', '.ci/run', 'deploy/Dockerfile'])
  const untidy = [
    ...texts.flatMap(untidyText),
    ...sources.flatMap(untidySource),
    ...deadFiles(sources, scripts),
    ...deadExports(sources),
    ...unheldSessions(sources),
  ]
  if (sources.length === 0) untidy.push('No source file was found, so nothing was checked')
  return { files: texts.length, untidy }
}

function untidyText({ path, text }: Source): string[] {
  return text.split('\n').flatMap((line, index) => {
    const place = `${path}:${index + 1}`
    if (line.length > lineCharactersMax) return [`${place} is longer than ${lineCharactersMax} columns`]
    return /\b(?:TODO|FIXME|XXX)\b/.test(line) && !isAboutThis(path) ? [`${place} leaves a note for later`] : []
  })
}

function untidySource({ path, code }: Source): string[] {
  const untidy: string[] = []
  const name = basename(path).split('.')[0] ?? ''
  if (namesThatSayNothing.includes(name)) untidy.push(`${path} has a name that does not say what it holds`)
  if (isAboutThis(path)) return untidy

  const isServed = matchesGlob(path, 'server/**') && !mayAct.slice(1).some((glob) => matchesGlob(path, glob))
  if (isServed && path !== readsAddress && addressOfRequest.some((pattern) => pattern.test(code)))
    untidy.push(`${path} reads where a request comes from, which only ${readsAddress} does`)

  const isTest = path.endsWith('.test.ts')
  const leavesOut = /\.(?:only|skip|todo)\(|\b(?:only|skip|todo): /
  if (isTest && leavesOut.test(code)) untidy.push(`${path} leaves out a test`)
  if (!isTest && code.includes('.reveal()') && !mayReveal.some((glob) => matchesGlob(path, glob)))
    untidy.push(`${path} reveals a secret, which tools/tidy.ts does not let it`)
  return untidy
}

/**
 * Functions that change something beside a session without `actingTransaction`: where the session ends meanwhile, they
 * would act in one that has ended.
 */
function unheldSessions(sources: Source[]): string[] {
  const isChecked = (path: string) => matchesGlob(path, 'server/**') && !mayAct.some((glob) => matchesGlob(path, glob))
  const found = sources
    .filter(({ path }) => isChecked(path))
    .flatMap(({ path, code }) =>
      functionsIn(code)
        .filter(({ text }) => /(?<![\w.])(?:transaction|withinTransaction)\(/.test(text))
        .filter(({ text }) => /\b(?:session|sessionId|acting|steward|browser|proved)\b/i.test(text))
        .map(({ name }) => `${path} ${name}`),
    )
  const listed = Object.keys(withoutHoldingSession)
  const unlisted = found.filter((each) => !listed.includes(each))
  const stale = listed.filter(
    (each) => sources.some(({ path }) => each.startsWith(`${path} `)) && !found.includes(each),
  )
  return [
    ...unlisted.map((each) => `${each} knows of a session and does not hold it: use actingTransaction`),
    ...stale.map((each) => `${each} is listed in tools/tidy.ts, and there is no such exception any more`),
  ]
}

/** The functions of a module, each with all that stands before the next. */
function functionsIn(code: string): { name: string; text: string }[] {
  const begun = [...code.matchAll(/^(?:export )?(?:async )?function\*? (\w+)/gm)]
  return begun.map(({ index, 1: name = '' }, nth) => ({ name, text: code.slice(index, begun[nth + 1]?.index) }))
}

/** This file and its test name what they look for. */
function isAboutThis(path: string): boolean {
  return /^tools\/(?:test\/)?tidy(?:\.test)?\.ts$/.test(path)
}

/** Files that no import and no path in a script or a string leads to. */
function deadFiles(sources: Source[], scripts: Source[]): string[] {
  const reached = new Set([...sources.flatMap(pathsIn), ...scripts.flatMap(pathsIn)])
  const dead = sources.filter(({ path }) => !reached.has(path) && !beginnings.some((glob) => matchesGlob(path, glob)))
  return dead.map(({ path }) => `${path} is used by nobody`)
}

/** Every path of another source file that a file names: from itself, or from the root of the repository. */
function pathsIn(source: Source): string[] {
  const imports = importsOf(source).flatMap(({ target }) => target ?? [])
  const named = [...source.code.matchAll(/[\w./-]+\.tsx?\b/g)].flatMap(([path]) => {
    return [normalize(path), normalize(join(dirname(source.path), path))]
  })
  return [...imports, ...named].filter((path) => path !== source.path)
}

const declaration = /^export (?:async )?(function\*?|class|const|type|interface) (\w+)/gm

/**
 * Exported names that nobody mentions, and functions and classes that are mentioned in their own file only: those need
 * no export. Types and schemas may be there for the reader of a signature.
 */
function deadExports(sources: Source[]): string[] {
  const mentions = new Map<string, { count: number; files: number }>()
  for (const { code } of sources)
    for (const [word, places = []] of Object.entries(Object.groupBy(code.match(/\w+/g) ?? [], (found) => found))) {
      const { count, files } = mentions.get(word) ?? { count: 0, files: 0 }
      mentions.set(word, { count: count + places.length, files: files + 1 })
    }

  return sources.flatMap(({ path, code }) => {
    const declared = [...code.matchAll(declaration)].map(([, kind = '', name = '']) => ({ kind, name }))
    const dead = declared.filter(({ kind, name }) => {
      const { count = 0, files = 0 } = mentions.get(name) ?? {}
      const declarations = declared.filter((other) => other.name === name).length
      return count === declarations || (files === 1 && /function|class/.test(kind))
    })
    return [...new Set(dead.map(({ name }) => `${path} exports ${name} to nobody`))]
  })
}

if (import.meta.main) {
  const { files, untidy } = findUntidy(join(import.meta.dirname, '..'))
  for (const fault of untidy) console.error(fault)
  console.log(`${files} files, ${untidy.length === 0 ? 'nothing' : untidy.length} untidy`)
  if (untidy.length > 0) process.exitCode = 1
}
