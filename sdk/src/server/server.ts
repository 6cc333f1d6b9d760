import { parseBaseUrl } from '../shared/error.ts'
import { type ConnectUrlOptions, connectUrl } from './connect-url.ts'
import {
  type OrganizationReceiptQuery,
  type ReceiptQuery,
  getLogKeys,
  getOrganizationReceipt,
  getReceipt,
} from './receipt.ts'
import { type Redemption, exchangeGrant } from './sign-in-exchange.ts'
import * as organization from './organization-request.ts'
import { createTokenExchange } from './resource-token.ts'
import * as signing from './signing-request.ts'
import type { TrustSettings } from '../trust/trust-settings.ts'
import { parseTrust } from '../trust/trust.ts'

export { CountersignError } from '../shared/error.ts'
export {
  verifyReceipt,
  type ReceiptVerificationInput,
  type LogKeys,
  type SignedReceipt,
  type Trusted,
  type ReceiptQuery,
} from './receipt.ts'
export { verifyOrganizationReceipt, type SignedOrganizationReceipt, type OrganizationReceiptQuery } from './receipt.ts'
export { verifySignature, type SignedText } from './signature.ts'
export type { ConnectUrlOptions } from './connect-url.ts'
export type {
  MemberSignature,
  NewOrganizationRequest,
  OrganizationOutcome,
  OrganizationRequest,
} from './organization-request.ts'
export type { SignInGrant } from './sign-in-exchange.ts'
export type { SignInTokens } from './sign-in-exchange.ts'
export type { DelegatedAccessToken, ResourceTokenOptions } from './resource-token.ts'
export type { NewSigningRequest, SigningOutcome, SigningRequest } from './signing-request.ts'
export type { WebhookEvent } from '../shared/webhook-types.ts'
export { createFileTrustStore } from '../trust/file-trust-store.ts'
export { createMemoryTrustStore, type TrustStore } from '../trust/trust-store.ts'
export type { AcceptKey, Approval, TrustedLog, TrustSettings, UnlinkedKey } from '../trust/trust-settings.ts'

export type Settings = {
  /** The API host, such as `https://api.id.example`. */
  baseUrl: string
  /** The issuer, whose pages users see, such as `https://id.example`. */
  authUrl: string
  clientId: string
  clientSecret: string
  /**
   * What the app verifies before it believes the service. Without it, requests for signatures warn once
   * (`COUNTERSIGN_NO_TRUST`), and the next major version throws.
   */
  trust?: TrustSettings | undefined
}

export type Countersign = ReturnType<typeof createCountersign>

/**
 * Server functions of one registered app: sign users in, request signatures, and act for users at the resources of
 * other apps.
 */
export function createCountersign({ baseUrl, authUrl, clientId, clientSecret, trust: trusted }: Settings) {
  if (!clientId || !clientSecret) throw new TypeError('clientId and clientSecret are required')
  const hosts = { baseUrl: parseBaseUrl('baseUrl', baseUrl), authUrl: parseBaseUrl('authUrl', authUrl) }
  const trust = trusted === undefined ? undefined : parseTrust(trusted, hosts.baseUrl)
  const app = { ...hosts, clientId, clientSecret, trust }
  const redeeming = { base: hosts.baseUrl, issuer: hosts.authUrl, clientId, clientSecret }
  return {
    /** The result of `signIn`, as the page sent it. */
    exchangeSignIn: (grant: unknown, options: Redemption = {}) => exchangeGrant(redeeming, grant, options),
    createSigningRequest: (requested: signing.NewSigningRequest) => signing.createSigningRequest(app, requested),
    waitForSignature: (request: signing.SigningRequest, options: signing.WaitOptions = {}) =>
      signing.waitForSignature(app, request, options),
    /**
     * The log keys, which verify receipts: fetch them once, and store them apart from receipts. With `trust` it is the
     * trusted key.
     */
    getLogKeys: () => getLogKeys(app),
    getReceipt: (requested: ReceiptQuery) => getReceipt(app, requested),
    createOrganizationRequest: (requested: organization.NewOrganizationRequest) =>
      organization.createOrganizationRequest(app, requested),
    waitForOrganizationSignature: (request: organization.OrganizationRequest, options: signing.WaitOptions = {}) =>
      organization.waitForOrganizationSignature(app, request, options),
    getOrganizationReceipt: (requested: OrganizationReceiptQuery) => getOrganizationReceipt(app, requested),
    connectUrl: (requested: ConnectUrlOptions) => connectUrl(app, requested),
    ...createTokenExchange(app),
  }
}
