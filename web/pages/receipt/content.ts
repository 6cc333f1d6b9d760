import { isObject } from '@countersign/protocol/formats/json'
import type { OrganizationReceipt, Receipt } from '@countersign/protocol/signing/receipts'

type Role = 'self' | 'sign' | 'approve'
export type SignedBy = { handle: string | undefined; identityId: string; role: Role; publicKey: string; at: string }

/** What a receipt says, of a user or of an organization alike. */
export type ReceiptContent = {
  requestId: string
  clientId: string
  /** Name and origins of the app, as the signers saw and signed them. */
  app: { name: string; origins: string[] } | undefined
  issuer: string | undefined
  organization: string | undefined
  signedBy: SignedBy[]
  resolvedAt: string
  payloadSha256: string
  log: string
}

/** Maps a receipt that was verified. Its approvals are canonical JSON of the known form then. */
export function contentOf(receipt: Receipt | OrganizationReceipt): ReceiptContent {
  const { requestId, clientId, resolvedAt, payloadSha256, checkpoint } = receipt
  const [log = ''] = checkpoint.split('\n')
  const shared = { requestId, clientId, resolvedAt, payloadSha256, log }
  if (receipt.version === 1) {
    const { handle, identityId, publicKey, approval } = receipt
    const signer: SignedBy = { handle, identityId, role: 'self', publicKey, at: resolvedAt }
    return { ...shared, ...shownIn(approval?.statement), organization: undefined, signedBy: [signer] }
  }
  const [first] = receipt.signatures
  return {
    ...shared,
    ...shownIn(first?.approval?.statement),
    organization: receipt.organization.name,
    signedBy: receipt.signatures.map(({ handle, identityId, role, publicKey, at }) => ({
      ...{ handle, identityId, role, publicKey, at },
    })),
  }
}

type Shown = Pick<ReceiptContent, 'app' | 'issuer'>

function shownIn(statement: string | undefined): Shown {
  if (statement === undefined) return { app: undefined, issuer: undefined }
  const stated: unknown = JSON.parse(statement)
  const { app, issuer } = isObject(stated) ? stated : {}
  return {
    app: isObject(app) ? { name: String(app['name']), origins: textsIn(app['origins']) } : undefined,
    issuer: typeof issuer === 'string' ? issuer : undefined,
  }
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : []
}
