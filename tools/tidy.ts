/**
 * What neither the compiler nor the linter sees: long lines, notes for later, tests that are left out, names that say
 * nothing, and secrets revealed in the wrong place. `npm run check` runs it. Unused code is found by knip.
 */
import { basename, join, matchesGlob } from 'node:path'
import { readSources, type Source } from './sources.ts'

const lineColumnsMax = 120
const namesThatSayNothing = ['common', 'helper', 'helpers', 'index', 'manager', 'misc', 'shared', 'util', 'utils']

/** Where a plaintext secret may be read: where it is compared, encrypted or handed to the database. */
const mayReveal = [
  'server/platform/{config,crypto,database,http,observability,outbound}/**',
  'server/{accounts/operators,clients/registration,sso/providers,testing}/**',
]

/** The one module that reads where a request comes from; every other one asks it. */
const readsAddress = 'server/platform/source-address.ts'
const addressOfRequest = [
  /\.(?:ips?|remoteAddress)\b/,
  /\{[^{}]*\b(?:ips?|remoteAddress)\b[^{}]*\}\s*=[^>]/,
  /['"`](?:x-forwarded-[\w-]+|forwarded|x-real-ip)['"`]/i,
]

/** Where no session is meant: the database itself, and tests. */
const mayAct = ['server/platform/{database,queue,rate-limits}/**', 'server/testing/**', '**/*.test.ts']

/** Functions of the server that know of a session and change something in a transaction that does not hold it. */
const withoutHoldingSession: Record<string, string> = {
  'server/accounts/operators/acting-operator.ts ownTransaction': 'A token and ADMIN_TOKEN have no session.',
  'server/organizations/membership/access.ts requireSso':
    'What it notes belongs to the session, and is noted only where that is there.',
  'server/organizations/members/organization.ts createOrganization': 'An app begins one without a session, by a token.',
  'server/accounts/passkeys/assertion.ts withVerifiedAssertion':
    'It is the proof that opens a session, or renews one that is there.',
  'server/accounts/passkeys/assertion.ts withRecoveredAssertion': 'The same.',
  'server/accounts/recovery-links/redemption.ts finishRedemption': 'A mailed secret proves it.',
  'server/accounts/recovery-links/stop.ts stopMailedRecoveryLink': 'A mailed secret is the proof.',
  'server/accounts/passkeys/recovery.ts finishRecovery': 'It ends all sessions and opens another.',
  'server/accounts/passkeys/registration.ts finishRegistration': 'It opens the first session.',
  'server/oauth/logout/sign-out.ts signOut': 'It ends the session.',
  'server/accounts/sessions/acting.ts actingTransaction': 'It holds the session itself.',
  'server/sso/sign-in/complete-login.ts completeSsoLogin':
    'It opens a session, or another in place of the one that is there.',
  'server/sso/sign-in/complete-login.ts confirmArrival': 'The same.',
}

const everySource = '**/*.{ts,tsx}'
const everyText = '**/*.{ts,tsx,css,sql}'

/** Everything untidy in the repository, one line each, and how many files were read. */
export function findUntidy(root: string): { files: number; untidy: string[] } {
  const texts = readSources(root, [everyText, '.ci/run'])
  const sources = texts.filter(({ path }) => matchesGlob(path, everySource))
  const untidy = [...texts.flatMap(untidyText), ...sources.flatMap(untidySource), ...unheldSessions(sources)]
  if (sources.length === 0) untidy.push('No source file was found, so nothing was checked')
  return { files: texts.length, untidy }
}

function untidyText({ path, text }: Source): string[] {
  return text.split('\n').flatMap((line, index) => {
    const place = `${path}:${index + 1}`
    if (columnsOf(line) > lineColumnsMax) return [`${place} is longer than ${lineColumnsMax} columns`]
    return /\b(?:TODO|FIXME|XXX)\b/.test(line) && !isAboutThis(path) ? [`${place} leaves a note for later`] : []
  })
}

/** Marks of vowels stand on the letter before them, and take no column. */
function columnsOf(line: string): number {
  return line.replaceAll(/\p{M}/gu, '').length
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
        .filter(({ text }) => /(?<![\w.])(?:transaction|ensureTransaction)\(/.test(text))
        .filter(({ text }) => /\b(?:session\w*|acting|manager|browser|proved)\b/i.test(text))
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

if (import.meta.main) {
  const { files, untidy } = findUntidy(join(import.meta.dirname, '..'))
  for (const fault of untidy) console.error(fault)
  console.log(`${files} files, ${untidy.length === 0 ? 'nothing' : untidy.length} untidy`)
  if (untidy.length > 0) process.exitCode = 1
}
