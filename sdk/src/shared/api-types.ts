// Written by `node tools/sdk-types.ts` from the OpenAPI document. Do not edit.

export interface Operations {
  /** Create a signing request */
  'POST /api/signing/request': {
    body: {
      clientId: string
      clientSecret: string
      identityId?: string
      organizationId?: string
      /** Text that the user reads and signs, as its UTF-8 bytes */
      payload: string
      /** Any JSON, at most 16 KiB and 8 levels deep; not shown to the user */
      metadata?: Record<string, unknown>
      /** 300 where it is absent. A fraction of a second is dropped. */
      expiresInSeconds?: number
    }
    answer: {
      requestId: string
      /** ISO 8601, UTC */
      expiresAt: string
      /** Ed25519 public key, base64 */
      publicKey?: string
      organization?: {
        id: string
        name: string
        /** Whether a member has signed; counts only together with the approvals */
        isSigned: boolean
        approvals: number
        approvalsNeeded: number
      }
    }
  }
  /** Get the status of a signing request (long-poll with wait) */
  'GET /api/signing/request/{requestId}/status': {
    path: {
      requestId: string
    }
    query: {
      clientId: string
      /** Seconds to wait for an answer, at most 30 */
      wait?: string
    }
    answer: {
      requestId: string
      status: 'pending' | 'signed' | 'denied' | 'expired'
      /** Ed25519 public key, base64 */
      publicKey?: string
      /** ISO 8601, UTC */
      expiresAt: string
      /** Ed25519 signature, base64 */
      signature?: string
      /** Signature of the key over request, app, role, text and time, and over the use of a passkey */
      approval?: {
        /** What the person approved: canonical JSON (RFC 8785) */
        statement: string
        /** Ed25519 signature, base64 */
        signature: string
        /** SHA-256 of the passkey's assertion, base64 */
        presence?: string
      }
      /** ISO 8601, UTC */
      resolvedAt?: string
      organization?: {
        id: string
        name: string
        /** Whether a member has signed; counts only together with the approvals */
        isSigned: boolean
        approvals: number
        approvalsNeeded: number
      }
      /** Of a request that an organization has signed */
      signatures?: ({
        identityId: string
        memberId: string
        role: 'sign' | 'approve'
        /** Ed25519 public key, base64 */
        publicKey: string
        /** Ed25519 signature, base64 */
        signature: string
        /** ISO 8601, UTC */
        at: string
        /** Signature of the key over request, app, role, text and time, and over the use of a passkey */
        approval?: {
          /** What the person approved: canonical JSON (RFC 8785) */
          statement: string
          /** Ed25519 signature, base64 */
          signature: string
          /** SHA-256 of the passkey's assertion, base64 */
          presence?: string
        }
      })[]
    }
  }
  /** Get the public key of an identity in an app, by handle or by key */
  'GET /api/encryption/app-lookup': {
    query: {
      client_id?: string
      handle?: string
      /** Base64 of the SPKI */
      public_key?: string
    }
    answer: {
      clientId: string
      identityId: string
      handle: string
      displayName: string
      publicKey: string
      encryptionMode: 'asymmetric'
    }
  }
}
