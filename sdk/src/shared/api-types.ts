// Written by `node tools/sdk-types.ts` from the OpenAPI document. Do not edit.

export interface Operations {
  /** Ask an identity, or an organization, to sign a text */
  'POST /api/signing/request': {
    body: {
      clientId: string
      clientSecret: string
      identityId?: string
      organizationId?: string
      /** What the person reads and signs, as its UTF-8 bytes */
      payload: string
      /** Any JSON, at most 16 KiB and 8 levels deep; the person does not see it */
      metadata?: Record<string, unknown>
      /** 300 where it is absent */
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
        /** Whether a member has signed; it counts with the approvals alone */
        isSigned: boolean
        approvals: number
        approvalsNeeded: number
      }
    }
  }
  /** What became of a request; with wait, once it was answered */
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
      /** ISO 8601, UTC */
      resolvedAt?: string
      organization?: {
        id: string
        name: string
        /** Whether a member has signed; it counts with the approvals alone */
        isSigned: boolean
        approvals: number
        approvalsNeeded: number
      }
      /** Of an organization that has signed */
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
      })[]
    }
  }
  /** The public key of an identity in an app, by handle or by the key */
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
