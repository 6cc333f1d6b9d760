import type { AuditHead, AuditHeadState } from '@countersign/protocol/formats/audit/audit-head'
import { writeVerifierKey } from '@countersign/protocol/formats/signing/checkpoint'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import type { AuditChainPlace, AuditChainState } from '@countersign/protocol/operations/audit'
import { type Command, InvalidArgumentError } from 'commander'
import { call } from '../call.ts'
import { fetchAuditHeads } from '../log/audit-heads.ts'
import { readState } from '../log/state-file.ts'
import { type Settings, settingsOf } from '../settings.ts'
import { CliError, printJson } from '../terminal.ts'
import { readTrustFile } from '../trust-file.ts'

type Options = { from: number; known?: AuditChainPlace; trust?: string; state?: string }

const { sha256 } = nodeSuite
const placesMax = 1000
/** Events are kept for 30 days at least. The clocks of processes differ by less than a day. */
const keptMilliseconds = 29 * 24 * 3600 * 1000

/** `countersign audit verify`: verifies the chain of the audit log, and names the first event that is not in order. */
export function addVerify(audit: Command): void {
  audit
    .command('verify')
    .description('verify that no event of the audit log was changed, or removed before its time')
    .option('--from <place>', 'first event to verify, by its number', parsePlace, 1)
    .option('--known <place:hash>', 'head that was printed before, which the log must contain', parseHead)
    .option('--trust <file>', 'trust file with the key of the transparency log; default: the key that the server names')
    .option('--state <file>', 'state file of `countersign log watch`: the server must show all heads up to its end')
    .action(async ({ from, known, trust, state: seen }: Options, command: Command) => {
      const settings = settingsOf(command)
      if (known) await requireKnown(settings, known)
      const published = await readPublished(settings, { trust, seen })
      const { checked, erased, matched, state } = await verify(settings, from, published)
      const { head, last, checkpoint } = state
      if (settings.json) return printJson({ checked, erased, published: matched, head, checkpoint })
      const range = last && checked > 0 ? `, ${last.sequence - checked + 1} to ${last.sequence}` : ''
      console.log(`Verified ${checked} events${range}${erased > 0 ? `; details of ${erased} were erased` : ''}.`)
      if (checkpoint) console.log(`Events up to ${checkpoint.sequence} were deleted.`)
      if (published.length > 0)
        console.log(`${matched} of ${published.length} heads in the transparency log are among them.`)
      if (head) console.log(`Head: ${writeHead(head)}`)
    })
}

/**
 * Reads the published heads. A server can withhold the last ones. It cannot withhold those up to one that was seen
 * among all entries of the log, because each names the one before.
 */
async function readPublished(
  settings: Settings,
  { trust, seen }: { trust: string | undefined; seen: string | undefined },
): Promise<AuditHeadState[]> {
  const watched = seen === undefined ? undefined : readState(seen)
  const trusted = trust === undefined ? undefined : readTrustFile(trust)
  if (watched && trusted && writeVerifierKey(sha256, watched.key) !== writeVerifierKey(sha256, trusted))
    throw new CliError(`${seen} is the state of another log than the one in ${trust}`)
  const published = await fetchAuditHeads(settings, watched?.key ?? trusted)
  const last = watched?.audit
  if (last && !published.some(({ leafHash }) => leafHash === last.leafHash))
    throw new CliError(`the server withholds the head of event ${last.sequence}, in its log since ${last.at}`)
  return published
}

type Verified = { checked: number; erased: number; matched: number; state: AuditChainState }

/** Verifies all places from one on, and that those which the transparency log contains have the hashes named there. */
async function verify(settings: Settings, from: number, published: AuditHead[]): Promise<Verified> {
  const first = await readPlaces(settings, from, 1)
  const { head, checkpoint } = first
  const start = Math.max(from, (checkpoint?.sequence ?? 0) + 1)
  const latest = published.at(-1)
  if (latest && latest.sequence > (head?.sequence ?? 0))
    throw new CliError(`the log had ${latest.sequence} events at ${latest.at}, and has ${head?.sequence ?? 0} now`)
  if (checkpoint) {
    requireSame(published, checkpoint)
    requireOld(published, checkpoint)
  }
  let [checked, erased, matched, state] = [0, 0, 0, first]
  for (let next: number | null = start; next !== null;) {
    // Each published head ends a range, because the answer names the hash of the last place alone.
    const place: number = next
    const end = published.find(({ sequence }) => sequence >= place)?.sequence ?? Infinity
    state = await readPlaces(settings, place, Math.min(placesMax, end - place + 1))
    if (state.broken) throw new CliError(`event ${state.broken.sequence} is not in order: ${state.broken.reason}`)
    checked += state.checked
    erased += state.erased
    if (state.last && requireSame(published, state.last)) matched += 1
    next = state.next === null ? null : Number(state.next)
    if (next !== null && next <= place) throw new CliError('the server does not continue its list')
  }
  return { checked, erased, matched, state }
}

function readPlaces(settings: Settings, from: number, count: number): Promise<AuditChainState> {
  const querystring = { from: String(from), limit: String(count) }
  return call(settings, 'GET /api/admin/audit/verify', { querystring })
}

/** Throws unless a place has the hash that was published. Returns whether one was. */
function requireSame(published: AuditHead[], { sequence, hash }: AuditChainPlace): boolean {
  const found = published.find((each) => each.sequence === sequence)
  if (found && found.head !== hash)
    throw new CliError(`event ${sequence} is not the one that the transparency log contains since ${found.at}`)
  return found !== undefined
}

/** Throws if events were deleted that are younger than any retention: those after a head are younger than it. */
function requireOld(published: AuditHead[], { sequence: deleted }: AuditChainPlace): void {
  const now = Date.now()
  // A process whose clock was ahead has published one of the future.
  const before = published.findLast(({ sequence, at }) => sequence < deleted && Date.parse(at) <= now)
  if (before && Date.parse(before.at) > now - keptMilliseconds)
    throw new CliError(
      `events up to ${deleted} were deleted, but those after ${before.sequence} are younger than 30 days`,
    )
}

/** Throws unless the log contains a head that was known before. */
async function requireKnown(settings: Settings, known: AuditChainPlace): Promise<void> {
  const { last, checkpoint } = await readPlaces(settings, known.sequence, 1)
  const found = [last, checkpoint].find((place) => place?.sequence === known.sequence)
  if (!found && checkpoint && known.sequence < checkpoint.sequence)
    throw new CliError(`event ${known.sequence} was deleted with all before ${checkpoint.sequence + 1}`)
  if (found?.hash !== known.hash) throw new CliError(`the log does not contain the head ${writeHead(known)}`)
}

function writeHead({ sequence, hash }: AuditChainPlace): string {
  return `${sequence}:${hash}`
}

function parsePlace(text: string): number {
  if (!/^[1-9][0-9]{0,14}$/.test(text)) throw new InvalidArgumentError('Give a number from 1.')
  return Number(text)
}

function parseHead(text: string): AuditChainPlace {
  const [, sequence = '', hash = ''] = /^([1-9][0-9]{0,14}):([A-Za-z0-9+/]{43}=)$/.exec(text) ?? []
  if (hash === '') throw new InvalidArgumentError('Give a head as it was printed: 41207:mXq0…=')
  return { sequence: Number(sequence), hash }
}
