import { readFileSync } from 'node:fs'
import { parseVerifierKey, writeVerifierKey, type NoteKey } from '@countersign/protocol/formats/signing/checkpoint'
import { fromCanonicalBase64Url } from '@countersign/protocol/formats/base64'
import { readEvidence, type Evidence } from '@countersign/protocol/formats/self-record/evidence'
import { listFindings, type Finding } from '@countersign/protocol/formats/self-record/findings'
import type { Command } from 'commander'
import { settingsOf } from '../settings.ts'
import { CliError, Unproved, fieldsOf, listOf, printJson, stripControlCharacters, textOf } from '../terminal.ts'

export function addVerifyEvidence(program: Command): void {
  program
    .command('verify-evidence')
    .description('verify the evidence of a key alarm offline, and print what it proves')
    .argument('<evidence>', 'the file evidence.json of the alarm')
    .option('--jwks <file>', "file with the log's public keys (JWKS), as you stored it; without it, nothing is proved")
    .action(async (file: string, { jwks }: { jwks?: string }, command: Command) => {
      const { nodeSuite } = await import('@countersign/protocol/signing/receipt-verification')
      const evidence = readEvidence(parse(file))
      if (!evidence) throw new CliError(`${file} is not evidence of a key alarm`)
      const key = jwks === undefined ? keyInFile(nodeSuite, evidence) : readLogKey(parse(jwks), jwks)
      const findings = key ? listFindings(nodeSuite, evidence, key) : []
      if (settingsOf(command).json) printJson({ code: evidence.code, identityId: evidence.identityId, findings })
      else for (const line of linesOf(evidence, findings)) console.log(stripControlCharacters(line))
      if (key && jwks !== undefined && writeVerifierKey(nodeSuite.sha256, key) !== evidence.logKey)
        throw new CliError(`${file} names another log key than ${jwks}`)
      if (findings.length === 0) throw new CliError(`${file} contains nothing that the log key has signed`)
      if (jwks === undefined) throw new Unproved(`The log key is from ${file}, which proves nothing. ${remedy}`)
      if (!findings.some(({ isProved }) => isProved))
        throw new Unproved(`${file} is genuine, but proves no contradiction by itself`)
    })
}

const remedy = 'Pass the log keys that you stored (--jwks)'

function linesOf({ code, at, identityId }: Evidence, findings: Finding[]): string[] {
  const whose = identityId === null ? '' : ` for the identity ${identityId}`
  return [`A browser raised the alarm ${code}${whose} at ${at}.`, ...findings.map(lineOf)]
}

function lineOf(finding: Finding): string {
  const mark = finding.isProved ? 'proved   ' : 'not proof'
  return `  ${mark} ${sentenceOf(finding)}`
}

function sentenceOf(finding: Finding): string {
  switch (finding.kind) {
    case 'fork':
      return `the log has signed two trees of ${finding.size} entries: it shows different logs under one name`
    case 'unconnected_heads':
      return `two signed heads, of ${finding.from} and ${finding.to} entries, and no proof that one continues the other`
    case 'unsigned_head':
      return 'a head that the key of the log has not signed'
    case 'invalid_entry':
      return `entry ${finding.index} of the log, ${finding.event.at}, breaks a rule of key histories: ${finding.error}`
    case 'key_entry':
      return sentenceOfKey(finding)
    case 'promise':
      return `the log promised on ${finding.issued} to contain a key by ${finding.due}; keep this as evidence`
  }
}

function sentenceOfKey({ index, event, isForeign, missing }: Extract<Finding, { kind: 'key_entry' }>): string {
  const { at, keyVersion, publicKey } = event
  const proofs = missing.length === 0 ? 'has its proofs' : `lacks ${missing.join(' and ')}`
  const whose = isForeign ? ', whose private half the browser of its owner could not open' : ''
  return `entry ${index} of the log, ${at}: key ${publicKey} (version ${keyVersion})${whose}; it ${proofs}`
}

type Suite = Parameters<typeof listFindings>[0]

function keyInFile({ sha256 }: Suite, { logKey }: Evidence): NoteKey | undefined {
  return logKey === null ? undefined : parseVerifierKey(sha256, logKey)
}

/** Reads the key of a log from the answer of `/api/transparency/jwks`. */
function readLogKey(value: unknown, file: string): NoteKey {
  const { keys, origin } = fieldsOf(value)
  const publicKey = fromCanonicalBase64Url(textOf(fieldsOf(listOf(keys)[0])['x']))
  const name = textOf(origin)
  if (publicKey?.length !== 32 || name === '') throw new CliError(`${file} contains no log key with its origin`)
  return { name, publicKey }
}

function parse(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new CliError(`${file} cannot be read as JSON`, { cause })
  }
}
