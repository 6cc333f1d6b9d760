import { createReadStream } from 'node:fs'
import { isObject } from '@countersign/protocol/formats/json'
import type { MissingKeyProof } from '@countersign/protocol/formats/signing/key-history'
import type { TrailError, TrailHead } from '@countersign/protocol/signing/acts/trail-verification'
import type { CouncilReplayError, ReplayedCouncil } from '@countersign/protocol/signing/acts/council-replay'
import { isUuid } from '@countersign/protocol/values'
import { type Command, InvalidArgumentError } from 'commander'
import { settingsOf } from '../settings.ts'
import { CliError, printJson, stripControlCharacters } from '../terminal.ts'
import { readTrustFile } from '../trust-file.ts'
import { originOf } from '../verify.ts'
import { createSignerKeys, type SignerKeys } from './signer-keys.ts'

type Options = { head?: TrailHead; trust?: string; issuer?: string }

const words: Record<TrailError, string> = {
  malformed_entry: 'it is not an entry of a trail',
  other_organization: 'it belongs to another organization',
  sequence_gap: 'entries are missing before it, or it is listed twice',
  broken_trail: 'it does not continue the entry before',
  trail_rewritten: 'the trail was rewritten since the head that you passed',
  trail_cut: 'the trail ends before the head that you passed',
  other_details: 'its details are not those that it was written with',
  other_acts: 'a signature is missing, or does not belong to it',
  malformed_act: 'it has a signature of something that is not an act',
  other_act: 'it has a signature of another act',
  other_issuer: 'it has a signature of an act at another service',
  unknown_key: 'it has a signature of an unknown key',
  invalid_act: 'it has an invalid signature',
  act_replayed: 'its act was done before',
  act_out_of_order: 'its act does not follow the act before',
  other_trail: 'its signer saw another trail',
  executed_other: 'its signer signed other details',
  other_proposal: 'its approvals are of another proposal',
  approved_twice: 'the same identity approved it twice',
  out_of_time: 'it was signed too early or too late',
}

const decisionWords: Record<CouncilReplayError, string> = {
  insufficient_scope: 'its signer was not in the council',
  approvals_missing: 'the council had not approved it',
  council_exists: 'there was a council already',
  no_council: 'there was no council',
  too_few_signatories: 'it needs more approvals than the council can give',
  not_accepted: 'not all members of the council had accepted it',
  unknown_signatory: 'it concerns a person who was not in the council',
  reset_pending: 'a reset had been requested already',
  no_reset: 'no reset had been requested, or it was vetoed',
  too_early: 'the council was reset too early',
  reset_expired: 'the council was reset too late',
  unsigned_decision: 'it changes the council, and nobody has signed it',
  malformed_decision: 'its details do not say how it changes the council',
}

export function addVerifyTrail(program: Command): void {
  program
    .command('verify-trail')
    .description('verify an exported trail of an organization, and print its head')
    .argument('<trail>', 'file of the export, from its first entry on')
    .option('--head <head>', 'head that an earlier verification printed', parseHead)
    .option('--trust <file>', 'file of `countersign trust init`: verify signatures with the keys in this log')
    .option('--issuer <url>', 'with --trust: the issuer that signed acts must name, such as https://id.example')
    .action(async (file: string, { head: remembered, trust, issuer: url }: Options, command: Command) => {
      if ((trust === undefined) !== (url === undefined)) command.error('error: pass --trust and --issuer together')
      const settings = settingsOf(command)
      const signers =
        trust !== undefined && url !== undefined
          ? { keys: createSignerKeys(settings, readTrustFile(trust)), issuer: originOf(url) }
          : undefined
      const verified = await verifyTrail(file, remembered, signers)
      if (settings.json) return printJson(toJson(verified))
      for (const line of linesOf(verified)) console.log(stripControlCharacters(line))
      if (!remembered) console.log(advice)
    })
}

type Verified = TrailHead & {
  organizationId: string
  withoutDetails: number
  /** Entries with signatures, and the identities that signed them. */
  signed: number
  signedBy: string[]
  /** Absent if signatures were not verified. */
  unproved?: ReturnType<SignerKeys['listUnproved']>
  /** Council after the last entry, if signatures were verified; null if the details of a decision were erased. */
  council?: ReplayedCouncil | null
}

function toJson({ organizationId, sequence, head, withoutDetails, signed, signedBy, unproved, council }: Verified) {
  const signatures = { signed, signedBy, areSignaturesVerified: unproved !== undefined }
  const text = `${sequence}:${head}`
  const known = { ...(unproved && { unproved }), ...(council !== undefined && { council }) }
  return { organizationId, entries: sequence, withoutDetails, ...signatures, ...known, head: text }
}

function linesOf({
  organizationId,
  sequence,
  head,
  withoutDetails,
  signed,
  signedBy,
  unproved,
  council,
}: Verified): string[] {
  const by = `${signed} of them are signed, by ${signedBy.length} identities`
  return [
    `The ${sequence} entries of the organization ${organizationId} are one unbroken trail.`,
    ...(withoutDetails > 0 ? [`  ${withoutDetails} of them have no details: their events were deleted`] : []),
    ...(signed > 0 && unproved ? [`  ${by}: all signatures are valid`] : []),
    ...(signed > 0 && !unproved ? [`  ${by}. Their signatures were NOT verified: pass --trust and --issuer`] : []),
    ...(unproved ?? []).map(
      ({ identityId, keyVersion, missing }) =>
        `  note  key ${keyVersion} of ${identityId}: ${missing.map((proof) => notes[proof]).join('; ')}`,
    ),
    ...linesOfCouncil(council),
    `  ${sequence - signed} of them are the word of the service alone`,
    `  head  ${sequence}:${head}`,
  ]
}

function linesOfCouncil(council: Verified['council']): string[] {
  if (council === undefined) return []
  if (council === null) return ['  its council is unknown, because the details of a decision were erased']
  const { approvalsNeeded, signatories, resetAt } = council
  const inForce = signatories.filter(({ isSuspended }) => !isSuspended)
  return [
    approvalsNeeded === 0
      ? '  it has no council'
      : `  its council of ${inForce.length} needs ${approvalsNeeded} approvals, and all its decisions had theirs:`,
    ...inForce.map(({ signatoryId }) => `    ${signatoryId}`),
    ...(resetAt ? [`  an owner ended an earlier council without its consent, ${resetAt.toISOString()}`] : []),
  ]
}

const notes: Record<MissingKeyProof, string> = {
  unlinked_key: 'it or one before it was replaced without a signature of the key before',
  no_possession: 'its holder has not signed its log entry',
}

const advice =
  'Keep the head, and pass it with --head next time: otherwise nothing shows that the trail was cut or rewritten.'

/** Parses `<number of entries>:<digest>`. */
function parseHead(text: string): TrailHead {
  const [, sequence, head] = /^([1-9]\d{0,8}):([A-Za-z0-9+/]{43}=)$/.exec(text) ?? []
  if (sequence === undefined || head === undefined) throw new InvalidArgumentError('Pass it as it was printed.')
  return { sequence: Number(sequence), head }
}

type Signers = { keys: SignerKeys; issuer: string }

/** Verifies the entries of a file of any size. Throws a `CliError` for the first one that is not valid. */
async function verifyTrail(
  file: string,
  remembered: TrailHead | undefined,
  signers: Signers | undefined,
): Promise<Verified> {
  const { createTrailVerifier } = await import('@countersign/protocol/signing/acts/trail-verification')
  const { createCouncilReplay } = await import('@countersign/protocol/signing/acts/council-replay')
  const { nodeSuite } = await import('@countersign/protocol/signing/receipt-verification')
  let verifier: ReturnType<typeof createTrailVerifier> | undefined
  let organizationId = ''
  let [line, withoutDetails, signed] = [0, 0, 0]
  const signedBy = new Set<string>()
  const replay = signers && createCouncilReplay()
  for await (const text of readLines(file)) {
    line += 1
    const record = readRecord(text)
    if (!verifier) {
      organizationId = organizationOf(record)
      const known = signers && { issuer: signers.issuer, publicKeyOf: signers.keys.publicKeyOf }
      verifier = createTrailVerifier(nodeSuite, { organizationId, remembered, ...known })
    }
    for (const identityId of signers ? listSigners(record) : []) await signers?.keys.fetch(identityId)
    const verified = verifier.add(record)
    if ('flaw' in verified) throw new CliError(`${file} is not valid: line ${line}: ${words[verified.flaw]}`)
    if (isObject(record) && record['details'] === undefined) withoutDetails += 1
    const decision = replay?.add(verified, isObject(record) ? record['details'] : undefined)
    if (decision !== undefined) throw new CliError(`${file} is not valid: line ${line}: ${decisionWords[decision]}`)
    if (verified.acts.length > 0) signed += 1
    for (const { identityId } of verified.acts) signedBy.add(identityId)
  }
  const end = verifier?.finish()
  if (!end) throw new CliError(`${file} has no entries`)
  if ('flaw' in end) throw new CliError(`${file} is not valid: ${words[end.flaw]}`)
  const known = signers && { unproved: signers.keys.listUnproved(), council: replay?.council() ?? null }
  return { organizationId, withoutDetails, signed, signedBy: [...signedBy], ...known, ...end }
}

/** Lists the identities whose keys a record needs. What cannot be read is left to the verifier, which refuses it. */
function listSigners(record: unknown): string[] {
  const acts = isObject(record) && Array.isArray(record['acts']) ? record['acts'] : []
  return acts.flatMap((act: unknown) => {
    const statement = isObject(act) && typeof act['statement'] === 'string' ? parse(act['statement']) : undefined
    const identityId = isObject(statement) ? statement['identityId'] : undefined
    return typeof identityId === 'string' && isUuid(identityId) ? [identityId] : []
  })
}

/** Lines end with a line feed alone: `readline` also ends them at U+2028, which JSON does not escape. */
async function* readLines(file: string): AsyncGenerator<string> {
  let rest = ''
  try {
    for await (const piece of createReadStream(file, 'utf8')) {
      const lines = `${rest}${piece}`.split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
  } catch (cause) {
    throw new CliError(`${file} cannot be read`, { cause })
  }
  if (rest !== '') yield rest
}

/** Parses a record in the one spelling of the export: a member that is there twice would mean two things. */
function readRecord(line: string): unknown {
  const record = parse(line)
  return JSON.stringify(record) === line.trimEnd() ? record : undefined
}

/** Returns the organization that the first entry names. The verifier requires that all others name it too. */
function organizationOf(record: unknown): string {
  const entry = isObject(record) && typeof record['entry'] === 'string' ? parse(record['entry']) : undefined
  const id = isObject(entry) ? entry['organizationId'] : undefined
  return typeof id === 'string' ? id : ''
}

/** Parses JSON; returns undefined for other text, which the verifier rejects. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
