import { verifyOrganizationReceipt as read } from '@countersign/protocol/signing/receipt-verification'
import { fetchReceipt, keySetOf, refusal, type KeptReceipt, type LogKeys, type Trusted } from './receipt.ts'
import { unexpected, type App } from './signing-request.ts'

/** Which receipt is wanted: what `waitForOrganization` answered says it. */
export type WantedOrganizationReceipt = Pick<KeptReceipt, 'payload'> & {
  requestId: string
  /** Which organization should have signed. A receipt of any other is none. */
  organizationId: string
  /** The keys of the log, where you have them. Otherwise the service is asked for them, too. */
  logKeys?: LogKeys | undefined
}

/** Which organization signed, by whom, for whom and when. */
export type SignedOrganizationReceipt = {
  requestId: string
  clientId: string
  organization: { id: string; name: string }
  approvalsNeeded: number
  payload: string
  signatures: {
    identityId: string
    memberId: string
    handle: string | undefined
    role: 'sign' | 'approve'
    signature: string
    publicKey: string
    keyVersion: number
    at: string
  }[]
  createdAt: string
  resolvedAt: string
}

/**
 * What the receipt of an organization says, where all of it holds together: the service has signed it, a member has
 * signed this text and as many others have approved it as it took, and the log of signing keys tells all their keys.
 * That they were members who might, the service says. Asks nobody, and believes no keys but `logKeys`. Throws
 * CountersignError with what is wrong.
 */
export function verifyOrganizationReceipt(
  { receipt, payload }: KeptReceipt,
  trusted: Trusted,
): SignedOrganizationReceipt {
  // Half a character has no bytes: texts that differ in such halves alone would be one.
  if (!payload.isWellFormed()) throw refusal('other_payload')
  const reading = read(receipt, { payload, keySet: keySetOf(trusted) })
  if ('flaw' in reading) throw refusal(reading.flaw)
  const { requestId, clientId, organization, approvalsNeeded, createdAt, resolvedAt } = reading.receipt
  const signatures = reading.receipt.signatures.map(({ identityId, memberId, handle, role, ...signed }) => {
    const { signature, publicKey, keyVersion, at } = signed
    return { identityId, memberId, handle, role, signature, publicKey, keyVersion, at }
  })
  return { requestId, clientId, organization, approvalsNeeded, payload, signatures, createdAt, resolvedAt }
}

/**
 * Asks for the receipt of a request to an organization, and answers it with its text: what to keep. Throws
 * CountersignError where the service refuses it, where it does not hold together, or where it is another one.
 */
export async function readOrganizationReceipt(
  app: Pick<App, 'baseUrl' | 'clientId'>,
  { organizationId, ...wanted }: WantedOrganizationReceipt,
): Promise<KeptReceipt> {
  const { kept, ...trusted } = await fetchReceipt(app, wanted)
  const { requestId, clientId, organization } = verifyOrganizationReceipt(kept, trusted)
  const isWanted = requestId === wanted.requestId && clientId === app.clientId && organization.id === organizationId
  if (!isWanted) throw unexpected('The receipt is another.')
  return kept
}
