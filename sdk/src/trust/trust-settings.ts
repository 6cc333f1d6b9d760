/** Types of `trust`. They are part of the declarations of the package, so they import nothing of other packages. */
import type { Operations } from '../shared/api-types.ts'
import type { TrustStore } from './trust-store.ts'

/** The key of a log, as the file contains it that `countersign trust init` writes. */
export type TrustedLog = {
  version: number
  /** Name of the log. */
  origin: string
  /** Key of the log in the format of C2SP log tools. */
  verifierKey: string
}

/** What an app verifies itself, instead of believing the service. */
export type TrustSettings = {
  /**
   * The log whose key is trusted: the content of the file that `countersign trust init` writes. With `first-use` the
   * key that the service names at the first request is trusted from then on; this needs a durable store.
   */
  log: TrustedLog | 'first-use'
  /** Remembers what was seen of the log. */
  store: TrustStore
  /** Whether a signature needs an approval, which names the request and the app. Default: `required`. */
  approvals?: 'required' | 'any' | undefined
  /**
   * `any` accepts keys whose owners have not proved them: those made by clients of the interface that leave the proofs
   * out. A function accepts single keys that no key before links: those after a recovery. Default: `proved`.
   */
  keys?: 'proved' | 'any' | AcceptKey | undefined
}

/** Signing key that no key of the identity before it links. It may be another person's. */
export type UnlinkedKey = { identityId: string; publicKey: string; keyVersion: number }

/**
 * Decides whether the holder of a key is the person that the app knows. The app has to find this out in another way
 * than from the service. It is called each time that a key of the identity is proved.
 */
export type AcceptKey = (key: UnlinkedKey) => boolean | Promise<boolean>

/** Name of a log, and its Ed25519 key. */
export type LogKey = { name: string; publicKey: Uint8Array }

/** The log that an app trusts: the service that has it, its key if that is pinned, and what was seen of it. */
export type Log = { baseUrl: URL; pinnedKey: LogKey | undefined; store: TrustStore }

/** Validated settings. */
export type Trust = { log: Log; keys: 'proved' | 'any' | AcceptKey; approvals: 'required' | 'any' }

/** What a person approved with a passkey: canonical JSON of a statement, and its signature by the identity's key. */
export type Approval = NonNullable<Operations['GET /api/signing/request/{requestId}/status']['answer']['approval']>
