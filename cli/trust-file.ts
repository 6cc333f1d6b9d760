import { readFileSync } from 'node:fs'
import { toBase64Url } from '@countersign/protocol/formats/base64'
import { type NoteKey, parseTrustedLog } from '@countersign/protocol/formats/signing/checkpoint'
import { nodeSuite, type LogKeySet } from '@countersign/protocol/signing/receipt-verification'
import { CliError } from './terminal.ts'

/**
 * Reads the key of a log from the file that `countersign trust init` writes. Throws `CliError` for any other file.
 */
export function readTrustFile(file: string): NoteKey {
  const key = parseTrustedLog(nodeSuite.sha256, read(file))
  if (!key) throw new CliError(`${file} is not a file of \`countersign trust init\``)
  return key
}

/** Returns the key of a log as the service publishes it (JWKS), with its thumbprint (RFC 7638) as key ID. */
export function toLogKeys({ name, publicKey }: NoteKey): LogKeySet & { keys: [{ kid: string }] } {
  const members = { crv: 'Ed25519', kty: 'OKP', x: toBase64Url(publicKey) }
  const kid = toBase64Url(nodeSuite.sha256(new TextEncoder().encode(JSON.stringify(members))))
  return { keys: [{ ...members, kid }], origin: name }
}

function read(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new CliError(`${file} cannot be read as JSON`, { cause })
  }
}
