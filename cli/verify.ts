import { readFileSync } from 'node:fs'
import type {
  LogKeySet,
  ReceiptFlaw,
  VerifiedOrganizationReceipt,
  VerifiedReceipt,
} from '@countersign/protocol/signing/receipt-verification'
import { Option, type Command } from 'commander'
import { Failure, Unproved } from './failure.ts'
import { fieldsOf } from './json.ts'
import { fetchLogKeys, readLogKeys } from './log/log-keys.ts'
import { settingsOf, type Settings } from './settings.ts'
import { printJson, withoutControls } from './terminal.ts'

type Options = { payload?: string; payloadFile?: string; jwks?: string }

const words: Record<ReceiptFlaw, string> = {
  malformed_receipt: 'this is no receipt',
  unknown_service_key: 'it is signed by a key that is not among the given ones',
  invalid_service_signature: 'the service has not signed it, or it was altered since',
  other_payload: 'it is for another text',
  invalid_signature: 'the person has not signed this text',
  too_few_signatures: 'too few members of the organization have signed and approved it',
  key_not_in_log: "the log of signing keys does not tell the person's key as the receipt has it",
}

export function addVerify(program: Command): void {
  program
    .command('verify')
    .description('verify a receipt: who signed which text, when, and with which key')
    .argument('<receipt>', 'the file of the receipt, or the JSON that the SDK keeps: {receipt, payload}')
    .option('--payload <text>', 'the text that was signed')
    .addOption(new Option('--payload-file <file>', 'the same from a file, to the byte').conflicts('payload'))
    .option(
      '--jwks <file>',
      'the keys of the log as you have kept them; without it the server of --base-url is asked for them',
    )
    .action(async (file: string, { payload, payloadFile, jwks }: Options, command: Command) => {
      const settings = settingsOf(command)
      const kept = readKept(file, read(file))
      const text = payloadFile === undefined ? (payload ?? kept.payload) : read(payloadFile)
      if (text === undefined) command.error('error: name the text that was signed: --payload, or --payload-file')
      const trusted = jwks === undefined ? await askForKeys(settings, kept) : readLogKeys(parse(read(jwks), jwks))
      const reading = await verify(kept.receipt, { payload: text, keySet: trusted ?? kept.logKeys ?? { keys: [] } })
      if ('flaw' in reading) throw new Failure(`${file} proves nothing: ${words[reading.flaw]}`)
      if (!trusted) throw new Unproved(`${file} was verified by keys that came with it; they prove nothing. ${remedy}`)
      if (settings.json) return printJson(reading.receipt)
      const lines = 'events' in reading ? linesOfOrganization(reading) : linesOfPerson(reading)
      for (const line of lines) console.log(withoutControls(line))
    })
}

const remedy = 'Name the keys of the log as you have kept them (--jwks), or the server that has them (--base-url)'

/** The keys of the server. None where it does not answer and the file has keys of its own, which anybody can make. */
async function askForKeys(settings: Settings, { logKeys }: Kept): Promise<LogKeySet | undefined> {
  try {
    return await fetchLogKeys(settings)
  } catch (error) {
    if (!(error instanceof Failure) || !logKeys) throw error
    return undefined
  }
}

type Kept = { receipt: string; payload?: string; logKeys?: LogKeySet }

/** What a file holds: a receipt by itself, or JSON with its text too, and of earlier versions the keys of the log. */
function readKept(file: string, content: string): Kept {
  if (!content.trimStart().startsWith('{')) return { receipt: content }
  const { receipt, payload, logKeys } = fieldsOf(parse(content, file))
  if (typeof receipt !== 'string')
    throw new Failure(`${file} is JSON without a receipt: what the SDK keeps has receipt and payload`)
  return {
    receipt,
    ...(typeof payload === 'string' && { payload }),
    ...(logKeys !== undefined && { logKeys: readLogKeys(logKeys) }),
  }
}

/** A receipt of a person or of an organization: each says by its version which it is. */
async function verify(jws: string, given: { payload: string; keySet: LogKeySet }) {
  const { verifyOrganizationReceipt, verifyReceipt } =
    await import('@countersign/protocol/signing/receipt-verification')
  const reading = verifyReceipt(jws, given)
  const isOther = 'flaw' in reading && reading.flaw === 'malformed_receipt'
  return isOther ? verifyOrganizationReceipt(jws, given) : reading
}

function linesOfOrganization({ receipt, checkpoint, events }: VerifiedOrganizationReceipt): string[] {
  const { organization, approvalsNeeded, clientId, requestId, createdAt, resolvedAt, signatures } = receipt
  const log = `the ${checkpoint.size} of ${checkpoint.origin}`
  return [
    `${organization.name} (${organization.id}) signed this text.`,
    `  asked    ${createdAt}, by the app ${clientId} (request ${requestId})`,
    `  signed   ${resolvedAt}, with ${approvalsNeeded} approvals needed`,
    ...signatures.flatMap((signature, index) => [
      `  ${signature.role === 'sign' ? 'signed  ' : 'approved'} by ${whoseOf(signature)}, ${signature.at}`,
      `    key    ${signature.publicKey} (version ${signature.keyVersion})`,
      `    logged ${events[index]?.at}, as leaf ${signature.key.index} of ${log}`,
    ]),
  ]
}

function whoseOf({ handle, identityId }: { handle?: string; identityId: string }): string {
  return handle === undefined ? `the identity ${identityId}` : `${handle} (${identityId})`
}

function linesOfPerson({ receipt, checkpoint, event }: VerifiedReceipt): string[] {
  const { handle, identityId, clientId, requestId, createdAt, resolvedAt, publicKey, keyVersion, key } = receipt
  const who = handle === undefined ? `The identity ${identityId}` : `${handle} (${identityId})`
  return [
    `${who} signed this text.`,
    `  asked    ${createdAt}, by the app ${clientId} (request ${requestId})`,
    `  signed   ${resolvedAt}`,
    `  key      ${publicKey} (version ${keyVersion})`,
    `  logged   ${event.at}, as leaf ${key.index} of the ${checkpoint.size} of ${checkpoint.origin}`,
  ]
}

function parse(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Failure(`${file} is no JSON`, { cause })
  }
}

function read(file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(file))
  } catch (cause) {
    throw new Failure(`${file} cannot be read as text`, { cause })
  }
}
