/**
 * File with the key of a log that an app trusts: `countersign trust init` writes it, the SDK reads it. It contains
 * nothing secret, but a person who changes it decides which log the app trusts.
 */
import { isObject } from '../json.ts'
import { parseVerifierKey, writeVerifierKey, type NoteKey } from './checkpoint.ts'
import type { Sha256 } from './merkle-tree.ts'

export type TrustedLog = {
  version: 1
  /** Name of the log. */
  origin: string
  /** Key of the log in the format of C2SP log tools: `name+id+type and key`. */
  verifierKey: string
}

export function toTrustedLog(sha256: Sha256, key: NoteKey): TrustedLog {
  return { version: 1, origin: key.name, verifierKey: writeVerifierKey(sha256, key) }
}

/** Returns the key of a log as the file names it; undefined for any other value. */
export function parseTrustedLog(sha256: Sha256, value: unknown): NoteKey | undefined {
  if (!isObject(value) || value['version'] !== 1 || typeof value['verifierKey'] !== 'string') return undefined
  const key = parseVerifierKey(sha256, value['verifierKey'])
  return key?.name === value['origin'] ? key : undefined
}
