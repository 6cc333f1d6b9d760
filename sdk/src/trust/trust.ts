import { toBase64Url } from '@countersign/protocol/formats/base64'
import { parseTrustedLog } from '@countersign/protocol/formats/signing/checkpoint'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import { isRecord } from '../shared/exchange.ts'
import type { LogKey, Trust, TrustedLog, TrustSettings } from './trust-settings.ts'
import { withStoreErrors, type TrustStore } from './trust-store.ts'

const known = ['log', 'store', 'approvals', 'keys']

/** Validates the settings; throws a `TypeError` for what would verify less than it seems. */
export function parseTrust(settings: TrustSettings, baseUrl: URL): Trust {
  if (!isRecord(settings)) throw new TypeError('trust must be an object')
  const other = Object.keys(settings).find((name) => !known.includes(name))
  if (other !== undefined) throw new TypeError(`trust.${other} does not exist`)
  const { log, store, approvals = 'required', keys = 'proved' } = settings
  if (approvals !== 'required' && approvals !== 'any')
    throw new TypeError("trust.approvals must be 'required' or 'any'")
  if (keys !== 'proved' && keys !== 'any' && typeof keys !== 'function')
    throw new TypeError("trust.keys must be 'proved', 'any' or a function")
  if (!isStore(store)) throw new TypeError('trust.store must have isDurable, read and advance')
  if (log === 'first-use' && !store.isDurable)
    throw new TypeError("trust.log: 'first-use' needs a durable store: with another, each start is a first use")
  const pinnedKey = log === 'first-use' ? undefined : requireLogKey(log)
  return { log: { baseUrl, pinnedKey, store: withStoreErrors(store) }, approvals, keys }
}

/** Returns the key of a trusted log. Throws a `TypeError` for anything but the content of such a file. */
export function requireLogKey(log: TrustedLog): LogKey {
  const key = parseTrustedLog(nodeSuite.sha256, log)
  if (!key) throw new TypeError('trust.log must be the content of the file that `countersign trust init` writes')
  return key
}

/** Returns a log key as the service publishes it (JWKS), with its thumbprint (RFC 7638) as key ID. */
export function toLogKeys(key: LogKey): { keys: object[]; origin: string } {
  const members = { crv: 'Ed25519', kty: 'OKP', x: toBase64Url(key.publicKey) }
  const kid = toBase64Url(nodeSuite.sha256(new TextEncoder().encode(JSON.stringify(members))))
  return { keys: [{ ...members, kid, use: 'sig', alg: 'EdDSA' }], origin: key.name }
}

function isStore(store: unknown): store is TrustStore {
  if (!isRecord(store) || typeof store['isDurable'] !== 'boolean') return false
  return typeof store['read'] === 'function' && typeof store['advance'] === 'function'
}

let hasWarned = false

/** Warns once that the service is believed. */
export function warnWithoutTrust(): void {
  if (hasWarned) return
  hasWarned = true
  process.emitWarning(noTrust, { type: 'CountersignWarning', code: 'COUNTERSIGN_NO_TRUST' })
}

const noTrust =
  'createCountersign was called without trust, so the keys that the service names are believed. ' +
  'The next major version throws instead. Set trust: docs/guides/request-a-signature.md#verify-the-service'
