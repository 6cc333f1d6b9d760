import { hkdfSync } from 'node:crypto'
import { keyFingerprintInfo } from '@countersign/protocol/formats/encryption/key-grant'

const fingerprintBytes = 32

/** What tells a key of an organization apart from others, and says nothing of it. */
export function fingerprintOf(key: Uint8Array): string {
  return Buffer.from(hkdfSync('sha256', key, '', keyFingerprintInfo, fingerprintBytes)).toString('base64url')
}
