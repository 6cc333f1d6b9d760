// Written by `node tools/sdk-types.ts` from the OpenAPI document. Do not edit.

/** Body of a webhook, whose signature is verified. */
export type WebhookEvent =
/** A user or an organization has signed */
| {
  type: 'signing.signed'
  /** ISO 8601, UTC */
  timestamp: string
  data: {
    requestId: string
    status: 'signed' | 'denied' | 'expired'
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
    identityId?: string
    organizationId?: string
  }
}
/** A user or an organization has denied to sign */
| {
  type: 'signing.denied'
  /** ISO 8601, UTC */
  timestamp: string
  data: {
    requestId: string
    status: 'signed' | 'denied' | 'expired'
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
    identityId?: string
    organizationId?: string
  }
}
/** A request expired, or the identity replaced its signing key */
| {
  type: 'signing.expired'
  /** ISO 8601, UTC */
  timestamp: string
  data: {
    requestId: string
    status: 'signed' | 'denied' | 'expired'
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
    identityId?: string
    organizationId?: string
  }
}
/** Claims of an identity have changed */
| {
  type: 'identity.updated'
  /** ISO 8601, UTC */
  timestamp: string
  data: {
    identityId: string
    /** Grows with the changes of the identity: a lower number is older */
    sequence: number
    by: 'self' | 'operator' | 'scim' | 'system'
    fields: ('name' | 'preferred_username' | 'picture' | 'email')[]
  }
}
/** An identity is suspended */
| {
  type: 'identity.suspended'
  /** ISO 8601, UTC */
  timestamp: string
  data: {
    identityId: string
    /** Grows with the changes of the identity: a lower number is older */
    sequence: number
    by: 'self' | 'operator' | 'scim' | 'system'
  }
}
/** An identity is no longer suspended */
| {
  type: 'identity.activated'
  /** ISO 8601, UTC */
  timestamp: string
  data: {
    identityId: string
    /** Grows with the changes of the identity: a lower number is older */
    sequence: number
    by: 'self' | 'operator' | 'scim' | 'system'
  }
}
/** An identity will be deleted */
| {
  type: 'identity.deletion_scheduled'
  /** ISO 8601, UTC */
  timestamp: string
  data: {
    identityId: string
    /** Grows with the changes of the identity: a lower number is older */
    sequence: number
    by: 'self' | 'operator' | 'scim' | 'system'
    /** ISO 8601, UTC */
    until: string
  }
}
/** An identity will not be deleted any more */
| {
  type: 'identity.restored'
  /** ISO 8601, UTC */
  timestamp: string
  data: {
    identityId: string
    /** Grows with the changes of the identity: a lower number is older */
    sequence: number
    by: 'self' | 'operator' | 'scim' | 'system'
  }
}
/** An identity was deleted */
| {
  type: 'identity.deleted'
  /** ISO 8601, UTC */
  timestamp: string
  data: {
    identityId: string
    /** Grows with the changes of the identity: a lower number is older */
    sequence: number
    by: 'self' | 'operator' | 'scim' | 'system'
  }
}
/** An identity has joined a group */
| {
  type: 'group.member.added'
  /** ISO 8601, UTC */
  timestamp: string
  data: {
    identityId: string
    groupId: string
    sequence: number
    key: string
    source: 'manual' | 'scim' | 'upstream'
    by: 'self' | 'operator' | 'scim' | 'system'
  }
}
/** An identity has left a group */
| {
  type: 'group.member.removed'
  /** ISO 8601, UTC */
  timestamp: string
  data: {
    identityId: string
    groupId: string
    sequence: number
    key: string
    source: 'manual' | 'scim' | 'upstream'
    by: 'self' | 'operator' | 'scim' | 'system'
  }
}
/** A manager of the app has sent a test event */
| {
  type: 'webhook.test'
  /** ISO 8601, UTC */
  timestamp: string
  data: {
    clientId: string
  }
}
