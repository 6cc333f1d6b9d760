import { readFileSync } from 'node:fs'
import type {
  LogKeySet,
  ReceiptRequirement,
  ReceiptError,
  UnprovedProperty,
  VerifiedOrganizationReceipt,
  VerifiedReceipt,
} from '@countersign/protocol/signing/receipt-verification'
import type { Approval } from '@countersign/protocol/signing/receipt-verification'
import { type Command, Option } from 'commander'
import { CliError, Unproved, escapeHidden, fieldsOf, printJson } from './terminal.ts'
import { fetchLogKeys, readLogKeys } from './log/log-keys.ts'
import { type Settings, settingsOf } from './settings.ts'
import { readTrustFile, toLogKeys } from './trust-file.ts'

type Options = {
  payload?: string
  payloadFile?: string
  jwks?: string
  trust?: string
  require: 'text' | 'approval'
  issuer?: string
}

const words: Record<ReceiptError, string> = {
  malformed_receipt: 'not a receipt',
  unknown_service_key: 'the receipt is signed with an unknown log key',
  invalid_service_signature: "the service's signature on the receipt is invalid",
  payload_mismatch: 'the receipt is for another payload',
  invalid_signature: "the user's signature does not verify for this payload",
  insufficient_signatures: 'the receipt has fewer member signatures than required',
  key_not_in_log: 'the transparency log does not contain the signing key named in the receipt',
  invalid_key_history: 'the log entries of the signing key contradict each other',
  key_not_in_force: 'the signing key was not in force at the time of the signature',
  invalid_approval: 'its approval is not for this request, text, role, key or issuer',
  no_approval: 'it proves that the text was signed, but contains no approval of the request',
}

/** Properties that a valid receipt does not prove. */
const notes: Record<UnprovedProperty, string> = {
  unlinked_key: 'a key was replaced without a signature of the key before it',
  no_possession: 'the holder of the key has not signed its log entry',
  no_approval: 'the text was signed without an approval, so nothing proves for which request and app',
}

export function addVerify(program: Command): void {
  program
    .command('verify')
    .description('verify a receipt, and print the signed text, its signer, the time and the key')
    .argument('<receipt>', 'receipt file, or the JSON that the SDK stores: {receipt, payload}')
    .option('--payload <text>', 'the signed text')
    .addOption(new Option('--payload-file <file>', 'file with the signed text, byte for byte').conflicts('payload'))
    .option('--jwks <file>', "file with the log's public keys (JWKS); default: fetch them from the server")
    .addOption(new Option('--trust <file>', 'trust file with the key of the log').conflicts('jwks'))
    .addOption(
      new Option(
        '--require <what>',
        'what to prove: the text alone, or also its approval, with request, app and passkey',
      )
        .choices(['text', 'approval'])
        .default('text'),
    )
    .option('--issuer <url>', 'the issuer that approvals must name, such as https://id.example')
    .action(async (file: string, options: Options, command: Command) => {
      const { payload, payloadFile, require, issuer: url } = options
      if (require === 'approval' && url === undefined)
        command.error('error: pass the issuer that approvals must name: --issuer')
      const issuer = url === undefined ? undefined : originOf(url)
      const settings = settingsOf(command)
      const kept = readKept(file, read(file))
      const text = payloadFile === undefined ? (payload ?? kept.payload) : read(payloadFile)
      if (text === undefined) command.error('error: pass the signed text: --payload or --payload-file')
      const trusted = await trustedKeys(settings, options, kept)
      const reading = await verify(kept.receipt, {
        ...{ payload: text, require, issuer },
        keySet: trusted ?? kept.logKeys ?? { keys: [] },
      })
      if ('flaw' in reading) throw new CliError(`${file} is not valid: ${words[reading.flaw]}`)
      if (!trusted) throw new Unproved(`${file} was verified only with the keys in it, which prove nothing. ${remedy}`)
      if (settings.json) return printJson({ ...reading.receipt, payload: text, unproved: reading.unproved })
      for (const line of await describe(reading, text)) console.log(escapeHidden(line))
    })
}

/** Describes a receipt in lines: the signer, the text, where each of its lines begins with a bar, and all else. */
async function describe(reading: VerifiedReceipt | VerifiedOrganizationReceipt, text: string): Promise<string[]> {
  const { parseApprovalStatement } = await import('@countersign/protocol/signing/receipt-verification')
  const linesOfApproval = (approval: Approval | undefined) => {
    const statement = approval && parseApprovalStatement(approval.statement)
    if (!statement) return []
    const { app, role, issuer } = statement
    const passkey = approval.presence === undefined ? 'without a passkey' : 'with a passkey'
    return [`for the app ${[app.name, ...app.origins].join(', ')}, role ${role}, ${passkey}, at ${issuer}`]
  }
  const [first = '', ...rest] =
    'keys' in reading ? linesOfOrganization(reading, linesOfApproval) : linesOfUser(reading, linesOfApproval)
  return [first, ...text.split('\n').map((line) => `  | ${line}`), ...rest]
}

type ApprovalLines = (approval: Approval | undefined) => string[]

/** Returns the origin of an issuer. Throws `CliError` for another text. */
export function originOf(url: string): string {
  const parsed = URL.parse(url)
  if (!parsed || !/^https?:$/.test(parsed.protocol)) throw new CliError(`${url} is not the URL of an issuer`)
  return parsed.origin
}

const remedy = 'Pass the log keys that you stored (--trust, --jwks), or the server that has them (--base-url)'

/** Returns the log keys that the receipt is verified with; undefined if there are only those in its file. */
async function trustedKeys(settings: Settings, { jwks, trust }: Options, kept: Kept): Promise<LogKeySet | undefined> {
  if (trust !== undefined) return toLogKeys(readTrustFile(trust))
  return jwks === undefined ? fetchKeys(settings, kept) : readLogKeys(parse(read(jwks), jwks))
}

/**
 * Fetches the log keys of the server. Returns none if it does not respond and the file contains keys, which prove
 * nothing.
 */
async function fetchKeys(settings: Settings, { logKeys }: Kept): Promise<LogKeySet | undefined> {
  try {
    return await fetchLogKeys(settings)
  } catch (error) {
    if (!(error instanceof CliError) || !logKeys) throw error
    return undefined
  }
}

type Kept = { receipt: string; payload?: string; logKeys?: LogKeySet }

/** Parses a file: a receipt, or JSON with its text and, from earlier versions, the log keys. */
function readKept(file: string, content: string): Kept {
  if (!content.trimStart().startsWith('{')) return { receipt: content }
  const { receipt, payload, logKeys } = fieldsOf(parse(content, file))
  if (typeof receipt !== 'string')
    throw new CliError(`${file} is JSON without a receipt: the SDK stores receipt and payload`)
  return {
    receipt,
    ...(typeof payload === 'string' && { payload }),
    ...(logKeys !== undefined && { logKeys: readLogKeys(logKeys) }),
  }
}

/** Verifies the receipt of a user or an organization, by its version. */
async function verify(jws: string, given: ReceiptRequirement & { payload: string; keySet: LogKeySet }) {
  const { verifyOrganizationReceipt, verifyReceipt } =
    await import('@countersign/protocol/signing/receipt-verification')
  const reading = verifyReceipt(jws, given)
  const isOther = 'flaw' in reading && reading.flaw === 'malformed_receipt'
  return isOther ? verifyOrganizationReceipt(jws, given) : reading
}

function linesOfOrganization(
  { receipt, checkpoint, keys, unproved }: VerifiedOrganizationReceipt,
  linesOfApproval: ApprovalLines,
): string[] {
  const { organization, council, approvalsNeeded, clientId, requestId, createdAt, resolvedAt, signatures } = receipt
  const log = `the ${checkpoint.size} of ${checkpoint.origin}`
  return [
    `${organization.name} (${organization.id}) signed this text:`,
    `  created  ${createdAt}, by the app ${clientId} (request ${requestId})`,
    `  signed   ${resolvedAt}, with ${approvalsNeeded} approvals needed`,
    ...(council?.resetAt
      ? [`  note     an owner ended an earlier council without its consent, ${council.resetAt}`]
      : []),
    ...signatures.flatMap((signature, index) => [
      `  ${signature.role === 'sign' ? 'signed  ' : 'approved'} by ${whoseOf(signature)}, ${signature.at}`,
      ...(signature.admittedAt === undefined ? [] : [`    member of the council since ${signature.admittedAt}`]),
      ...linesOfApproval(signature.approval).map((line) => `    approved ${line}`),
      `    key    ${signature.publicKey} (version ${signature.keyVersion})`,
      `    logged ${keys[index]?.createdAt}, as leaf ${keys[index]?.index} of ${log}`,
    ]),
    ...unproved.map((property) => `  note     ${notes[property]}`),
  ]
}

function whoseOf({ handle, identityId }: { handle?: string; identityId: string }): string {
  return handle === undefined ? `the identity ${identityId}` : `${handle} (${identityId})`
}

function linesOfUser(
  { receipt, checkpoint, key, unproved }: VerifiedReceipt,
  linesOfApproval: ApprovalLines,
): string[] {
  const { handle, identityId, clientId, requestId, createdAt, resolvedAt, publicKey, keyVersion } = receipt
  const who = handle === undefined ? `The identity ${identityId}` : `${handle} (${identityId})`
  return [
    `${who} signed this text:`,
    `  created  ${createdAt}, by the app ${clientId} (request ${requestId})`,
    `  signed   ${resolvedAt}`,
    ...linesOfApproval(receipt.approval).map((line) => `  approved ${line}`),
    `  key      ${publicKey} (version ${keyVersion})`,
    `  logged   ${key.createdAt}, as leaf ${key.index} of the ${checkpoint.size} of ${checkpoint.origin}`,
    ...unproved.map((property) => `  note     ${notes[property]}`),
  ]
}

function parse(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new CliError(`${file} is not valid JSON`, { cause })
  }
}

function read(file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(file))
  } catch (cause) {
    throw new CliError(`${file} cannot be read as text`, { cause })
  }
}
