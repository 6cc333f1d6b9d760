import { createReadStream } from 'node:fs'
import { isObject } from '@countersign/protocol/formats/json'
import type { TrailError, TrailHead } from '@countersign/protocol/signing/acts/trail-verification'
import { type Command, InvalidArgumentError } from 'commander'
import { settingsOf } from './settings.ts'
import { CliError, printJson } from './terminal.ts'

type Options = { head?: TrailHead }

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

export function addVerifyTrail(program: Command): void {
  program
    .command('verify-trail')
    .description('verify an exported trail of an organization, and print its head')
    .argument('<trail>', 'file of the export, from its first entry on')
    .option('--head <head>', 'head that an earlier verification printed', parseHead)
    .action(async (file: string, { head: remembered }: Options, command: Command) => {
      const settings = settingsOf(command)
      const { organizationId, sequence, head, withoutDetails } = await verifyTrail(file, remembered)
      const text = `${sequence}:${head}`
      if (settings.json) return printJson({ organizationId, entries: sequence, withoutDetails, head: text })
      console.log(`The ${sequence} entries of the organization ${organizationId} are one unbroken trail.`)
      if (withoutDetails > 0) console.log(`  ${withoutDetails} of them have no details: their events were deleted`)
      console.log(`  head  ${text}`)
      if (!remembered) console.log(advice)
    })
}

const advice =
  'Keep the head, and pass it with --head next time: otherwise nothing shows that the trail was cut or rewritten.'

/** Parses `<number of entries>:<digest>`. */
function parseHead(text: string): TrailHead {
  const [, sequence, head] = /^([1-9]\d{0,8}):([A-Za-z0-9+/]{43}=)$/.exec(text) ?? []
  if (sequence === undefined || head === undefined) throw new InvalidArgumentError('Pass it as it was printed.')
  return { sequence: Number(sequence), head }
}

/** Verifies the entries of a file of any size. Throws a `CliError` for the first one that is not valid. */
async function verifyTrail(file: string, remembered: TrailHead | undefined) {
  const { createTrailVerifier } = await import('@countersign/protocol/signing/acts/trail-verification')
  const { nodeSuite } = await import('@countersign/protocol/signing/receipt-verification')
  let verifier: ReturnType<typeof createTrailVerifier> | undefined
  let organizationId = ''
  let [line, withoutDetails] = [0, 0]
  for await (const text of linesOf(file)) {
    line += 1
    const record = readRecord(text)
    if (!verifier) {
      organizationId = organizationOf(record)
      const expected = { organizationId, issuer: '', publicKeyOf: () => undefined, remembered }
      verifier = createTrailVerifier(nodeSuite, expected)
    }
    const verified = verifier.add(record)
    if ('flaw' in verified) throw new CliError(`${file} is not valid: line ${line}: ${words[verified.flaw]}`)
    if (isObject(record) && record['details'] === undefined) withoutDetails += 1
  }
  const end = verifier?.finish()
  if (!end) throw new CliError(`${file} has no entries`)
  if ('flaw' in end) throw new CliError(`${file} is not valid: ${words[end.flaw]}`)
  return { organizationId, withoutDetails, ...end }
}

/** Lines end with a line feed alone: `readline` also ends them at U+2028, which JSON does not escape. */
async function* linesOf(file: string): AsyncGenerator<string> {
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
